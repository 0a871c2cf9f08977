import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ACTION_NAMES } from "../../../src/actions/actions.ts";
import { ExactNumber } from "../../../src/actions/exact-number.ts";
import { validateItem } from "../../../src/actions/validate.ts";

describe("an item", () => {
  it.each([
    ["Action", "Did you mean action?"],
    ["DATA", "Did you mean data?"],
    ["eventID", "Move it into data, as eventId."],
    ["remark", "Leave it out."],
  ])("with the key %s is reported: %s", (key, hint) => {
    const problems = validateItem({ action: "scannedTicket", data: { ticketId: "T-1" }, [key]: "x" });
    expect(problems.map((problem) => problem.hint)).toContain(hint);
  });

  it("tells all that is wrong at once", () => {
    const data = { eventId: "", ticketid: "t", price: 5, orderTime: -1 };
    expect(validateItem({ action: "soldTicket", data }).map(({ rule, field }) => `${rule} ${field}`)).toEqual([
      "id-empty eventId",
      "field-unknown ticketid",
      "field-type price",
      "u64-invalid orderTime",
      "field-required ticketId",
      "sold-ticket-without-user userId",
    ]);
  });

  it.each([
    [{ action: "soldTikcet", data: {} }, "Did you mean soldTicket?"],
    [{ action: "refundTicket", data: {} }, `Actions are ${ACTION_NAMES.join(", ")}.`],
    [{ action: "sold ticket", data: {} }, "Did you mean soldTicket?"],
    [{ action: "scannedTicket", data: { ticketid: "t", nftId: "A-1-2" } }, "Did you mean ticketId?"],
    [{ action: "newEvent", data: { eventId: "e", currency: "USDD" } }, "Did you mean USD?"],
  ])("names what was probably meant in %j", (item, hint) => {
    expect(validateItem(item).map((problem) => problem.hint)).toContain(hint);
  });

  it.each([
    [new ExactNumber("1e400"), "1e400"],
    [new ExactNumber("1767225600.00000001"), "1767225600.00000001"],
    [new ExactNumber("18446744073709551616"), "18446744073709551616"],
    ["x", "x"],
    [{ a: new ExactNumber("1e400") }, '{"a":1e400}'],
  ])("shows the value of startTime as it was", (value, shown) => {
    const [problem] = validateItem({ action: "newEvent", data: { eventId: "e", currency: "EUR", startTime: value } });
    expect(problem?.value).toBe(shown);
  });

  it("survives what nests too deeply to be shown", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    const problems = validateItem({ action: "scannedTicket", data: { ticketId: "t", extra: deep } });
    expect(problems.map(({ rule }) => rule)).toEqual(["field-unknown"]);
  });

  it("never throws, whatever JSON it is", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ACTION_NAMES),
        fc.jsonValue(),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (action, any, data) => {
          expect(validateItem(any).length).toBeGreaterThan(0);
          expect(Array.isArray(validateItem({ action, data }))).toBe(true);
        },
      ),
    );
  });
});
