import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FIELD_NAMES, fieldSpec } from "../../../src/actions/fields.ts";
import { setAside } from "../../../src/disk/files.ts";
import { type Engine, type EngineOptions, openEngine } from "../../../src/sandbox/engine.ts";
import { RELAXABLE_RULES } from "../../../src/sandbox/lifecycle.ts";
import { closeState } from "../../../src/sandbox/state.ts";
import { openFolder } from "../../support/folder.ts";

const NOW_MS = 1_768_600_000_500;

function newEngine(options: Partial<EngineOptions> = {}): Engine {
  const engine = openEngine({ path: ":memory:", now: () => NOW_MS, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

const newEvent = (data: object = {}) => ({
  action: "newEvent",
  data: { eventId: "E1", currency: "EUR", eventName: "Night", shopUrl: "https://shop.example.com", ...data },
});
const sold = (data: object = {}) => ({
  action: "soldTicket",
  data: { eventId: "E1", ticketId: "T1", userId: "ann", price: "12.50", ...data },
});
const on = (action: string, data: object = {}) => ({ action, data: { ticketId: "T1", ...data } });

/** Status, or the code and rule of the refusal, of each item. */
function verdicts(engine: Engine, ...items: readonly unknown[]): readonly string[] {
  return engine
    .process(items)
    .map((result) =>
      result.status === "success" ? "success" : [result.error.code, result.error.rule].filter(Boolean).join(" "),
    );
}

describe("what is registered", () => {
  test("takes the table's defaults, and generated ones for name, description, orderTime and wallet", () => {
    const engine = newEngine();
    engine.process([newEvent(), sold(), sold({ ticketId: "T2" })]);
    const ticket = engine.ticket({ ticketId: "T2" });
    expect(ticket).toMatchObject({ nftId: "SANDBOX-1-2", eventId: "E1", state: "valid", claimed: false, scans: 0 });
    expect(ticket?.fields).toMatchObject({
      name: "Night-2",
      orderTime: 1_768_600_000,
      to: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      imageUrl: "",
      mediaUrl: "",
    });
    expect(ticket?.fields.to).not.toBe(engine.ticket({ ticketId: "T1" })?.fields.to);
    const description = String(ticket?.fields.description);
    for (const part of ["2", "Night", "https://shop.example.com", "Issued by", "Powered by"])
      expect(description).toContain(part);
    expect(engine.event("E1")?.fields).toMatchObject({ latitude: 0, longitude: 0, startTime: 0, coverImageUrl: "" });
  });

  test("goes on-chain as the field table says, ticketId as its SHA-256 hash", () => {
    const engine = newEngine();
    engine.process([newEvent({ callbackUrl: "https://a.example/" }), sold({ ticketId: "Zoë-1" })]);
    const ticket = engine.ticket({ ticketId: "Zoë-1" });
    expect(ticket?.onChain).toMatchObject({
      ticketId: createHash("sha256").update("Zoë-1").digest("hex"),
      price: "12.50",
      name: "Night-1",
    });
    for (const field of ["userId", "imageUrl", "eventId", "nftId"]) expect(ticket?.onChain).not.toHaveProperty(field);
    expect(engine.event("E1")?.onChain).toMatchObject({ currency: "EUR", eventName: "Night" });
    for (const field of ["callbackUrl", "coverMediaUrl", "eventId"])
      expect(engine.event("E1")?.onChain).not.toHaveProperty(field);
  });

  test("numbers tokens per event without gaps, also after refusals", () => {
    const engine = newEngine();
    engine.process([newEvent(), newEvent({ eventId: "E2" }), sold(), sold(), sold({ eventId: "E2", ticketId: "T2" })]);
    engine.process([sold({ ticketId: "T3" })]);
    const ids = ["T1", "T2", "T3"].map((ticketId) => engine.ticket({ ticketId })?.nftId);
    expect(ids).toEqual(["SANDBOX-1-1", "SANDBOX-2-1", "SANDBOX-1-2"]);
    expect(engine.ticket({ nftId: "SANDBOX-1-2" })?.ticketId).toBe("T3");
    expect(engine.ticket({ nftId: "SANDBOX-1-02" })).toBeUndefined();
  });

  test("has attributes, sent as text or list, over those of its template", () => {
    const engine = newEngine({ accept: ["metadata-template-id"] });
    const metadataTemplateId = "5B2C3D4E-0000-4000-8000-000000000001";
    const [row, hall] = [
      { trait_type: "Row", value: "template" },
      { trait_type: "Hall", value: 1 },
    ];
    const own = { trait_type: "Row", value: "A" };
    const attributes = () => engine.ticket({ ticketId: "T1" })?.fields.metadataAttributes;
    engine.setTemplate(metadataTemplateId.toLowerCase(), [row, hall]);
    engine.process([newEvent(), sold({ metadataTemplateId, metadataAttributes: JSON.stringify([own]) })]);
    expect(attributes()).toEqual([hall, own]);
    engine.process([on("updateTicket", { metadataAttributes: [] })]);
    expect(attributes()).toEqual([row, hall]);
  });
});

describe("the life of a ticket", () => {
  const resold = (userId: string) => on("resoldTicket", { userId, price: "20" });
  const STEPS: Readonly<Record<string, object>> = {
    "E9 changes": { action: "updateEvent", data: { eventId: "E9" } },
    "E2 begins": newEvent({ eventId: "E2" }),
    "sold for E2": sold({ eventId: "E2" }),
    "scan of a strange nftId": { action: "scannedTicket", data: { nftId: "MATIC-1-1" } },
    "to ann": resold("ann"),
    "to bob": resold("bob"),
    scan: on("scannedTicket"),
    in: on("checkedInTicket"),
    claim: on("claimedTicket", { userId: "bob" }),
    invalid: on("invalidatedTicket"),
  };

  test.each([
    ["E9 changes", "event_not_found event-not-registered"],
    ["E2 begins, sold for E2", "success, ticket_exists ticket-sold-twice"],
    ["scan of a strange nftId", "ticket_not_found"],
    ["to bob, to bob, to ann", "success, invalid resold-to-holder, success"],
    ["claim, to bob", "success, success"],
    ["scan, scan, in", "success, success, success"],
    ["in, in", "success, ticket_checked_in after-final"],
    ["in, claim", "success, success"],
    ["invalid, claim, invalid, to bob", `success${", ticket_invalidated after-final".repeat(3)}`],
  ])("sold to ann, %s: %s", (steps, expected) => {
    const engine = newEngine();
    engine.process([newEvent(), sold()]);
    expect(verdicts(engine, ...steps.split(", ").map((step) => STEPS[step])).join(", ")).toBe(expected);
  });

  test("a refused action changes nothing", () => {
    const engine = newEngine();
    engine.process([newEvent(), sold()]);
    const before = engine.ticket({ ticketId: "T1" });
    engine.process([sold({ price: "99" }), resold("ann"), newEvent({ eventName: "Other" })]);
    expect(engine.ticket({ ticketId: "T1" })).toEqual(before);
    expect(engine.event("E1")?.fields.eventName).toBe("Night");
  });
});

describe("accept", () => {
  const TEMPLATE = { metadataTemplateId: "5b2c3d4e-0000-4000-8000-000000000001" };
  const sale = (data: object) => ["soldTicket", { eventId: "E1", ticketId: "T1", userId: "ann", price: "1", ...data }];
  const LET_IN = [
    ["sold-ticket-without-user", ...sale({ userId: undefined, mediaUrl: "https://a.example/" }), ["mediaUrl"]],
    ["price-invalid", ...sale({ price: "12,50" }), ["price"]],
    ["metadata-template-id", ...sale(TEMPLATE), ["metadataTemplateId"]],
    ["update-event-image-url", "updateEvent", { imageUrl: "https://a.example/" }],
    ["field-unknown", "updateEvent", { motto: { de: "Hallo" } }],
    ["url-invalid", "updateEvent", { shopUrl: "shop" }],
    ["u64-invalid", "updateEvent", { startTime: -1 }],
    ["too-long", "updateEvent", { eventName: "n".repeat(300) }],
    ["update-ticket-name", "updateTicket", { name: "Row A" }],
    ["update-ticket-description", "updateTicket", { description: "Good" }],
    ["metadata-template-id", "updateTicket", TEMPLATE],
    ["field-not-accepted", "updateTicket", { price: "7", userId: "bob", eventName: "Gala" }],
    ["field-unknown", "updateTicket", { row: "", ["__proto__"]: 1 }, ["row"]],
    ["resold-to-holder", "resoldTicket", { userId: "ann", price: "2" }],
    ["field-not-accepted", "claimedTicket", { userId: "bob", imageUrl: "https://i.example/" }, ["imageUrl"]],
  ] as readonly [rule: string, action: string, data: Record<string, unknown>, stored?: string[]][]; // as written here

  test.each(LET_IN)(
    "relaxes %s of %s and nothing else, and stores what it lets in: %j",
    (rule, action, data, stored) => {
      const named = action === "updateEvent" ? { eventId: "E1" } : { ticketId: "T1" };
      const item = { action, data: { ...named, ...data } };
      const before = action === "soldTicket" ? [newEvent()] : [newEvent(), sold()];
      const [strict, lax] = [newEngine(), newEngine({ accept: [rule] })];
      for (const engine of [strict, lax]) engine.process(before);
      expect(verdicts(strict, item)).toEqual([`invalid ${rule}`]);
      expect(verdicts(lax, item, sold({ ticketId: "" }))).toEqual(["success", "invalid id-empty"]);
      const fields = action === "updateEvent" ? lax.event("E1")?.fields : lax.ticket({ ticketId: "T1" })?.fields;
      for (const name of stored ?? Object.keys(data)) expect(fields?.[name], name).toEqual(data[name]);
    },
  );

  test("has a rule for every field that the table says can be relaxed", () => {
    const rules = FIELD_NAMES.flatMap((field) => Object.values(fieldSpec(field).relaxable ?? {}));
    expect(rules.length).toBeGreaterThan(4);
    expect(RELAXABLE_RULES).toEqual(expect.arrayContaining(rules));
    expect(LET_IN.map(([rule]) => rule)).toEqual(expect.arrayContaining(rules));
  });

  test("what nothing could be found again by stays refused", () => {
    const engine = newEngine({ accept: ["text-not-unicode", "field-null"] });
    expect(verdicts(engine, newEvent(), sold({ ticketId: "T\ud800" }), sold({ name: "N\ud800" }))).toEqual([
      "success",
      "invalid text-not-unicode",
      "success",
    ]);
  });

  test.each(["field-required", "ticket-sold-twice", "price-invalit"])("can't relax %s", (rule) => {
    expect(() => newEngine({ accept: [rule] })).toThrow(expect.objectContaining({ code: "usage" }));
  });
});

describe("status of a promise", () => {
  test("goes from waiting to confirmed with its age, and can be set", () => {
    let now = NOW_MS;
    const engine = newEngine({ now: () => now });
    const [result] = engine.process([newEvent()]);
    const actionPromise = result?.status === "success" ? result.actionPromise : "";
    const seen = [0, 999, 1000, 4999, 5000].map((age) => {
      now = NOW_MS + age;
      return engine.status(actionPromise)?.status;
    });
    expect(seen).toEqual(["waiting_broadcast", "waiting_broadcast", "pending", "pending", "confirmed"]);
    expect(engine.setStatus(actionPromise, "wont_broadcast")).toBe(true);
    expect(engine.status(actionPromise)).toEqual({
      actionPromise,
      action: "newEvent",
      eventId: "E1",
      status: "wont_broadcast",
    });
    expect(engine.status("nobody's")).toBeUndefined();
    expect(engine.setStatus("nobody's", "error")).toBe(false);
  });

  test("is no_broadcast_required for an update of nothing that goes on-chain", () => {
    const engine = newEngine();
    engine.process([newEvent(), sold()]);
    const updates = [{ imageUrl: "https://a.example/" }, { imageUrl: null }, { metadataAttributes: [] }];
    const statuses = engine
      .process(updates.map((data) => on("updateTicket", data)))
      .map((result) => result.status === "success" && engine.status(result.actionPromise)?.status);
    expect(statuses).toEqual(["no_broadcast_required", "no_broadcast_required", "waiting_broadcast"]);
  });
});

describe("state on disk", () => {
  test("that is damaged or another's is refused, and can be set aside", () => {
    const folder = openFolder();
    const damaged = join(folder, "damaged.sqlite");
    writeFileSync(damaged, "not a database at all, but long enough to be looked at".repeat(100));
    expect(() => newEngine({ path: damaged })).toThrow(expect.objectContaining({ code: "storage" }));
    expect(closeState(damaged)).toBe(true);
    expect(readFileSync(setAside(damaged), "utf8")).toContain("not a database");
    expect(newEngine({ path: damaged }).counts().events).toBe(0);
  });
});
