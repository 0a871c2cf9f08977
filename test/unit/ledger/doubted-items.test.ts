import { expect, test } from "vitest";
import { keepDoubtedItems } from "../../../src/ledger/attempts.ts";
import { promisesGiven } from "../../../src/ledger/outcomes.ts";
import { doubtsWithPromise } from "../../../src/ledger/sent-about.ts";
import { describeBothLedgers } from "../../support/both-ledgers.ts";

const PROMISE = "11111111-2222-4333-8444-555555555555";
const item = (rest: string): string => `{"status":"queued up","actionPromise":"${PROMISE}"${rest}}`;

describeBothLedgers("the promise of an item in doubt is known", ({ newPlace }) => {
  test.each([
    ["that nests deeper than a database reads", item(`,"x":${"[".repeat(1500)}${"]".repeat(1500)}`)],
    ["that holds half a character", item(String.raw`,"message":"half of \ud83d"`)],
    ["that holds a number beyond all", item(',"n":1e999999')],
    ["that holds a NUL", item(String.raw`,"message":"\u0000"`)],
  ])("%s", async (_, response) => {
    using place = await newPlace();
    using ledger = place.open();
    const none = ['{"status":"queued up"}', '{"actionPromise":5}', '{"x":{"actionPromise":"other"}}', '"text"'];
    ledger.transaction(() =>
      keepDoubtedItems(
        ledger,
        7,
        [...none, response].map((each, at) => ({ seq: at + 1, response: each })),
      ),
    );
    expect([...promisesGiven(ledger, 7)]).toEqual([PROMISE]);
    expect(doubtsWithPromise(ledger, PROMISE)).toEqual([{ runNo: 7, seq: none.length + 1 }]);
    expect(doubtsWithPromise(ledger, "other")).toEqual([]);
  });
});
