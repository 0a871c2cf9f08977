import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ACTION_NAMES, acceptedFields } from "../../../src/actions/actions.ts";
import { openLedger } from "../../../src/ledger/open.ts";
import { NO_RUN, rowKeyText } from "../../../src/mapping/rejects-columns.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { ALL_RULES } from "../../../src/run/rules.ts";
import { type Asked, enter, openFolder, type Planned, planFiles, runOf, told, write } from "../../support/planned.ts";

const ENVIRONMENT = { complete: false, chunkSize: 5000, maxChunkBytes: 8_000_000 } as const;

/** An environment with its ledger: plans nights of files against it. */
async function opened() {
  const folder = openFolder();
  const ledger = await openLedger({ place: { kind: "sqlite", path: join(folder, "ledger.db") }, boundTo: "test" });
  let nights = 0;
  const night = async (files: Readonly<Record<string, string>>, asked: Asked = {}): Promise<Planned> => {
    nights += 1;
    const inputs = join(folder, `night-${nights}`);
    return await planFiles(inputs, write(inputs, files), { ledger, environment: ENVIRONMENT, ...asked });
  };
  return { ledger, night };
}

/** What is sent, as subject, kind and mark, in the order of the chunks. */
async function sent(plan: Plan): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const { origins } of plan.chunks())
    for (const { subject, kind, mark } of origins) lines.push(`${subject} ${kind} ${mark}`.trim());
  return lines;
}

async function night(files: Readonly<Record<string, string>>, asked: Asked = {}): Promise<Planned> {
  const folder = openFolder();
  return await planFiles(folder, write(join(folder, "in"), files), asked);
}

const SALES = "eventId,ticketId,userId,price,orderTime\n";
const sale = (ticket: string, more: { user?: string; price?: string; time?: number; event?: string } = {}): string =>
  `${more.event ?? "e"},${ticket},${more.user ?? "ann"},${more.price ?? "18"},${more.time ?? 1_760_000_000}\n`;
const EVENT = '{"action":"newEvent","data":{"eventId":"e","currency":"EUR"}}\n';

describe("counts", () => {
  it("add up, of rows and of actions", async () => {
    const { ledger, night } = await opened();
    await enter(ledger, await night({ "events.ndjson": EVENT, "sales.csv": SALES + sale("1") + sale("2") }));
    const { plan } = await night(
      { "sales.csv": SALES + sale("1") + sale("2", { price: "20" }) + sale("3") + sale("4", { price: "x" }) },
      { maxInvalid: { rows: 1 } },
    );
    expect(plan.rows).toEqual({ read: 4, mapped: 3, skipped: 0, invalid: 1, held: 0 });
    expect(plan.actions).toEqual({ total: 3, new: 1, alreadySent: 1, changed: 1, late: 0, unclear: 0, held: 0 });
    expect(plan.isRefused).toBe(false);
    plan[Symbol.dispose]();
  });

  it("refuses a plan with more bad rows than are borne", async () => {
    const { plan, problems } = await night({ "sales.csv": SALES + sale("1") + sale("2", { price: "x" }) });
    expect([plan.isRefused, plan.rows.invalid, problems.errors]).toEqual([true, 1, 1]);
    plan[Symbol.dispose]();
  });

  it("reads the first rows only with a limit", async () => {
    const { plan } = await night({ "sales.csv": SALES + sale("1") + sale("2") + sale("3") }, { limit: 2 });
    expect([plan.rows.read, plan.actions.new]).toEqual([2, 2]);
    plan[Symbol.dispose]();
  });
});

