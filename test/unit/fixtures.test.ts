import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { BAD_FILES } from "../../scripts/bad-fixtures.ts";
import { generateFixtures, generateTwins } from "../../scripts/fixtures.ts";
import { ACTION_NAMES, type ActionName, actionSpec } from "../../src/actions/actions.ts";
import { currencyDigits } from "../../src/actions/currencies.ts";
import { isFieldName } from "../../src/actions/fields.ts";
import { parseJson } from "../../src/actions/json.ts";
import { ACTION_RULES } from "../../src/actions/rules.ts";
import { validateItem } from "../../src/actions/validate.ts";
import { CHECK_RULES } from "../../src/check/rules.ts";
import { MAPPING_RULES } from "../../src/map/rules.ts";
import { PLAN_RULES } from "../../src/plan/rules.ts";
import { READER_RULES } from "../../src/read/rules.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const generated = generateFixtures();
const twins = generateTwins();

/** The rules that a file can break by itself; most of the mapping's need a source in the config. */
const RULES_OF_FILES = { ...READER_RULES, ...ACTION_RULES, ...CHECK_RULES, ...PLAN_RULES };
const RULES = { ...RULES_OF_FILES, ...MAPPING_RULES };

/** In the order in which a service takes them. */
const SEASON = {
  events: "newEvent",
  "event-updates": "updateEvent",
  sales: "soldTicket",
  updates: "updateTicket",
  resales: "resoldTicket",
  scans: "scannedTicket",
  checkins: "checkedInTicket",
  claims: "claimedTicket",
  invalidations: "invalidatedTicket",
} as const satisfies Record<string, ActionName>;

type Json = Readonly<Record<string, unknown>>;
interface TestAction {
  readonly action: string;
  readonly data: Json;
}

function text(path: string): string {
  return readFileSync(join(FIXTURES, path), "utf8");
}

function json<T>(path: string): T {
  return parseJson(text(path)) as T; // a file of this repository; the tests below say what is in it
}

function ndjson<T>(name: string): readonly T[] {
  return (twins.get(name) ?? "")
    .trimEnd()
    .split("\n")
    .map((line) => parseJson(line) as T); // likewise
}

function csv(path: string): readonly Readonly<Record<string, string>>[] {
  return parse(text(path), { columns: true });
}

/** The row of an NDJSON file as the action that it stands for, read in the plainest way. */
function toAction(action: ActionName, row: Json): TestAction {
  const data: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (!isFieldName(name)) continue;
    const time = name === "startTime" || name === "endTime";
    if (value === "\\clear") data[name] = time ? 0 : "";
    else data[name] = time ? Date.parse(String(value)) / 1000 : value;
  }
  return { action, data };
}

function seasonActions(): readonly TestAction[] {
  return Object.entries(SEASON).flatMap(([stem, action]) =>
    ndjson<Json>(`${stem}.ndjson`).map((row) => toAction(action, row)),
  );
}

describe("the generator", () => {
  it.each([...generated.keys()])("writes %s as it is committed", (path) => {
    const committed = readFileSync(join(FIXTURES, path));
    expect(committed.equals(Buffer.from(generated.get(path) ?? "missing"))).toBe(true);
  });

  it("gives the same again", () => {
    expect(generateFixtures()).toEqual(generated);
    expect(generateTwins()).toEqual(twins);
  });

  it("has written all that lies in bad/", () => {
    const files = readdirSync(join(FIXTURES, "bad")).map((file) => `bad/${file}`);
    expect(files.toSorted()).toEqual([...generated.keys()].filter((path) => path.startsWith("bad/")).toSorted());
  });
});

