import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FIELD_NAMES, fieldSpec } from "../../../src/actions/fields.ts";
import { setAside } from "../../../src/disk/aside.ts";
import { type Engine, type EngineOptions, openEngine } from "../../../src/sandbox/engine.ts";
import { RELAXABLE_RULES, type RefusalCode } from "../../../src/sandbox/lifecycle.ts";
import { closeState } from "../../../src/sandbox/state.ts";

const NOW_MS = 1_768_600_000_500;

function newEngine(options: Partial<EngineOptions> = {}): Engine {
  const engine = openEngine({ path: ":memory:", now: () => NOW_MS, integratorName: "Tickets Ltd", ...options });
  onTestFinished(() => engine.close());
  return engine;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
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

describe("answers", () => {
  test("to refused items echo what can be echoed and give code, rule, field and message", () => {
    const engine = newEngine();
    expect(engine.process([sold(), newEvent({ currency: "EURO" }), 7])).toEqual([
      {
        status: "error",
        action: "soldTicket",
        eventId: "E1",
        ticketId: "T1",
        error: {
          code: "event_not_found",
          rule: "event-not-registered",
          field: "eventId",
          message: "No event with this eventId is registered.",
        },
      },
      {
        status: "error",
        action: "newEvent",
        eventId: "E1",
        error: {
          code: "invalid",
          rule: "currency-unknown",
          field: "currency",
          message: "currency is not a currency code of exactly 3 characters.",
        },
      },
      {
        status: "error",
        error: {
          code: "invalid",
          rule: "item-shape",
          message: "The item is a number, not an object with action and data.",
        },
      },
    ]);
  });

  /** The last item of each is refused by that code; the compiler asks for the words of a new one. */
  const REFUSALS: Readonly<Record<RefusalCode, readonly [items: readonly object[], error: object]>> = {
    invalid: [
      [newEvent(), sold(), on("resoldTicket", { userId: "ann", price: "1" })],
      {
        rule: "resold-to-holder",
        field: "userId",
        message: "userId is the user who holds the ticket already.",
      },
    ],
    event_exists: [
      [newEvent(), newEvent()],
      { rule: "event-registered-twice", field: "eventId", message: "The event is registered already." },
    ],
    event_not_found: [
      [sold()],
      { rule: "event-not-registered", field: "eventId", message: "No event with this eventId is registered." },
    ],
    ticket_exists: [
      [newEvent(), sold(), sold()],
      { rule: "ticket-sold-twice", field: "ticketId", message: "The ticket is registered already." },
    ],
    ticket_not_found: [[on("scannedTicket")], { field: "ticketId", message: "No such ticket is registered." }],
    ticket_invalidated: [
      [newEvent(), sold(), on("invalidatedTicket"), on("scannedTicket")],
      { rule: "after-final", message: "The ticket was invalidated." },
    ],
    ticket_checked_in: [
      [newEvent(), sold(), on("checkedInTicket"), on("scannedTicket")],
      { rule: "after-final", message: "The ticket was checked in." },
    ],
    ticket_claimed: [
      [newEvent(), sold(), on("claimedTicket", { userId: "ann" }), on("claimedTicket", { userId: "ann" })],
      { message: "The ticket was claimed already." },
    ],
    unknown: [[newEvent()], { message: "The sandbox was told to refuse this item." }],
  };

  test.each(Object.entries(REFUSALS))("say %s in these words", (code, [items, error]) => {
    const withhold = new Set(code === "unknown" ? [items.length - 1] : []);
    const results = newEngine().process(items, { withhold });
    expect(results.slice(0, -1).map(({ status }) => status)).toEqual(items.slice(1).map(() => "success"));
    expect(results.at(-1)).toMatchObject({ status: "error" });
    expect(results.at(-1)).toHaveProperty("error", { code, ...error });
  });
});

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
    for (const part of ["2", "Night", "https://shop.example.com", "Tickets Ltd", "Powered by"])
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

  test("cuts an event name so that the generated ticket name has at most 128 characters", () => {
    const engine = newEngine();
    engine.process([newEvent({ eventName: "🎫".repeat(255) }), sold()]);
    const name = String(engine.ticket({ ticketId: "T1" })?.fields.name);
    expect(Array.from(name)).toHaveLength(128);
    expect(name.endsWith("🎫-1")).toBe(true);
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
});

describe("updates", () => {
  test("take attributes as text or list, and put them over those of a template", () => {
    const engine = newEngine({ accept: ["metadata-template-id"] });
    const metadataTemplateId = "5B2C3D4E-0000-4000-8000-000000000001";
    engine.setTemplate(metadataTemplateId.toLowerCase(), [
      { trait_type: "Row", value: "template" },
      { trait_type: "Hall", value: 1 },
    ]);
    engine.process([
      newEvent(),
      sold({ metadataTemplateId, metadataAttributes: '[{"trait_type":"Row","value":"A"}]' }),
    ]);
    expect(engine.ticket({ ticketId: "T1" })?.fields.metadataAttributes).toEqual([
      { trait_type: "Hall", value: 1 },
      { trait_type: "Row", value: "A" },
    ]);
    engine.process([on("updateTicket", { metadataAttributes: [] })]);
    expect(engine.ticket({ ticketId: "T1" })?.fields.metadataAttributes).toEqual([
      { trait_type: "Row", value: "template" },
      { trait_type: "Hall", value: 1 },
    ]);
  });
});

describe("the life of a ticket", () => {
  const resold = (userId: string) => on("resoldTicket", { userId, price: "20" });
  const claimed = on("claimedTicket", { userId: "ann" });
  const [scanned, checkedIn, invalidated] = ["scannedTicket", "checkedInTicket", "invalidatedTicket"].map((name) =>
    on(name),
  );

  const cases: readonly (readonly [string, readonly unknown[], readonly string[]])[] = [
    ["an event twice", [newEvent()], ["event_exists event-registered-twice"]],
    [
      "an update of an unknown event",
      [{ action: "updateEvent", data: { eventId: "E9" } }],
      ["event_not_found event-not-registered"],
    ],
    ["a sale for an unknown event", [sold({ eventId: "E9" })], ["event_not_found event-not-registered"]],
    ["a ticket sold twice", [sold()], ["ticket_exists ticket-sold-twice"]],
    [
      "a ticket sold for another event",
      [newEvent({ eventId: "E2" }), sold({ eventId: "E2" })],
      ["success", "ticket_exists ticket-sold-twice"],
    ],
    ["an unknown ticket", [on("scannedTicket", { ticketId: "T9" })], ["ticket_not_found"]],
    ["an unknown nftId", [{ action: "scannedTicket", data: { nftId: "MATIC-1-1" } }], ["ticket_not_found"]],
    ["a resale to the buyer", [resold("ann")], ["invalid resold-to-holder"]],
    [
      "resales to and fro",
      [resold("bob"), resold("bob"), resold("ann")],
      ["success", "invalid resold-to-holder", "success"],
    ],
    [
      "a resale after a claim to the same user",
      [on("claimedTicket", { userId: "bob" }), resold("bob")],
      ["success", "success"],
    ],
    ["scans", [scanned, scanned, checkedIn], ["success", "success", "success"]],
    ["a second check-in", [checkedIn, checkedIn], ["success", "ticket_checked_in after-final"]],
    ["a scan after check-in", [checkedIn, scanned], ["success", "ticket_checked_in after-final"]],
    ["a claim after check-in", [checkedIn, claimed], ["success", "success"]],
    ["a second claim", [claimed, claimed], ["success", "ticket_claimed"]],
    [
      "anything after invalidation",
      [invalidated, claimed, invalidated, resold("bob")],
      ["success", ...Array(3).fill("ticket_invalidated after-final")],
    ],
  ];

  test.each(cases)("%s", (_name, items, expected) => {
    const engine = newEngine();
    engine.process([newEvent(), sold()]);
    expect(verdicts(engine, ...items)).toEqual(expected);
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

const ID = "5b2c3d4e-0000-4000-8000-000000000001";

describe("accept", () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ["sold-ticket-without-user", sold({ ticketId: "T2", userId: undefined })],
    ["update-ticket-name", on("updateTicket", { name: "Row A" })],
    ["update-ticket-description", on("updateTicket", { description: "Good" })],
    ["update-event-image-url", { action: "updateEvent", data: { eventId: "E1", imageUrl: "https://a.example/" } }],
    ["metadata-template-id", sold({ ticketId: "T2", metadataTemplateId: "5b2c3d4e-0000-4000-8000-000000000001" })],
    ["field-unknown", on("scannedTicket", { gate: "north" })],
    ["price-invalid", sold({ ticketId: "T2", price: "12,50" })],
    ["resold-to-holder", on("resoldTicket", { userId: "ann", price: "1" })],
  ];

  test.each(cases)("relaxes %s and nothing else", (rule, item) => {
    const strict = newEngine();
    strict.process([newEvent(), sold()]);
    expect(verdicts(strict, item)).toEqual([`invalid ${rule}`]);
    const lax = newEngine({ accept: [rule] });
    lax.process([newEvent(), sold()]);
    expect(verdicts(lax, item, sold({ ticketId: "" }))).toEqual(["success", "invalid id-empty"]);
  });

  const ticket = (engine: Engine) => engine.ticket({ ticketId: "T1" })?.fields;
  const event = (engine: Engine) => engine.event("E1")?.fields;

  test.each<[string, string, object, (engine: Engine) => unknown, object]>([
    [
      "updateEvent",
      "update-event-image-url",
      { imageUrl: "https://a.example/" },
      event,
      { imageUrl: "https://a.example/" },
    ],
    ["updateEvent", "field-unknown", { motto: { de: "Hallo" } }, event, { motto: { de: "Hallo" } }],
    ["updateEvent", "field-not-accepted", { userId: "ann", price: "1" }, event, { userId: "ann", price: "1" }],
    ["updateEvent", "url-invalid", { shopUrl: "shop" }, event, { shopUrl: "shop" }],
    ["updateEvent", "u64-invalid", { startTime: -1 }, event, { startTime: -1 }],
    ["updateEvent", "too-long", { eventName: "n".repeat(300) }, event, { eventName: "n".repeat(300) }],
    ["updateTicket", "update-ticket-name", { name: "Row A" }, ticket, { name: "Row A" }],
    ["updateTicket", "metadata-template-id", { metadataTemplateId: ID }, ticket, { metadataTemplateId: ID }],
    ["updateTicket", "field-not-accepted", { price: "7", userId: "bob" }, ticket, { price: "7", userId: "bob" }],
    ["updateTicket", "field-not-accepted", { eventName: "Gala" }, ticket, { eventName: "Gala" }],
    ["updateTicket", "field-unknown", { row: "", ["__proto__"]: 1 }, ticket, { row: "" }],
    ["scannedTicket", "field-unknown", { gate: "north" }, ticket, { gate: "north" }],
    ["checkedInTicket", "field-not-accepted", { price: "9" }, ticket, { price: "9" }],
    ["invalidatedTicket", "field-unknown", { why: ["refund"] }, ticket, { why: ["refund"] }],
    ["resoldTicket", "field-not-accepted", { userId: "bob", price: "1", name: "N" }, ticket, { name: "N" }],
    [
      "claimedTicket",
      "field-not-accepted",
      { userId: "bob", imageUrl: "https://i.example/" },
      ticket,
      { imageUrl: "https://i.example/" },
    ],
  ])("%s by %s is stored: %j", (action, rule, data, look, stored) => {
    const engine = newEngine({ accept: [rule] });
    const named = action === "updateEvent" ? { eventId: "E1" } : { ticketId: "T1" };
    expect(verdicts(engine, newEvent(), sold(), { action, data: { ...named, ...data } })).toEqual(
      Array(3).fill("success"),
    );
    expect(look(engine)).toMatchObject(stored);
  });

  test("every field that the table says can be relaxed is let in by its rule, and stored or left out", () => {
    const relaxable = FIELD_NAMES.flatMap((field) =>
      Object.entries(fieldSpec(field).relaxable ?? {}).map(([action, rule]) => ({ field, action, rule })),
    );
    expect(relaxable.map(({ rule }) => rule).toSorted()).toEqual(
      ["metadata-template-id", "sold-ticket-without-user"].concat([
        "update-event-image-url",
        "update-ticket-description",
        "update-ticket-name",
      ]),
    );
    for (const { rule } of relaxable) expect(RELAXABLE_RULES).toContain(rule);
  });

  test("what nothing could be found again by stays refused", () => {
    const engine = newEngine({ accept: ["text-not-unicode", "field-null"] });
    expect(verdicts(engine, newEvent(), sold({ ticketId: "T\ud800" }), sold({ name: "N\ud800" }))).toEqual([
      "success",
      "invalid text-not-unicode",
      "success",
    ]);
  });

  test("after-final lets a ticket live on", () => {
    const engine = newEngine({ accept: ["after-final"] });
    engine.process([newEvent(), sold()]);
    expect(verdicts(engine, on("invalidatedTicket"), on("checkedInTicket"), on("scannedTicket"))).toEqual(
      Array(3).fill("success"),
    );
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

describe("the record", () => {
  test("holds accepted and refused items with their request and place", () => {
    const engine = newEngine();
    engine.process([newEvent(), 7]);
    engine.process([sold(), sold()]);
    const record = Array.from(engine.processed(), ({ seq, request, item, action, status, code, rule }) =>
      [seq, request, item, action, status, code, rule].join(" "),
    );
    expect(record).toEqual([
      "1 1 0 newEvent success  ",
      "2 1 1  error invalid item-shape",
      "3 2 0 soldTicket success  ",
      "4 2 1 soldTicket error ticket_exists ticket-sold-twice",
    ]);
    expect(Array.from(engine.processed({ after: 3 }), ({ seq }) => seq)).toEqual([4]);
    expect(engine.counts()).toEqual({
      requests: 2,
      events: 1,
      tickets: 1,
      accepted: 2,
      refused: 2,
      byAction: {
        newEvent: { accepted: 1, refused: 0 },
        "": { accepted: 0, refused: 1 },
        soldTicket: { accepted: 1, refused: 1 },
      },
    });
  });

  test("of many actions is read page by page while others are written", () => {
    const engine = newEngine();
    engine.process([newEvent()]);
    engine.process(Array.from({ length: 2500 }, (_, at) => sold({ ticketId: `T${at}` })));
    let seen = 0;
    for (const { seq } of engine.processed()) {
      if (seq === 1) engine.process([on("scannedTicket", { ticketId: "T0" })]);
      seen += 1;
    }
    expect(seen).toBe(2502);
  });

  test("leaves out what was withheld, whatever it says", () => {
    const engine = newEngine();
    const results = engine.process([newEvent(), sold()], { withhold: new Set([1]) });
    expect(results[1]).toMatchObject({ status: "error", ticketId: "T1", error: { code: "unknown" } });
    expect(engine.ticket({ ticketId: "T1" })).toBeUndefined();
  });
});

describe("state on disk", () => {
  test("is kept between openings, with its instance, readable by its owner only", () => {
    const path = join(temporaryFolder(), "deep", "sandbox.sqlite");
    const first = newEngine({ path });
    first.process([newEvent(), sold()]);
    const { instanceId } = first;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    first.close();
    const second = newEngine({ path });
    expect(second.instanceId).toBe(instanceId);
    expect(verdicts(second, sold(), on("scannedTicket"))).toEqual(["ticket_exists ticket-sold-twice", "success"]);
    expect(Array.from(second.processed(), ({ request }) => request)).toEqual([1, 1, 2, 2]);
  });

  test("may be open in two places at once", () => {
    const path = join(temporaryFolder(), "sandbox.sqlite");
    const [first, second] = [newEngine({ path }), newEngine({ path })];
    first.process([newEvent()]);
    expect(verdicts(second, sold())).toEqual(["success"]);
    expect(verdicts(first, sold(), sold({ ticketId: "T2" }))).toEqual(["ticket_exists ticket-sold-twice", "success"]);
    expect(first.ticket({ ticketId: "T2" })?.nftId).toBe("SANDBOX-1-2");
  });

  test("is set aside, not deleted, and a new instance starts", () => {
    const folder = temporaryFolder();
    const path = join(folder, "sandbox.sqlite");
    expect(closeState(path)).toBe(false);
    const old = newEngine({ path });
    old.process([newEvent()]);
    expect(() => closeState(path)).toThrow(expect.objectContaining({ code: "busy" }));
    old.close();
    expect(closeState(path)).toBe(true);
    expect(readdirSync(folder)).toEqual(["sandbox.sqlite"]);
    const aside = setAside(path);
    const fresh = newEngine({ path });
    expect(fresh.instanceId).not.toBe(old.instanceId);
    expect(fresh.event("E1")).toBeUndefined();
    expect(newEngine({ path: aside }).event("E1")).toBeDefined();
  });

  test("that is damaged or another's is refused, and can be set aside", () => {
    const folder = temporaryFolder();
    const damaged = join(folder, "damaged.sqlite");
    writeFileSync(damaged, "not a database at all, but long enough to be looked at".repeat(100));
    expect(() => newEngine({ path: damaged })).toThrow(expect.objectContaining({ code: "storage" }));
    expect(closeState(damaged)).toBe(true);
    expect(readFileSync(setAside(damaged), "utf8")).toContain("not a database");
    expect(newEngine({ path: damaged }).counts().events).toBe(0);
  });
});
