import { expect, it } from "vitest";
import { ACTION_NAMES, actionSpec } from "../../../../src/actions/actions.ts";
import { findOrigin, RECORD_BYTES, readOrigin, recordOf } from "../../../../src/plan/files/index-file.ts";

const ORIGIN = { input: 1, line: 70_000, row: 69_999, untimed: false, keyed: false, further: false, nth: 0 } as const;

it.each(ACTION_NAMES)("writes the code of %s, whatever its marks, and reads it again", (action) => {
  for (const marks of [{}, { untimed: true }, { keyed: true }, { untimed: true, keyed: true, further: true, nth: 3 }]) {
    const origin = { ...ORIGIN, action, ...marks };
    const record = recordOf(origin, "0".repeat(64), "0".repeat(64));
    expect(record[12]).toBe(actionSpec(action).code);
    expect(readOrigin(record, 0)).toEqual(origin);
  }
});

it("reads a record as unfinished plans have it on disk", () => {
  const record = Buffer.alloc(RECORD_BYTES);
  Buffer.from("00000000030000000200000005210000", "hex").copy(record);
  expect(readOrigin(record, 0)).toEqual({
    input: 0,
    line: 3,
    row: 2,
    action: "scannedTicket",
    untimed: true,
    keyed: false,
    further: false,
    nth: 2,
  });
});

it("knows no action by a code that none has", () => {
  const record = Buffer.alloc(RECORD_BYTES);
  record[12] = 255;
  expect(findOrigin(record, 0)).toBeUndefined();
});