describe("the season", () => {
  it("has 40 events of many currencies, with 0, 2 and 3 decimals", () => {
    const events = csv("events.csv");
    const currencies = new Set(events.map((event) => event.currency ?? ""));
    expect(events).toHaveLength(40);
    expect(currencies.size).toBeGreaterThan(20);
    expect(new Set([...currencies].map(currencyDigits))).toEqual(new Set([0, 2, 3]));
  });

  it("has a name with a line break, and names with commas, quotes, umlauts and CJK", () => {
    const names = csv("events.csv").map((event) => event.eventName ?? "");
    expect(names.filter((name) => name.includes("\n"))).toHaveLength(1);
    for (const sign of [",", '"', "ö", "東", "한", "ل"]) expect(names.join()).toContain(sign);
  });

  it("has 12,000 sales in 12 columns, 9 of which are fields", () => {
    const [header = []] = parse(text("sales.csv"), { to: 1 }) as string[][];
    expect(csv("sales.csv")).toHaveLength(12_000);
    expect(header).toHaveLength(12);
    expect(header.filter(isFieldName)).toHaveLength(9);
  });

  it("sells in order of time, before the event, for a price with the currency's decimals", () => {
    const events = new Map(csv("events.csv").map((event) => [event.eventId, event]));
    let last = 0;
    for (const sale of csv("sales.csv")) {
      const event = events.get(sale.eventId);
      const at = Number(sale.orderTime);
      expect(at).toBeGreaterThanOrEqual(last);
      expect(at).toBeLessThan(Date.parse(event?.startTime ?? "") / 1000);
      const decimals = sale.price?.split(".")[1]?.length ?? 0;
      if (sale.price !== "0") expect(decimals).toBe(currencyDigits(event?.currency ?? ""));
      last = at;
    }
  });

  it.each(Object.keys(SEASON))("has the same rows in %s.csv and .ndjson", (stem) => {
    const asText = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));
    const rows = ndjson<Json>(`${stem}.ndjson`);
    const cells = csv(`${stem}.csv`).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== "")),
    );
    expect(cells).toEqual(
      rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asText(value)]))),
    );
  });

  it.each(["updates", "resales", "scans", "checkins", "claims", "invalidations"])("has hundreds of %s", (stem) => {
    expect(csv(`${stem}.csv`).length).toBeGreaterThanOrEqual(300);
  });

  it("obeys the rules of each action", () => {
    for (const action of seasonActions()) expect(validateItem(action)).toEqual([]);
  });

  it("is accepted in order by a service that knows who holds what", () => {
    expect(refusals(seasonActions())).toEqual([]);
  });

  it("clears fields in updates of events and of tickets", () => {
    expect(text("event-updates.csv")).toMatch(/\\clear/);
    expect(text("updates.csv")).toMatch(/\\clear/);
  });

  it("resells some tickets back to their first buyer", () => {
    const buyers = new Map(csv("sales.csv").map((sale) => [sale.ticketId, sale.userId]));
    expect(csv("resales.csv").filter((resale) => buyers.get(resale.ticketId) === resale.userId).length).toBeGreaterThan(
      30,
    );
  });
});

describe("the sample of whole actions", () => {
  const payload = json<TestAction[]>("payload.json");

  it("is the same in payload.json and actions.ndjson", () => {
    expect(ndjson<TestAction>("actions.ndjson")).toEqual(payload);
  });

  it("has about 300 actions of all kinds", () => {
    expect(new Set(payload.map(({ action }) => action))).toEqual(new Set(ACTION_NAMES));
    expect(payload.length).toBeGreaterThan(280);
  });

  it("stands for itself and is part of the season", () => {
    for (const action of payload) expect(validateItem(action)).toEqual([]);
    expect(refusals(payload)).toEqual([]);
    const season = new Set(seasonActions().map((action) => JSON.stringify(action)));
    expect(payload.filter((action) => !season.has(JSON.stringify(action)))).toEqual([]);
  });
});

describe("the bad files", () => {
  const readme = text("README.md");

  it.each(BAD_FILES)("$file is explained in the README", ({ file }) => {
    expect(readme).toContain(`| \`${file}\` |`);
  });

  it.each(BAD_FILES.filter(({ rule }) => rule !== undefined))("$file breaks a rule that exists: $rule", ({ rule }) => {
    expect(Object.keys(RULES)).toContain(rule);
  });

  it("have a file for every rule that one small file can break", () => {
    const shown = new Set(BAD_FILES.map(({ rule }) => rule));
    expect(Object.keys(RULES_OF_FILES).filter((rule) => !shown.has(rule))).toEqual([
      "row-too-long",
      "payload-too-long",
      "event-registered-late",
      "late",
      "mapping-changed",
      "nothing-recognised",
    ]);
  });

  it("are listed as expected.json says", () => {
    const expected = json<{ file: string }[]>("bad/expected.json");
    expect(expected.map(({ file }) => file)).toEqual(BAD_FILES.map(({ file }) => file));
  });
});