describe("a second night", () => {
  it("sends nothing that was accepted, and tells what changed with both values", async () => {
    const { ledger, night } = await opened();
    await enter(ledger, await night({ "events.ndjson": EVENT, "sales.csv": SALES + sale("1") + sale("2") }));
    const second = await night({ "sales.csv": SALES + sale("1", { price: "18.00" }) + sale("2", { price: "20" }) });
    expect(second.plan.actions).toMatchObject({ new: 0, alreadySent: 1, changed: 1 });
    expect(second.problems.kept.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
      "changed: It was accepted with other content and is not sent again: price 18 → 20.",
    ]);
    second.plan[Symbol.dispose]();
  });

  it("sends what was rejected once more", async () => {
    const { ledger, night } = await opened();
    const sales = SALES + sale("1") + sale("2");
    await enter(ledger, await night({ "sales.csv": sales }), { rejects: ({ subject }) => subject === "t:2" });
    const second = await night({ "sales.csv": sales });
    expect(await sent(second.plan)).toEqual(["t:2 soldTicket"]);
    second.plan[Symbol.dispose]();
  });

  it("holds what an unfinished run sends, what is new of its ticket, and sales of an event that it registers", async () => {
    const { ledger, night } = await opened();
    const files = { "events.ndjson": EVENT, "sales.csv": SALES + sale("1") };
    await enter(ledger, await night(files), { isAnswered: false });
    const second = await night({ "sales.csv": SALES + sale("1") + sale("2"), "scans.csv": "ticketId\n1\n3\n" });
    expect(second.plan.actions).toMatchObject({ new: 1, held: 3, total: 4 });
    expect([...second.plan.held.heldBy.values()]).toEqual([3]);
    second.plan[Symbol.dispose]();
  });

  it("resends under the next number, and adopts without sending", async () => {
    const { ledger, night } = await opened();
    const files = { "sales.csv": SALES + sale("1") };
    await enter(ledger, await night(files));
    const again = await night(files, { mode: "resend" });
    expect(await sent(again.plan)).toEqual(["t:1 soldTicket #2"]);
    again.plan[Symbol.dispose]();
    const adopted = await night({ "sales.csv": SALES + sale("9") }, { mode: "adopt" });
    await ledger.adopt(runOf(adopted.plan), adopted.plan.byKey(), {
      who: "ann",
      at: "2026-05-02T00:00:00Z",
      reason: undefined,
    });
    const third = await night({ "sales.csv": SALES + sale("9") });
    expect(third.plan.actions).toMatchObject({ new: 0, alreadySent: 1 });
    third.plan[Symbol.dispose]();
  });
});

describe("what relaxed rules let through", () => {
  const VALUES = [7, -1, 1.5, 1e300, true, "x", "", null, [], {}, ["0x1"], { a: 1 }];
  const items = ACTION_NAMES.flatMap((action) =>
    acceptedFields(action).flatMap((field) => VALUES.map((value) => ({ action, data: { [field]: value } }))),
  );

  it.each(["input", "time"] as const)("is planned, entered and known again, whatever it is: by %s", async (order) => {
    const { ledger, night } = await opened();
    const files = { "x.ndjson": items.map((item) => `${JSON.stringify(item)}\n`).join("") };
    const rules = Object.fromEntries(Object.keys(ALL_RULES).map((rule) => [rule, "off"] as const));
    const first = await night(files, { rules, order });
    expect(first.plan.actions.total).toBe(items.length);
    const { new: sent } = first.plan.actions;
    expect(sent).toBeGreaterThan(100);
    await enter(ledger, first);
    const second = await night(files, { rules, order });
    expect(second.plan.actions).toMatchObject({ total: items.length, new: 0 });
    expect(second.problems).toMatchObject({ errors: 0, warnings: 0 });
    second.plan[Symbol.dispose]();
  });
});

