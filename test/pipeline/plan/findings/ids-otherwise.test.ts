/** Ids that are told otherwise than when they were accepted: nothing looks new for that, and nothing is sent twice. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plan } from "../../../../src/commands/plan.ts";
import { importResults } from "../../../../src/commands/results.ts";
import { validate } from "../../../../src/commands/validate.ts";
import { type Field, makeContext, openField, processedBy } from "../../../support/context.ts";

const ORDER_AND_POSITION = "{Order}-{Pos}";
const WITH_EVENT = "{Event}-{Order}-{Pos}";

interface Mapping {
  readonly ticketId?: string;
  readonly eventId?: string;
  readonly key?: string;
  readonly userId?: string;
  readonly rules?: string;
  readonly more?: string;
}

const config = ({ ticketId = ORDER_AND_POSITION, eventId = "{Event}", userId = "{Mail}", ...mapping }: Mapping) => `
rules: {${mapping.rules ?? ""}}
sources:
  positions:
    match: "positions*.csv"
    ${mapping.key === undefined ? "" : `key: "${mapping.key}"`}
    fields: {ticketId: "${ticketId}", orderTime: "{At}"}
    actions:
      - newEvent: {fields: {eventId: "${eventId}", currency: EUR}}
      - soldTicket: {fields: {eventId: "${eventId}", userId: "${userId}", price: "{Price}"}}
      - invalidatedTicket: {when: {Status: canceled}}
${mapping.more ?? ""}`;

const HEADER = "Event,Order,Pos,Mail,Price,At,Status\n";
const ROWS = "ball,O1,1,a@x.de,21.50,1790896501,paid\nball,O2,1,b@x.de,22.50,1790896502,canceled\n";
const SENT = "ball O1-1 O2-1 O2-1";

async function openFirstNight(mapping: Mapping = {}): Promise<Field> {
  const field = await openField();
  await field.write("tickets.config.yaml", config(mapping));
  await field.write("positions.csv", `${HEADER}${ROWS}`);
  expect((await field.stream(["positions.csv"])).summary?.actions).toMatchObject({ accepted: 4 });
  return field;
}

async function nextNight(field: Field, mapping: Mapping, rows = ROWS) {
  await field.write("tickets.config.yaml", config(mapping));
  await field.write("positions.csv", `${HEADER}${rows}`);
  return field.stream(["positions.csv"]);
}

describe("a source that makes its ids otherwise", () => {
  test("sends nothing, and says how it made them since when", async () => {
    const field = await openFirstNight();
    const run = field.withLedger((ledger) => String(ledger.get("SELECT run FROM runs")?.run));
    const night = await nextNight(field, { ticketId: WITH_EVENT });
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain("positions.csv:1 ticketId: The source positions makes");
    expect(night.said).toContain(
      `The source positions makes the ids of soldTicket, invalidatedTicket differently than it has since the run ${run} of`,
    );
    expect(night.said).toContain(`Then: ticketId "{Order}-{Pos}". Now: ticketId "{Event}-{Order}-{Pos}".`);
    expect(processedBy(field.sandbox)).toBe(SENT);

    const back = await nextNight(field, {});
    expect(back).toMatchObject({ exitCode: 0, summary: { state: "nothing new" } });
    expect(back.said).not.toContain("ids-otherwise");
  });

  test.each(["again", "dryRun"] as const)("is told with %s too, and by plan and validate", async (flag) => {
    const field = await openFirstNight();
    await field.write("tickets.config.yaml", config({ ticketId: WITH_EVENT }));
    expect((await field.stream(["positions.csv"], { [flag]: true })).exitCode).toBe(3);
    for (const command of [plan, validate]) {
      const { context, said } = makeContext(field.folder, field.env);
      expect(await command({ files: ["positions.csv"], json: false, flags: {} }, context)).toBe(3);
      expect(said()).toContain("ids-otherwise");
    }
    expect(processedBy(field.sandbox)).toBe(SENT);
  });

  test("of events, which would be registered once more", async () => {
    const field = await openFirstNight();
    const night = await nextNight(field, { eventId: "w-{Event}" });
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain("ids of newEvent differently than it has");
    expect(night.said).toContain('Now: eventId "w-{Event}".');
    expect(processedBy(field.sandbox)).toBe(SENT);
  });

  test("of one event for all rows, which is another one now, more likely than not", async () => {
    const field = await openFirstNight({ eventId: "ball" });
    const night = await nextNight(field, { eventId: "gala" });
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain("If these name other ones now");
    expect(night.said).not.toContain("Put it back");
  });

  test("is let pass once by a person, and is remembered then", async () => {
    const field = await openFirstNight();
    const other = { ticketId: WITH_EVENT, rules: "ids-otherwise: warn" };
    const next = "ball,O3,1,c@x.de,23.50,1790896503,paid\n";
    const passed = await nextNight(field, other, next);
    expect(passed).toMatchObject({ exitCode: 0, summary: { actions: { accepted: 1 } } });
    expect(passed.said).toContain("ids-otherwise: positions.csv:1");
    expect(processedBy(field.sandbox)).toBe(`${SENT} ball-O3-1`);

    for (const mapping of [other, { ticketId: WITH_EVENT }]) {
      const known = await nextNight(field, mapping, next);
      expect(known).toMatchObject({ exitCode: 0, summary: { state: "nothing new" } });
      expect(known.said).not.toContain("ids-otherwise");
    }
    // The kind that was not sent that night is remembered with it, and the way back is another way.
    expect((await nextNight(field, {})).said).toContain("ids of soldTicket, invalidatedTicket differently");
  });

  test("is remembered also where the ids come out the same, so that nothing is sent", async () => {
    const field = await openFirstNight();
    const same = { ticketId: "{Order}{Sign}{Pos}", rules: "ids-otherwise: warn" };
    const rows = ROWS.replaceAll(",paid", ",paid,-").replaceAll(",canceled", ",canceled,-");
    await field.write("tickets.config.yaml", config(same));
    await field.write("positions.csv", `${HEADER.trimEnd()},Sign\n${rows}`);
    const night = await field.stream(["positions.csv"]);
    expect(night).toMatchObject({ exitCode: 0, summary: { state: "nothing new" } });
    expect(night.said).toContain("ids-otherwise: positions.csv:1");
    await field.write("tickets.config.yaml", config({ ticketId: same.ticketId }));
    expect(await field.stream(["positions.csv"])).toMatchObject({ exitCode: 0, summary: { state: "nothing new" } });
  });

  test("is known in a ledger that was imported, once it found what that holds", async () => {
    const field = await openFirstNight();
    await rm(join(field.folder, "state"), { recursive: true });
    const { context } = makeContext(field.folder, field.env);
    await importResults({ file: "positions.local.promises.ndjson", waitLock: 0, flags: {} }, context);
    expect(await nextNight(field, {})).toMatchObject({ exitCode: 0, summary: { state: "nothing new" } });
    expect((await nextNight(field, { ticketId: WITH_EVENT })).said).toContain("[ids-otherwise]");
    expect(processedBy(field.sandbox)).toBe(SENT);
  });

  test("is told where all of it is in doubt, which no one knows", async () => {
    const field = await openField();
    await field.write("tickets.config.yaml", config({}));
    await field.write("positions.csv", `${HEADER}${ROWS}`);
    field.setFaults({ on: { request: 1 }, fault: "status", status: 500 });
    expect((await field.stream(["positions.csv"])).exitCode).toBe(6);
    field.setFaults();
    await field.write("tickets.config.yaml", config({ ticketId: WITH_EVENT }));
    const { context, said } = makeContext(field.folder, field.env);
    await validate({ files: ["positions.csv"], json: false, flags: {} }, context);
    expect(said()).toContain("ids-otherwise");
  });
});

describe("a source that makes the ids of some of its rows otherwise", () => {
  const ROWS_BY_CHANNEL = "web,O1,B1\nbox,O2,B2\ntel,O3,B3\n";
  const sales = (actions: readonly string[]): string => `
sources:
  sales:
    match: "sales*.csv"
    fields: {eventId: ball, userId: u, price: "1.00", orderTime: "1790896501"}
    actions:
${actions.map((action) => `      - soldTicket: ${action}\n`).join("")}`;
  const [BY_ORDER, BY_BARCODE] = ['fields: {ticketId: "{Order}"}', 'fields: {ticketId: "{Barcode}"}'];
  const openSold = async (...actions: readonly string[]): Promise<Field> => {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\nball,EUR\n");
    await field.write("tickets.config.yaml", sales(actions));
    await field.write("sales.csv", `Channel,Order,Barcode\n${ROWS_BY_CHANNEL}`);
    expect((await field.stream(["events.csv", "sales.csv"])).summary?.actions).toMatchObject({ accepted: 4 });
    return field;
  };

  test.each<readonly [string, readonly string[], readonly string[], string]>([
    [
      "one action became two",
      [`{${BY_ORDER}}`],
      [`{when: {Channel: [web, tel]}, ${BY_ORDER}}`, `{when: {Channel: box}, ${BY_BARCODE}}`],
      'Then: ticketId "{Order}". Now: ticketId "{Barcode}" when {"Channel":["box"]}.',
    ],
    [
      "two became one",
      [`{when: {Channel: [web, tel]}, ${BY_ORDER}}`, `{when: {Channel: box}, ${BY_BARCODE}}`],
      [`{${BY_BARCODE}}`],
      'Then: ticketId "{Order}" when {"Channel":["tel","web"]}. Now: ticketId "{Barcode}".',
    ],
    [
      "a value was moved from one to the other",
      [`{when: {Channel: [web, box]}, ${BY_ORDER}}`, `{when: {Channel: tel}, ${BY_BARCODE}}`],
      [`{when: {Channel: web}, ${BY_ORDER}}`, `{when: {Channel: [tel, box]}, ${BY_BARCODE}}`],
      'Now: ticketId "{Barcode}" when {"Channel":["box","tel"]}.',
    ],
  ])("sends nothing where %s", async (_what, before, after, said) => {
    const field = await openSold(...before);
    const sent = processedBy(field.sandbox);
    await field.write("tickets.config.yaml", sales(after));
    const night = await field.stream(["sales.csv"]);
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain(said);
    expect(processedBy(field.sandbox)).toBe(sent);
  });

  test("is known by all that one way was taken for", async () => {
    const field = await openSold(`{when: {Channel: [web, box, tel]}, ${BY_ORDER}}`);
    await field.write("tickets.config.yaml", sales([`{when: {Channel: web}, ${BY_ORDER}}`]));
    await field.write("sales-1.csv", "Channel,Order,Barcode\nweb,O4,B4\n");
    expect(await field.stream(["sales-1.csv"])).toMatchObject({ exitCode: 0, summary: { actions: { accepted: 1 } } });
    await field.write(
      "tickets.config.yaml",
      sales([`{when: {Channel: web}, ${BY_ORDER}}`, `{when: {Channel: box}, ${BY_BARCODE}}`]),
    );
    expect((await field.stream(["sales.csv"])).said).toContain("[ids-otherwise]");
  });
});

describe("an input without rows is a quiet night", () => {
  test("whatever its source makes of ids, and the new way is not remembered by it", async () => {
    const field = await openFirstNight();
    const quiet = await nextNight(field, { ticketId: WITH_EVENT }, "");
    expect(quiet.exitCode).toBe(0);
    expect(quiet.said).not.toContain("ids-otherwise");
    expect((await nextNight(field, { ticketId: WITH_EVENT })).said).toContain("[ids-otherwise]");
    expect(processedBy(field.sandbox)).toBe(SENT);
  });

  test("also beside one with rows, of which it is told", async () => {
    const field = await openFirstNight();
    await field.write("tickets.config.yaml", config({ ticketId: WITH_EVENT }));
    await field.write("positions-0.csv", HEADER);
    const night = await field.stream(["positions-0.csv", "positions.csv"]);
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain("positions.csv:1 ticketId: The source positions makes");
    expect(night.said).not.toContain("positions-0.csv:1 ticketId");
  });
});

describe("nothing is said", () => {
  test.each<readonly [string, Mapping, Mapping]>([
    ["where another field is made otherwise", {}, { userId: "u-{Mail}" }],
    ["where a source is given a key", {}, { key: "{Order}/{Pos}" }],
    ["where a source loses its key", { key: "{Order}/{Pos}" }, {}],
    [
      "where an action is added",
      {},
      { more: '      - scannedTicket: {when: {Status: used}, fields: {ticketId: "{Order}"}}' },
    ],
  ])("%s", async (_what, before, after) => {
    const field = await openFirstNight(before);
    const night = await nextNight(field, after);
    expect(night.exitCode).toBe(0);
    expect(night.said).not.toContain("ids-otherwise");
    expect(processedBy(field.sandbox)).toBe(SENT);
  });

  test("where all that was sent was rejected", async () => {
    const field = await openField();
    await field.write("tickets.config.yaml", config({}));
    await field.write("positions.csv", `${HEADER}${ROWS}`);
    field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0, 1, 2, 3] });
    expect((await field.stream(["positions.csv"])).summary?.actions).toMatchObject({ rejected: 4 });
    field.setFaults();
    expect(await nextNight(field, { ticketId: WITH_EVENT })).toMatchObject({ exitCode: 0 });
    expect(processedBy(field.sandbox)).toContain("ball-O2-1");
  });

  test("of a key that stays: it tells the deeds apart, and another ticket under it is a problem of its own", {
    tags: ["long"],
  }, async () => {
    const key = "{Order}/{Pos}";
    const field = await openFirstNight({ key });
    const night = await nextNight(field, { key, ticketId: WITH_EVENT });
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain("key-shared");
    expect(night.said).not.toContain("ids-otherwise");
    // The event has no key.
    expect((await nextNight(field, { key, eventId: "w-{Event}" })).said).toContain("ids of newEvent differently");
    // Without it, or with another one, nothing else knows them.
    expect((await nextNight(field, { ticketId: WITH_EVENT })).said).toContain("ids of soldTicket, invalidatedTicket");
    expect(processedBy(field.sandbox)).toBe(SENT);
  });
});

describe("ids whose zeros in front were lost", () => {
  const LINES = ["000123456789,a@x.de,10.00,1790841612", "000123456790,c@x.de,12.50,1790845200"];
  const sales = (...rows: readonly string[]): string =>
    ["ticketId,userId,price,orderTime,eventId", ...rows.map((row) => `${row},ball-26`), ""].join("\n");
  const stripped = (row: string): string => row.replace(/^0+/, "");

  const SOLD_ELSEWHERE = `${JSON.stringify({
    action: "soldTicket",
    data: { eventId: "ball-26", ticketId: "0042", userId: "u", price: "1", orderTime: 1790841600 },
  })}\n`;

  async function openSold(...rows: readonly string[]): Promise<Field> {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\nball-26,EUR\n");
    await field.write("sales.csv", sales(...rows));
    const night = await field.stream(["events.csv", "sales.csv"]);
    expect(night.summary?.actions).toMatchObject({ accepted: rows.length + 1 });
    return field;
  }

  test("are no new tickets, and nothing of them is sent", async () => {
    const field = await openSold(...LINES);
    const run = field.withLedger((ledger) => String(ledger.get("SELECT run FROM runs")?.run));
    await field.write("sales.csv", sales(...LINES.map(stripped)));
    const night = await field.stream(["sales.csv"]);
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain(
      `sales.csv:2 ticketId: "123456789" "123456789" is the same number as "000123456789", which was accepted in the run ${run}`,
    );
    expect(processedBy(field.sandbox)).toBe("ball-26 000123456789 000123456790");
  });

  test("are found again where the first export had lost them", async () => {
    const field = await openSold(...LINES.map(stripped));
    await field.write("sales.csv", sales(...LINES));
    const night = await field.stream(["sales.csv"]);
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain('the same number as "123456789"');
  });

  test("are told of a check-in, and of scans of tickets that were sold elsewhere", { tags: ["long"] }, async () => {
    const field = await openSold(...LINES);
    await field.write("elsewhere.ndjson", SOLD_ELSEWHERE);
    await field.stream(["elsewhere.ndjson"], {}, { env: { TICKETS_STATE_DIR: join(field.folder, "elsewhere") } });
    await field.write("scans.csv", "ticketId,orderTime\n0042,1790841700\n");
    expect((await field.stream(["scans.csv"])).summary?.actions).toMatchObject({ accepted: 1 });
    await field.write("scans.csv", "ticketId,orderTime\n42,1790841700\n");
    expect((await field.stream(["scans.csv"])).said).toContain('the same number as "0042"');
    await field.write("checkins.csv", "ticketId,orderTime\n123456789,1790841700\n");
    expect((await field.stream(["checkins.csv"])).said).toContain('the same number as "000123456789"');
    expect(processedBy(field.sandbox)).toBe("ball-26 000123456789 000123456790 0042 0042");
  });

  test("are told of an event", async () => {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\n0042,EUR\n");
    await field.stream(["events.csv"]);
    await field.write("events.csv", "eventId,currency\n42,EUR\n");
    expect((await field.stream(["events.csv"])).said).toContain('"42" is the same number as "0042"');
    expect(processedBy(field.sandbox)).toBe("0042");
  });

  test("are told where a key of the source is new with them", { tags: ["long"] }, async () => {
    const field = await openField();
    const source = (key: string): string =>
      `sources: {s: {match: "sales*.csv", key: "${key}", fields: {eventId: "{eventId}", ticketId: "{ticketId}"}, actions: [soldTicket: {fields: {userId: "{userId}", price: "{price}", orderTime: "{orderTime}"}}]}}\n`;
    await field.write("tickets.config.yaml", source("{ticketId}"));
    await field.write("events.csv", "eventId,currency\nball-26,EUR\n");
    await field.write("sales.csv", sales(...LINES));
    expect((await field.stream(["events.csv", "sales.csv"])).summary?.actions).toMatchObject({ accepted: 3 });
    await field.write("sales.csv", sales(...LINES.map(stripped)));
    const night = await field.stream(["sales.csv"]);
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain("[id-zeros-lost]");
  });

  test("may be another ticket, which a person sends alone; from then on both are known", async () => {
    const field = await openSold(...LINES);
    await field.write("sales-other.csv", sales("123456789,b@x.de,10.00,1790841999"));
    expect((await field.stream(["sales-other.csv"], { again: true })).exitCode).toBe(0);
    await field.write("scans.csv", "ticketId,orderTime\n123456789,1790842000\n000123456789,1790842001\n");
    const night = await field.stream(["sales.csv", "sales-other.csv", "scans.csv"]);
    expect(night).toMatchObject({ exitCode: 0, summary: { actions: { accepted: 2, alreadySent: 3 } } });
    expect(night.said).not.toContain("[id-zeros-lost]");
  });

  test.each([
    ["lost", LINES, LINES.map(stripped)],
    ["found again", LINES.map(stripped), LINES],
  ])("are told where those of then are in doubt: %s", async (_what, other, rows) => {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\nball-26,EUR\n");
    await field.stream(["events.csv"]);
    await field.write("sales.csv", sales(...other));
    field.setFaults({ on: { request: 1 }, fault: "status", status: 500 });
    const doubtful = await field.stream(["sales.csv"]);
    expect(doubtful.exitCode).toBe(6);
    field.setFaults();
    await field.write("sales.csv", sales(...rows));
    const { context, said } = makeContext(field.folder, field.env);
    expect(await validate({ files: ["sales.csv"], json: false, flags: {} }, context)).toBe(3);
    const id = (row = ""): string => row.split(",")[0] ?? "";
    expect(said()).toContain(
      `"${id(rows[0])}" is the same number as "${id(other[0])}", which is pending in the run ${doubtful.summary?.run}, with`,
    );
  });

  test("are told of an event that is in doubt", async () => {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\n0042,EUR\n");
    field.setFaults({ on: { request: 1 }, fault: "status", status: 500 });
    await field.stream(["events.csv"]);
    field.setFaults();
    await field.write("events.csv", "eventId,currency\n42,EUR\n");
    const { context, said } = makeContext(field.folder, field.env);
    await validate({ files: ["events.csv"], json: false, flags: {} }, context);
    expect(said()).toContain('"42" is the same number as "0042", which is pending');
  });

  test("are known in a ledger that was imported", async () => {
    const field = await openSold(...LINES);
    await rm(join(field.folder, "state"), { recursive: true });
    const { context } = makeContext(field.folder, field.env);
    await importResults({ file: "events.local.promises.ndjson", waitLock: 0, flags: {} }, context);
    await field.write("sales.csv", sales(...LINES.map(stripped)));
    expect((await field.stream(["sales.csv"])).said).toContain('the same number as "000123456789"');
  });
});

describe("ids in another Unicode form", { tags: ["long"] }, () => {
  const sales = (...ids: readonly string[]): string =>
    [
      "ticketId,userId,price,orderTime,eventId",
      ...ids.map((id, at) => `${id},u${at},10.00,${1790841612 + at},ball`),
      "",
    ].join("\n");
  const COMPOSED = ["M\u00fcller-1", "B\u00f6hm-2"];
  const DECOMPOSED = COMPOSED.map((id) => id.normalize("NFD"));

  async function openSold(...ids: readonly string[]): Promise<Field> {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\nball,EUR\n");
    await field.write("sales.csv", sales(...ids));
    const night = await field.stream(["events.csv", "sales.csv"]);
    expect(night.summary?.actions).toMatchObject({ accepted: ids.length + 1 });
    return field;
  }

  test.each([
    ["decomposed", COMPOSED, DECOMPOSED, '"Mu\\u0308ller-1" is "M\\u00fcller-1"'],
    ["composed", DECOMPOSED, COMPOSED, '"M\\u00fcller-1" is "Mu\\u0308ller-1"'],
    ["in none throughout", ["u\u0308-\u00fc"], ["\u00fc-u\u0308"], '"\\u00fc-u\\u0308" is "u\\u0308-\\u00fc"'],
  ])("are no new tickets, and nothing of them is sent: %s", async (_what, then, now, told) => {
    const field = await openSold(...then);
    const run = field.withLedger((ledger) => String(ledger.get("SELECT run FROM runs")?.run));
    await field.write("sales.csv", sales(...now));
    const night = await field.stream(["sales.csv"]);
    expect(night.exitCode).toBe(3);
    expect(night.said).toContain(`${told}, which was accepted in the run ${run}, in another Unicode form`);
    expect(processedBy(field.sandbox)).toBe(["ball", ...then].join(" "));
    await field.write("sales.csv", sales(...then));
    expect(await field.stream(["sales.csv"])).toMatchObject({ exitCode: 0, summary: { state: "nothing new" } });
  });

  test("are told of scans, and of events", { tags: ["long"] }, async () => {
    const field = await openSold(...COMPOSED);
    await field.write("scans.csv", `ticketId,orderTime\n${DECOMPOSED[0]},1790842000\n`);
    expect((await field.stream(["scans.csv"])).said).toContain("[id-in-two-forms]");
    await field.write("events.csv", "eventId,currency\nB\u00e4lle,EUR\n");
    await field.stream(["events.csv"]);
    await field.write("events.csv", "eventId,currency\nBa\u0308lle,EUR\n");
    expect((await field.stream(["events.csv"])).said).toContain('"Ba\\u0308lle" is "B\\u00e4lle"');
    expect(processedBy(field.sandbox)).toBe(["ball", ...COMPOSED, "B\u00e4lle"].join(" "));
  });

  test("are told of one input, in which nothing of the second is sent", async () => {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\nball,EUR\n");
    await field.write("sales.csv", sales(...COMPOSED, DECOMPOSED[0] ?? ""));
    const night = await field.stream(["events.csv", "sales.csv"], { maxInvalid: { rows: 1 } });
    expect(night.said).toContain("which stands at sales.csv:2, in another Unicode form");
    expect(processedBy(field.sandbox)).toBe(["ball", ...COMPOSED].join(" "));
  });

  test("hold every sale of such an event", { tags: ["long"] }, async () => {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\nB\u00e4lle,EUR\n");
    await field.stream(["events.csv"]);
    await field.write("sales.csv", sales("T-1", "T-2").replaceAll("ball", "Ba\u0308lle"));
    const night = await field.stream(["sales.csv"], { maxInvalid: { rows: 5 } });
    expect(night.summary?.rows).toMatchObject({ mapped: 0, invalid: 1, held: 1 });
    expect(processedBy(field.sandbox)).toBe("B\u00e4lle");
  });

  test("may be another ticket, which a person sends alone; from then on both are known", async () => {
    const field = await openSold(...COMPOSED);
    await field.write("sales-other.csv", sales(DECOMPOSED[0] ?? ""));
    expect((await field.stream(["sales-other.csv"], { again: true })).exitCode).toBe(0);
    await field.write("checkins.csv", `ticketId,orderTime\n${COMPOSED[0]},1790842000\n${DECOMPOSED[0]},1790842001\n`);
    const files = ["sales.csv", "sales-other.csv", "checkins.csv"];
    expect(await field.stream(files)).toMatchObject({ exitCode: 0, summary: { actions: { accepted: 2 } } });
    expect((await field.stream(files, { again: true })).said).not.toContain("[id-in-two-forms]");
  });

  test("are told where those of then are in doubt", async () => {
    const field = await openField();
    await field.write("events.csv", "eventId,currency\nball,EUR\n");
    await field.stream(["events.csv"]);
    await field.write("sales.csv", sales(...DECOMPOSED));
    field.setFaults({ on: { request: 1 }, fault: "status", status: 500 });
    const doubtful = await field.stream(["sales.csv"]);
    field.setFaults();
    await field.write("sales.csv", sales(...COMPOSED));
    const { context, said } = makeContext(field.folder, field.env);
    expect(await validate({ files: ["sales.csv"], json: false, flags: {} }, context)).toBe(3);
    expect(said()).toContain(`which is pending in the run ${doubtful.summary?.run}, in another Unicode form`);
  });

  test("are known in a ledger that was imported", async () => {
    const field = await openSold(...DECOMPOSED);
    await rm(join(field.folder, "state"), { recursive: true });
    const { context } = makeContext(field.folder, field.env);
    await importResults({ file: "events.local.promises.ndjson", waitLock: 0, flags: {} }, context);
    await field.write("sales.csv", sales(...COMPOSED));
    expect((await field.stream(["sales.csv"])).said).toContain("[id-in-two-forms]");
  });
});