describe("the literal bodies of the service", () => {
  const requests = json<{ file: string }[]>("service/requests/index.json");
  const responses = json<{ file: string; status: number }[]>("service/responses/index.json");
  const invalid = json<{ file: string; rule: string; item: number; field?: string }[]>("service/invalid/index.json");

  it.each(requests)("$file obeys the tables", ({ file }) => {
    for (const item of json<unknown[]>(`service/requests/${file}`)) expect(validateItem(item)).toEqual([]);
  });

  it.each(requests)("$file has an answer of the specified shape, item by item", ({ file }) => {
    const sent = json<TestAction[]>(`service/requests/${file}`);
    const answer = json<{ status: string; data: Json[] }>(`service/responses/accepted/${file}`);
    expect(Object.keys(answer)).toEqual(["status", "data"]);
    expect(answer.data).toEqual(
      sent.map(({ action, data }) => ({
        status: "success",
        action,
        ...(action.endsWith("Event") || action === "soldTicket" ? { eventId: data.eventId } : {}),
        ...(data.ticketId === undefined ? {} : { ticketId: data.ticketId }),
        ...(data.nftId === undefined ? {} : { nftId: data.nftId }),
        actionPromise: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      })),
    );
  });

  it("cover all actions, with every field of each", () => {
    const sent = requests.flatMap(({ file }) => json<TestAction[]>(`service/requests/${file}`));
    for (const action of ACTION_NAMES) {
      const spec = actionSpec(action);
      const fields = new Set(sent.filter((item) => item.action === action).flatMap(({ data }) => Object.keys(data)));
      expect([...fields].toSorted()).toEqual(
        [...spec.required, ...spec.exclusive, ...spec.anyOf, ...spec.optional].toSorted(),
      );
    }
  });

  it.each(responses)("$file ($status) is there, and is JSON if its name says so", ({ file }) => {
    const body = text(`service/responses/${file}`);
    if (file.endsWith(".json")) expect(() => JSON.parse(body)).not.toThrow();
    else expect(() => JSON.parse(body)).toThrow();
  });

  it.each(invalid)("invalid/$file breaks its rule", ({ file, rule, item, field }) => {
    const items = json<TestAction[]>(`service/invalid/${file}`);
    if (!Object.hasOwn(ACTION_RULES, rule)) expect(refusals(items).map(({ at }) => at)).toEqual([item]);
    else if (rule !== "json-duplicate-key") {
      expect(validateItem(items[item])).toContainEqual(
        expect.objectContaining(field === undefined ? { rule } : { rule, field }),
      );
    }
  });

  it("have an invalid request for every rule of the tables that is an error", () => {
    const errors = Object.entries(ACTION_RULES).filter(([, { severity }]) => severity === "error");
    const shown = new Set(invalid.map(({ rule }) => rule));
    expect(errors.map(([rule]) => rule).filter((rule) => !shown.has(rule))).toEqual([]);
  });

  it("leave out no file", () => {
    const named = [
      ...requests.map(({ file }) => `requests/${file}`),
      ...requests.map(({ file }) => `responses/accepted/${file}`),
      ...responses.map(({ file }) => `responses/${file}`),
      ...invalid.map(({ file }) => `invalid/${file}`),
      ...["README.md", "requests/index.json", "requests/batch.json", "responses/index.json", "invalid/index.json"],
    ];
    const files = readdirSync(join(FIXTURES, "service"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name).slice(join(FIXTURES, "service/").length).replaceAll("\\", "/"),
      );
    expect(files.toSorted()).toEqual([...new Set(named)].toSorted());
  });
});

/** What a strict service would refuse, by an own small account of events, holders and ends. */
function refusals(actions: readonly TestAction[]): readonly { readonly at: number; readonly why: string }[] {
  const events = new Set<unknown>();
  const tickets = new Map<
    unknown,
    { holder: unknown; end?: "checked in" | "invalidated"; claimed?: true; scans: Set<unknown>; at: number }
  >();
  const found: { at: number; why: string }[] = [];
  for (const [at, { action, data }] of actions.entries()) {
    const refuse = (why: string) => found.push({ at, why: `${why}: ${JSON.stringify(data)}` });
    const ticket = tickets.get(data.ticketId);
    if (action === "newEvent") {
      if (events.has(data.eventId)) refuse("registered twice");
      events.add(data.eventId);
      continue;
    }
    if (data.eventId !== undefined && !events.has(data.eventId)) refuse("no such event");
    if (action === "updateEvent") continue;
    if (action === "soldTicket") {
      if (ticket !== undefined) refuse("sold twice");
      tickets.set(data.ticketId, { holder: data.userId, scans: new Set(), at: Number(data.orderTime) });
      continue;
    }
    if (ticket === undefined) {
      refuse("no such ticket");
      continue;
    }
    if (ticket.end === "invalidated" || (ticket.end === "checked in" && action !== "claimedTicket"))
      refuse(`after ${ticket.end}`);
    if (action === "updateTicket") continue;
    // A real service may not look at the order of times, but a real season has one.
    if (Number(data.orderTime) <= ticket.at) refuse("before what went before");
    ticket.at = Number(data.orderTime);
    if (action === "resoldTicket") {
      if (data.userId === ticket.holder) refuse("sold to its holder");
      ticket.holder = data.userId;
    } else if (action === "scannedTicket") {
      if (ticket.scans.has(data.orderTime)) refuse("scanned twice at once");
      ticket.scans.add(data.orderTime);
    } else if (action === "checkedInTicket") ticket.end = "checked in";
    else if (action === "claimedTicket") {
      if (ticket.claimed) refuse("claimed twice");
      ticket.claimed = true;
    } else ticket.end = "invalidated";
  }
  return found;
}