describe("rejects", () => {
  /** The rejects of a plan, as a file of objects with the two columns of our own. */
  async function rejectsOf({ plan }: Planned, run: string, correct: (row: Record<string, unknown>) => object) {
    return [...plan.notSent()]
      .map(({ text, reason, digest, state, position: { run: id = run, seq } }) => {
        const own = rowKeyText({ digest, isUnclear: state === "unclear", run: id, seq });
        return JSON.stringify({ ...correct(JSON.parse(text)), "tickets:reason": reason, "tickets:row": own });
      })
      .join("\n")
      .concat("\n");
  }

  const rows = (...prices: readonly string[]): string =>
    prices
      .map(
        (price, at) => `{"eventId":"e","ticketId":"${at}","userId":"ann","price":"${price}","orderTime":1760000000}\n`,
      )
      .join("");

  it("knows a bad row again once its corrected version was accepted", async () => {
    const { ledger, night } = await opened();
    const source = { match: "sales*" } as const;
    const first = await night({ "sales.ndjson": rows("18", "oops") }, { maxInvalid: { rows: 1 }, source });
    await enter(ledger, first);
    const [{ run } = { run: "" }] = await ledger.runs();
    const rejects = await rejectsOf(first, run, (row) => ({ ...row, price: "20" }));
    const corrected = await night({ "sales.rejects.ndjson": rejects }, { source });
    expect(await sent(corrected.plan)).toEqual(["t:1 soldTicket"]);
    await enter(ledger, corrected);
    const again = await night({ "sales.ndjson": rows("18", "oops") }, { source });
    expect(again.plan.rows).toEqual({ read: 2, mapped: 2, skipped: 0, invalid: 0, held: 0 });
    expect(again.plan.actions).toMatchObject({ new: 0, alreadySent: 2 });
    expect(again.problems.errors).toBe(0);
    again.plan[Symbol.dispose]();
  });

  it("takes a row of rejects where it was first read: behind what came later it is late", async () => {
    const { ledger, night } = await opened();
    const updates = (last: string): string =>
      `{"ticketId":"1","imageUrl":"https://x.example/a"}\n{"ticketId":"1","imageUrl":"${last}"}\n`;
    const asked: Asked = { action: "updateTicket", maxInvalid: { rows: 1 } };
    const first = await night({ "u.ndjson": updates("oops") }, asked);
    expect(first.plan.actions).toMatchObject({ new: 0, held: 1 });
    const rejects = await rejectsOf(first, NO_RUN, (row) =>
      row.imageUrl === "oops" ? { ...row, imageUrl: "https://x.example/b" } : row,
    );
    expect(rejects).toContain('"row@0:1"');
    await enter(ledger, await night({ "v.ndjson": '{"ticketId":"1","imageUrl":"https://x.example/c"}\n' }, asked));
    const second = await night({ "u.rejects.ndjson": rejects }, asked);
    expect(second.plan.actions).toMatchObject({ new: 0, late: 2 });
    expect(told(second)).toEqual(["u.rejects.ndjson:1 late", "u.rejects.ndjson:2 late"]);
    second.plan[Symbol.dispose]();
  });
});

describe("what waits", () => {
  it("spreads over rows, tickets and events, one line a row", async () => {
    const items = [
      { action: "newEvent", data: { eventId: "e", currency: "nope" } },
      {
        action: "soldTicket",
        data: { eventId: "e", ticketId: "1", userId: "a", price: "1", orderTime: 1_760_000_000 },
      },
      { action: "scannedTicket", data: { ticketId: "1", orderTime: 1_760_000_001 } },
      { action: "scannedTicket", data: { ticketId: "2", orderTime: 1_760_000_001 } },
    ];
    const planned = await night({ "a.json": JSON.stringify(items) }, { maxInvalid: { rows: 1 } });
    expect(planned.plan.rows).toEqual({ read: 4, mapped: 1, skipped: 0, invalid: 1, held: 2 });
    expect(planned.plan.actions).toMatchObject({ new: 1, held: 2, total: 3 });
    expect(planned.plan.held.heldFor).toMatchObject([{ source: "a.json", line: 1, rows: 2 }]);
    expect(planned.problems.kept.map(({ rule, message }) => `${rule}: ${message}`).slice(1)).toEqual([
      "depends-on-invalid: It depends on a.json:1, which is invalid and not sent.",
      "depends-on-invalid: It depends on a.json:1, which is invalid and not sent.",
    ]);
    planned.plan[Symbol.dispose]();
  });
});

