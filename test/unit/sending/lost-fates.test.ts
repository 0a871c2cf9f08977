import { expect, test } from "vitest";
import { fateOfLost, type LostAction, type LostRunFacts, WHY_LOST } from "../../../src/sending/lost-fates.ts";
import type { PromisedElsewhere } from "../../../src/sending/sent-elsewhere.ts";

const once: PromisedElsewhere = { run: "later", isOnce: true, isSame: false };
const same: PromisedElsewhere = { run: "later", isOnce: false, isSame: true };
const other: PromisedElsewhere = { run: "later", isOnce: false, isSame: false };
const decided: Partial<LostRunFacts> = { isDecided: true };
const rejected: Partial<LostRunFacts> = { isDecided: true, wereRejected: true };
const wholeRead: Partial<LostRunFacts> = { isWholeRead: true };
const doubt: Partial<LostAction> = { chunk: { state: "in doubt", detail: "no answer came" } };
const refused: Partial<LostAction> = { chunk: { state: "refused", detail: "HTTP 400" } };
const ELSEWHERE = `${WHY_LOST}; run later has since received a promise for the same action, or for one that can't be told from it`;

test.each<[string, Partial<LostAction>, Partial<LostRunFacts>, string, string?]>([
  ["is still to be sent by the list", { isPlanned: true }, {}, "planned"],
  ["is still to be sent, though the ledger has it in doubt", { ...doubt, isPlanned: true }, decided, "planned"],
  ["was closed unsent", { isUnsent: true }, {}, "abandoned", "not-sent"],
  ["was closed unsent, beside rejected ones", { isUnsent: true }, rejected, "abandoned", "not-sent"],
  ["was closed unsent, and sent by another run", { isUnsent: true, promised: once }, {}, "abandoned", "not-sent"],
  ["was not taken: nothing was in doubt", {}, decided, "abandoned", "not-sent"],
  ["was refused then, and nothing was in doubt later", refused, decided, "abandoned", "not-sent"],
  ["was rejected, as all that is untold", {}, rejected, "abandoned", "rejected"],
  ["happens once and is promised elsewhere", { promised: once }, {}, "abandoned", "sent-elsewhere"],
  ["is promised elsewhere, and all promises are known", { promised: same }, wholeRead, "abandoned", "sent-elsewhere"],
  ["may be promised elsewhere", { promised: same }, {}, "in doubt", ELSEWHERE],
  ["is perhaps another deed than the promised one", { promised: other }, wholeRead, "in doubt", ELSEWHERE],
  ["is in doubt, and may be promised elsewhere", { ...doubt, promised: same }, {}, "in doubt", ELSEWHERE],
  ["was planned when the copy was made", {}, {}, "in doubt", WHY_LOST],
  ["was in doubt before", doubt, {}, "in doubt", "no answer came"],
  ["was refused before", refused, {}, "refused", "HTTP 400"],
])("what %s", (_, action, run, state, said) => {
  const fate = fateOfLost(
    {
      chunk: { state: "planned", detail: undefined },
      isPlanned: false,
      isUnsent: false,
      promised: undefined,
      ...action,
    },
    { isDecided: false, isWholeRead: false, wereRejected: false, ...run },
  );
  expect([fate.state, "item" in fate ? fate.item.status : fate.detail]).toEqual([state, said]);
});
