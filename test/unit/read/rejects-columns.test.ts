import { describe, expect, test } from "vitest";
import { parseRowKey, rowKeyText } from "../../../src/read/rejects-columns.ts";

const DIGEST = "0123456789abcdef0123456789abcdef";

describe("tickets:row", () => {
  test.each([
    [{ digest: undefined, run: "7f3a01bc", seq: 12 }, "row@7f3a01bc:12"],
    [{ digest: DIGEST, run: "0", seq: 1_795_000_000_000_002 }, `${DIGEST}@0:1795000000000002`],
    [{ digest: `${DIGEST}#2`, run: "7f3a01bc", seq: 2 }, `${DIGEST}#2@7f3a01bc:2`],
    [{ digest: DIGEST, isUnclear: true, run: "7f3a01bc", seq: 2 }, `?${DIGEST}@7f3a01bc:2`],
  ])("of %j is %s, and says so again", (key, text) => {
    expect(rowKeyText(key)).toBe(text);
    expect(parseRowKey(` ${text} `)).toEqual(key);
  });

  test.each([undefined, 7, "", "@0:12", `${DIGEST}`, "row@0", "=row@0:12", "row@3:2"])("%j says nothing", (written) => {
    expect(parseRowKey(written)).toBeUndefined();
  });
});