describe("across actions", () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, Asked, readonly string[]])[] = [
    [
      "a ticket that is sold twice",
      { "sales.csv": SALES + sale("1") + sale("1", { user: "bob" }) },
      {},
      ["sales.csv:2 event-not-registered", "sales.csv:3 ticket-sold-twice"],
    ],
    [
      "an event that is registered twice",
      { "a.ndjson": EVENT + EVENT.replace("EUR", "USD") },
      {},
      ["a.ndjson:2 event-registered-twice"],
    ],
    [
      "an event that is registered later",
      { "sales.csv": SALES + sale("1"), "events.ndjson": EVENT },
      {},
      ["sales.csv:2 event-not-registered"],
    ],
    [
      "an event that nobody knows, told once",
      { "sales.csv": SALES + sale("2") + sale("1") },
      {},
      ["sales.csv:2 event-not-registered"],
    ],
    [
      "and where all is known, of each",
      { "sales.csv": SALES + sale("2") + sale("1") },
      { environment: { ...ENVIRONMENT, complete: true } },
      ["sales.csv:2 event-not-registered", "sales.csv:3 event-not-registered"],
    ],
    [
      "a resale to the holder",
      {
        "events.ndjson": EVENT,
        "sales.csv": SALES + sale("1"),
        "resales.csv": "ticketId,userId,price,orderTime\n1,ann,20,1760000009\n",
      },
      {},
      ["resales.csv:2 resold-to-holder"],
    ],
    [
      "a scan after an invalidation",
      { "invalidations.csv": "ticketId,orderTime\n1,1760000000\n", "scans.csv": "ticketId,orderTime\n1,1760000009\n" },
      {},
      ["scans.csv:2 after-final"],
    ],
    [
      "a price with more decimals than the currency",
      { "events.ndjson": EVENT, "sales.csv": SALES + sale("1", { price: "12.505" }) },
      {},
      ["sales.csv:2 currency-decimals"],
    ],
    [
      "times that fall",
      { "resales.csv": "ticketId,userId,price,orderTime\n1,ann,20,1760000009\n1,bob,20,1760000001\n" },
      {},
      ["resales.csv:3 times-fall"],
    ],
    [
      "ids that differ in their zeros",
      { "events.ndjson": EVENT, "sales.csv": SALES + sale("007") + sale("7") },
      {},
      ["sales.csv:3 id-near-another"],
    ],
  ];
  it.each(cases)("tells %s", async (_name, files, asked, expected) => {
    const planned = await night(files, asked);
    expect(told(planned)).toEqual(expected);
    planned.plan[Symbol.dispose]();
  });

  it("tells an id that was accepted with other zeros", async () => {
    const { ledger, night } = await opened();
    await enter(ledger, await night({ "events.ndjson": EVENT, "sales.csv": SALES + sale("007") + sale("8") }));
    const second = await night({ "sales.csv": SALES + sale("7") + sale("08") + sale("9") });
    expect(told(second)).toEqual(["sales.csv:2 id-near-another", "sales.csv:3 id-near-another"]);
    second.plan[Symbol.dispose]();
  });
});

describe("the guard", () => {
  const source = {
    match: "orders*",
    fields: { eventId: "e" },
    actions: [{ soldTicket: { fields: { ticketId: "{T}", userId: "{U}", price: "18", orderTime: "{At}" } } }],
  };
  const orders = (from: number, to: number): string =>
    `T,U,At\n${Array.from({ length: to - from }, (_, at) => `t${from + at},ann,1760000000\n`).join("")}`;

  it("stops where a source makes its ids in another way", async () => {
    const { ledger, night } = await opened();
    await enter(ledger, await night({ "orders.csv": orders(0, 3) }, { source }));
    const otherwise = {
      ...source,
      actions: [{ soldTicket: { fields: { ticketId: "x-{T}", userId: "{U}", price: "18", orderTime: "{At}" } } }],
    };
    const second = await night({ "orders.csv": orders(0, 3) }, { source: otherwise });
    expect(second.plan.isRefused).toBe(true);
    expect(told(second)).toContain("orders.csv:1 mapping-changed");
    expect(second.problems.kept.find(({ rule }) => rule === "mapping-changed")?.message).toContain(
      'Then: ticketId "{T}". Now: ticketId "x-{T}".',
    );
    second.plan[Symbol.dispose]();
    const warned = await night(
      { "orders.csv": orders(0, 3) },
      { source: otherwise, rules: { "mapping-changed": "warn" } },
    );
    expect(warned.plan.isRefused).toBe(false);
    warned.plan[Symbol.dispose]();
  });

  it("stops where nothing is recognised of what most was on the last two nights", async () => {
    const { ledger, night } = await opened();
    for (let nights = 0; nights < 3; nights += 1)
      await enter(ledger, await night({ "orders.csv": orders(0, 60 + nights) }, { source }));
    // Rejects hold what is new, and are no night.
    const rejects = "T,U,At,tickets:reason,tickets:row\nx,ann,1760000000,,row@0:1\n";
    await enter(ledger, await night({ "orders.rejects.csv": rejects }, { source }));
    const strange = await night({ "orders.csv": orders(1000, 1060) }, { source });
    expect([strange.plan.isRefused, told(strange)[0]]).toEqual([true, "orders.csv:1 nothing-recognised"]);
    strange.plan[Symbol.dispose]();
  });
});

