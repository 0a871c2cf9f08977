import { describe, expect, test } from "vitest";
import { parseRowKey, rowKeyText } from "../../../src/mapping/rejects-columns.ts";

const DIGEST = "0123456789abcdef0123456789abcdef";

describe("tickets:row", () => {
  test.each([
    [{ digest: undefined, run: 3, seq: 12 }, "row@3:12"],
    [{ digest: DIGEST, run: 1, seq: 1_000_000_000_002 }, `${DIGEST}@1:1000000000002`],
    [{ digest: `${DIGEST}#2`, run: 1, seq: 2 }, `${DIGEST}#2@1:2`],
    [{ digest: DIGEST, isUnclear: true, run: 1, seq: 2 }, `?${DIGEST}@1:2`],
  ])("of %j is %s, and says so again", (key, text) => {
    expect(rowKeyText(key)).toBe(text);
    expect(parseRowKey(` ${text} `)).toEqual(key);
  });

  test.each([undefined, 7, "", "@3:12", `${DIGEST}`, "row@3", "=row@3:12", "row@-1:2"])(
    "%j says nothing",
    (written) => {
      expect(parseRowKey(written)).toBeUndefined();
    },
  );
});
