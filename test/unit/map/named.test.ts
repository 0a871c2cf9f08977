import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/failure.ts";
import type { MapperOptions } from "../../../src/map/create-mapper.ts";
import { cells } from "./rows.ts";
import { createMapper } from "./shown.ts";

const SALES = ["eventId", "ticketId", "userId", "price", "orderTime"];

function failureOf(options: MapperOptions): Failure {
  try {
    createMapper(options);
  } catch (failure) {
    if (failure instanceof Failure) return failure;
    throw failure;
  }
  throw new Error("did not fail");
}

describe("columns named like fields", () => {
  test("are found ignoring case, blanks, _ and -", () => {
    const mapper = createMapper({
      fileName: "sales.csv",
      header: ["Event ID", "TICKET_ID", "user-id", " Price ", "Order Time", "Comment"],
    });
    expect(mapper.map(cells(" e1 ", "007", "u1", "12.50", "1756710902", "x"))).toEqual({
      kind: "actions",
      eventId: "e1",
      actions: [
        {
          action: "soldTicket",
          data: { eventId: "e1", ticketId: "007", userId: "u1", price: "12.50", orderTime: 1756710902 },
        },
      ],
    });
    expect(mapper.understanding).toEqual({
      how: "file name",
      action: "soldTicket",
      columns: 6,
      used: ["Event ID", "TICKET_ID", "user-id", " Price ", "Order Time"],
      unused: ["Comment"],
      publicFields: ["ticketId (hashed)", "price", "orderTime"],
      notes: [],
    });
  });

  test("do not include name, description and to unless exactly so called", () => {
    const mapper = createMapper({ fileName: "sales.csv", header: [...SALES, "Name", "description", "to"] });
    const mapped = mapper.map(cells("e", "t", "u", "1", "", "secret", "text", "0x1"));
    expect(mapped).toMatchObject({ actions: [{ data: { description: "text", to: "0x1" } }] });
    expect(JSON.stringify(mapped)).not.toContain("secret");
    expect(mapper.understanding.notes).toEqual([
      '"Name" is not used: what name holds becomes public, so its column must be called name',
    ]);
  });

  test("do not include name, description and to without the id of a ticket", () => {
    const { understanding } = createMapper({
      fileName: "all.csv",
      header: ["action", "eventId", "currency", "name", "to"],
    });
    expect(understanding.used).toEqual(["action", "eventId", "currency"]);
    expect(understanding.notes).toHaveLength(2);
    const beside = createMapper({ fileName: "claims.csv", header: ["nftId", "to"] });
    expect(beside.understanding.used).toEqual(["nftId", "to"]);
  });

  test("of fields that the action does not take are reported, not sent", () => {
    const mapper = createMapper({ fileName: "scans.csv", header: ["eventId", "ticketId", "orderTime"] });
    expect(mapper.map(cells("e", "t", "5"))).toEqual({
      kind: "actions",
      eventId: "e",
      actions: [{ action: "scannedTicket", data: { ticketId: "t", orderTime: 5 } }],
    });
    expect(mapper.understanding.unused).toEqual(["eventId"]);
    expect(mapper.understanding.notes).toEqual(['"eventId" is not used: scannedTicket takes no eventId']);
  });

  test("whose refusal is relaxed by a rule are used", () => {
    const options = { fileName: "updates.csv", header: ["ticketId", "name", "metadataTemplateId"] };
    expect(createMapper(options).understanding.used).toEqual(["ticketId"]);
    const relaxedRules = new Set(["update-ticket-name", "metadata-template-id"]);
    expect(createMapper({ ...options, relaxedRules }).understanding.used).toEqual(options.header);
  });

  test("that are missing stop the file, with what is near", () => {
    const failure = failureOf({ fileName: "sales.csv", header: ["eventId", "tiketId", "userId"] });
    expect(failure.code).toBe("usage");
    expect(failure.message).toBe("sales.csv has no column for ticketId, price, which soldTicket needs.");
    expect(failure.hint).toContain('"tiketId" is near ticketId');
    expect(failureOf({ fileName: "claims.csv", header: ["ticketId"] }).message).toContain("to or userId");
    expect(failureOf({ fileName: "scans.csv", header: ["time"] }).message).toContain("ticketId or nftId");
  });

  test("may lack a sale's userId, which is a rule of its own", () => {
    const { understanding } = createMapper({ fileName: "sales.csv", header: ["eventId", "ticketId", "price"] });
    expect(understanding.notes).toEqual(["no column userId, which the service's table requires for soldTicket"]);
  });
});

describe("the action of a row", () => {
  test.each([
    ["events.csv", "newEvent", ["eventId", "currency"]],
    ["SALES-2026.CSV", "soldTicket", SALES],
    ["sales.rejects.csv", "soldTicket", SALES],
    ["refunds.csv", "invalidatedTicket", ["nftId"]],
  ])("comes from the file name %s: %s", (fileName, action, header) => {
    expect(createMapper({ fileName, header }).understanding).toMatchObject({ how: "file name", action });
  });

  test("that is none of the nine is a problem with the nearest, and the row holds back its ticket", () => {
    const mapper = createMapper({ fileName: "x.csv", header: ["action", "ticketId"] });
    expect(mapper.map(cells("scanedTicket", "t"))).toMatchObject({
      kind: "invalid",
      problems: [{ rule: "action-unknown", value: "scanedTicket", hint: expect.stringContaining("scannedTicket") }],
      attempted: [{ data: { ticketId: "t" } }],
      isGuess: true,
    });
    expect(mapper.map(cells("", "t"))).toMatchObject({ kind: "invalid", problems: [{ rule: "action-unknown" }] });
  });

  test("that contradicts --action is a problem; a row that names none takes --action's", () => {
    const mapper = createMapper({ fileName: "x.csv", action: "scannedTicket", header: ["action", "ticketId"] });
    expect(mapper.map(cells("", "t"))).toMatchObject({ actions: [{ action: "scannedTicket" }] });
    expect(mapper.map(cells("entry", "t"))).toMatchObject({ actions: [{ action: "scannedTicket" }] });
    expect(mapper.map(cells("scannedTicket", "t"))).toMatchObject({ actions: [{ action: "scannedTicket" }] });
    expect(mapper.map(cells("soldTicket", "t"))).toMatchObject({ problems: [{ rule: "action-conflict" }] });
  });
});

test("a header without a field in it stops the file", () => {
  expect(failureOf({ fileName: "export.csv", header: ["action", "x"] })).toMatchObject({
    code: "usage",
    message: "export.csv has no column named like a field.",
  });
});

describe("rows", () => {
  test("that are empty are skipped", () => {
    const mapper = createMapper({ fileName: "scans.csv", header: ["ticketId", "x"] });
    expect(mapper.map(cells("", " "))).toEqual({ kind: "skipped", reason: "empty row" });
    expect(mapper.map(cells("", "y"))).toMatchObject({ kind: "actions" });
    const byColumn = createMapper({ fileName: "x.csv", header: ["action", "ticketId"] });
    expect(byColumn.map(cells("", ""))).toEqual({ kind: "skipped", reason: "empty row" });
  });
});