describe("order, lanes and chunks", () => {
  const PLAYED = {
    "scans.csv": "ticketId,orderTime\n1,1760000050\n2,1760000001\n",
    "sales.csv": SALES + sale("1", { time: 1_760_000_060 }) + sale("2", { time: 1_760_000_000 }),
    "events.ndjson": EVENT,
  };

  it("puts each event and sale before what depends on it with --order time", async () => {
    const { plan } = await night(PLAYED, { order: "time" });
    expect(await sent(plan)).toEqual([
      "e:e newEvent",
      "t:2 soldTicket",
      "t:2 scannedTicket t:1760000001",
      "t:1 soldTicket",
      "t:1 scannedTicket t:1760000050",
    ]);
    plan[Symbol.dispose]();
  });

  it("spreads one event over all lanes, its own actions in stages between those of its tickets", async () => {
    const update = '{"action":"updateEvent","data":{"eventId":"e","eventName":"Gala"}}\n';
    const tickets = Array.from({ length: 40 }, (_, at) => sale(`t${at}`)).join("");
    const scans = `ticketId,orderTime\n${Array.from({ length: 40 }, (_, at) => `t${at},1760000100\n`).join("")}`;
    const files = { "events.ndjson": EVENT, "sales.csv": SALES + tickets, "more.ndjson": update, "scans.csv": scans };
    const { plan } = await night(files, { lanes: 4 });
    const lanesOf = new Map<string, Set<number>>();
    const stages: string[] = [];
    for await (const { lane, stage, origins } of plan.chunks())
      for (const { subject, kind } of origins) {
        lanesOf.set(subject, (lanesOf.get(subject) ?? new Set()).add(lane));
        if (stages.at(-1) !== `${stage} ${kind}`) stages.push(`${stage} ${kind}`);
      }
    expect(plan.lanes).toBe(4);
    expect([...lanesOf.values()].every((lanes) => lanes.size === 1)).toBe(true);
    expect([...new Set(stages)]).toEqual(
      ["0 newEvent", "1 soldTicket", "1 scannedTicket", "2 updateEvent", "3 scannedTicket"].filter(
        (each) => each !== "1 scannedTicket",
      ),
    );
    plan[Symbol.dispose]();
  });

  it("sends no sale in a stage before its event, where a scan of its ticket stands before it", async () => {
    const files = { "events.ndjson": EVENT, "scans.csv": "ticketId\n1\n", "sales.csv": SALES + sale("1") };
    const { plan } = await night(files, { lanes: 4 });
    const stages = (await Array.fromAsync(plan.chunks())).flatMap(({ stage, origins }) =>
      origins.map(({ kind }) => `${stage} ${kind}`),
    );
    expect(stages).toEqual(["0 newEvent", "1 scannedTicket", "1 soldTicket"]);
    plan[Symbol.dispose]();
  });

  it("cuts chunks by actions and by bytes, with the rows that their actions come from", async () => {
    const environment = { ...ENVIRONMENT, chunkSize: 2 };
    const { plan } = await night({ "sales.csv": SALES + sale("1") + sale("2") + sale("3") }, { environment });
    const chunks = await Array.fromAsync(plan.chunks());
    expect(chunks.map(({ chunk, origins, rows }) => [chunk, origins.length, rows.length])).toEqual([
      [1, 2, 2],
      [2, 1, 1],
    ]);
    expect(JSON.parse(Buffer.from(chunks[1]?.body ?? []).toString())).toEqual([
      {
        action: "soldTicket",
        data: { eventId: "e", ticketId: "3", userId: "ann", price: "18", orderTime: 1_760_000_000 },
      },
    ]);
    expect(chunks[1]?.rows).toEqual(['["e","3","ann","18","1760000000"]']);
    expect(
      (await Array.fromAsync(plan.byKey())).flat().map(({ subject, chunk, place }) => [subject, chunk, place]),
    ).toEqual([
      ["t:1", 1, 0],
      ["t:2", 1, 1],
      ["t:3", 2, 0],
    ]);
    plan[Symbol.dispose]();
    const bytes = { ...ENVIRONMENT, maxChunkBytes: 150 };
    const small = await night({ "sales.csv": SALES + sale("1") + sale("2") }, { environment: bytes });
    expect((await Array.fromAsync(small.plan.chunks())).length).toBe(2);
    small.plan[Symbol.dispose]();
  });
});
