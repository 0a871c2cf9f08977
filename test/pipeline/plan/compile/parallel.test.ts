/** Workers make the same plan as one thread, byte for byte, wherever the input is cut. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openLedger } from "../../../../src/ledger/open-ledger.ts";
import { noteMended } from "../../../../src/ledger/rejected-rows.ts";
import type { Row } from "../../../../src/mapping/row.ts";
import { createRowDigester } from "../../../../src/mapping/row-digest.ts";
import type { SourceAction, SourceConfig } from "../../../../src/mapping/source.ts";
import { openInput, rangeParser } from "../../../../src/readers/input.ts";
import { resolveInputs } from "../../../../src/readers/inputs.ts";
import { SpareMemory } from "../../../../src/readers/spare-memory.ts";
import { openFolder, planned } from "../../../support/planned.ts";
import { codePoint } from "../../../support/texts.ts";

/** What a call came to, failures too. */
const outcome = <T>(work: () => Promise<T>): Promise<T | { readonly failed: string }> =>
  work().catch((cause: unknown) => ({ failed: String(cause) }));

async function sequentialRows(path: string): Promise<readonly Row[]> {
  const [file] = await resolveInputs([path]);
  if (file === undefined) throw new Error("no file");
  await using input = await openInput(file);
  const rows: Row[] = [];
  for await (const batch of input.batches()) rows.push(...batch);
  return [...rows, { kind: "malformed", line: 0, text: input.sha256, findings: [], bordersKnown: true }];
}

async function rowsInRanges(path: string, rangeBytes: number): Promise<readonly Row[]> {
  const [file] = await resolveInputs([path]);
  if (file === undefined) throw new Error("no file");
  await using input = await openInput(file);
  const how = input.ranged;
  const rows: Row[] = [];
  let hasStopped = false;
  const memory = new SpareMemory();
  for await (const part of input.parts(() => rangeBytes, memory)) {
    if (part.kind === "rows") rows.push(...part.rows);
    else {
      if (how === undefined) throw new Error("ranges of an input that has none");
      const parser = rangeParser(how, part.lineEnds);
      rows.push(...parser.take(part.bytes));
      if (part.isLast && !parser.stopped) rows.push(...parser.end());
      memory.giveBack(part.bytes.buffer);
      if (parser.stopped) {
        hasStopped = true;
        break;
      }
    }
  }
  if (hasStopped) await input.drain();
  return [...rows, { kind: "malformed", line: 0, text: input.sha256, findings: [], bordersKnown: true }];
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "Ü", "東", "😀", "1", " ") },
  { weight: 3, arbitrary: fc.constantFrom(",", "\n", "\r\n", '"x,\r\ny"', '"a ""b"" c"') },
  { weight: 1, arbitrary: fc.constantFrom("\r", '""') },
);
/** Mostly sound rows, so that faults come late; now and then anything at all. */
const soundRow = fc
  .tuple(
    fc.constantFrom("a", "Ü東", '"b,c"', '"b\rc"', '"line\none"', '"line\r\ntwo ""q"""', ""),
    fc.constantFrom("x", '"y"', "😀"),
    fc.constantFrom("\n", "\r\n"),
  )
  .map(([first, second, end]) => `${first},${second}${end}`);
const nastyRow = fc.oneof(
  { weight: 30, arbitrary: soundRow },
  { weight: 2, arbitrary: fc.constantFrom("\n", "only one\n", "a,b,c\n", `"${"l".repeat(90_000)}",b\n`) },
  { weight: 1, arbitrary: fc.constantFrom('a"b,c\n', '"open,b\n', '"a"b,c\n', '"a"\r,b\n') },
  { weight: 1, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")) },
);
/** The first block is read before there are ranges, so what is to be cut begins behind 256 KiB. */
const filler = (end: string): string => `h1,h2${end}${`${"f".repeat(500)},"""g"""${end}`.repeat(520)}`;

const nastyCsv = fc
  .tuple(
    fc.boolean(),
    fc.constantFrom("\n", "\r\n"),
    fc.array(fc.tuple(nastyRow, fc.integer({ min: 1, max: 400 })), { maxLength: 60 }),
    fc.option(fc.constantFrom(Buffer.of(0xff), Buffer.of(0xe6, 0x9d), Buffer.of(0)), { freq: 8 }),
  )
  .map(([bom, end, rows, damage]) =>
    Buffer.concat([
      Buffer.from(`${bom ? "\ufeff" : ""}${filler(end)}`),
      ...rows.map(([row, times]) => Buffer.from(row.repeat(row.length > 1000 ? 1 : times))),
      damage ?? Buffer.alloc(0),
    ]),
  );

const jsonLine = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      '{"a":"東😀","b":[1.50,-0]}',
      '{"a":"x\\u0041"}',
      ' {"n":12345678901234567890}\r',
      "",
      " \t",
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('{"a":1,"a":2}', '{"open', "[1]", "{}x", `{"l":"${"l".repeat(90_000)}"}`) },
  { weight: 1, arbitrary: fc.string({ unit: codePoint, maxLength: 12 }) },
);
const nastyNdjson = fc
  .tuple(
    fc.boolean(),
    fc.array(fc.tuple(jsonLine, fc.integer({ min: 1, max: 400 })), { maxLength: 60 }),
    fc.constantFrom("", "{}", `{"l":"${"l".repeat(1_100_000)}"}\n{}`),
    fc.option(fc.constantFrom(Buffer.of(0xff), Buffer.of(0xe6, 0x9d)), { freq: 8 }),
  )
  .map(([bom, lines, last, damage]) =>
    Buffer.concat([
      Buffer.from(`${bom ? "\ufeff" : ""}${`{"f":"${"f".repeat(500)}"}\n`.repeat(520)}`),
      ...lines.map(([line, times]) => Buffer.from(`${line}\n`.repeat(line.length > 1000 ? 1 : times))),
      Buffer.from(last),
      damage ?? Buffer.alloc(0),
    ]),
  );

describe("an input in ranges", () => {
  it.each([
    ["csv", nastyCsv],
    ["ndjson", nastyNdjson],
  ])(
    "gives the rows, lines and failures that it gives when read in one go: %s",
    {
      tags: ["long"],
    },
    async (format, nasty) => {
      const path = join(openFolder(), `nasty.${format}`);
      await fc.assert(
        fc.asyncProperty(nasty, fc.integer({ min: 1, max: 300_000 }), async (bytes, rangeBytes) => {
          writeFileSync(path, bytes);
          expect(await outcome(() => rowsInRanges(path, rangeBytes))).toEqual(
            await outcome(() => sequentialRows(path)),
          );
        }),
        { numRuns: 60 },
      );
    },
  );

  const isReadOn = async (...[_name, text, times]: readonly [string, string, number]): Promise<void> => {
    const path = join(openFolder(), "long.csv");
    writeFileSync(path, filler("\n") + text + "z,z\n".repeat(times * 100_000));
    expect(await rowsInRanges(path, 70_000)).toEqual(await sequentialRows(path));
  };
  it.each<[string, string, number]>([
    ["a quote that never closes", '"open', 9],
    ["a row over the limit with a fault", `"${"x,\n".repeat(500_000)}"y,b\na,b\n`, 3],
  ])("reads on alone after %s of megabytes", isReadOn);
  it.each<[string, string, number]>([["a row over the limit", `"${"x,\n".repeat(500_000)}",b\na,b\n`, 3]])(
    "reads on alone after %s of megabytes",
    { tags: ["long"] },
    isReadOn,
  );
});

/** Sales, some of which are unsound in a way that only their own row, or only another row, tells. */
const saleRow = fc.tuple(fc.nat(9000), fc.nat(30)).map(([number, kind]) => {
  const [ticket, price] = [`T${number}`, kind === 0 ? "12,5" : "12.50"];
  if (kind === 1) return `E,${ticket}\n`;
  if (kind === 2) return " , ,,,\n";
  const time = kind < 20 ? String(1_768_600_000 + number) : "";
  return `E${kind % 3},${ticket},"u ""${number}""\n東","${price}",${time}\n`;
});

/** A line of a number, so that it is not the same everywhere. */
type Line = (at: number) => string;

const flatLine = fc.constantFrom<Line>(
  (at) => `{"eventId":"E","ticketId":"T${at}","userId":"u","price":12.50}`,
  (at) => `{"eventId":"E","ticketId":"T${at}","userId":"u","price":"12.50","gate${at % 300}":1}`,
  (at) => `{"action":"scannedTicket","data":{"ticketId":"T${at >> 3}","orderTime":${1_768_600_000 + at}}}`,
  (at) => `{"eventId":"E","ticketId":${at},"userId":"u","price":"12,5"}`,
  (at) => `{"ticketId":"T${at}","ticket_id":"U"}`,
  () => '{"open',
  () => "",
);
/** States that the sources below name, name nearly, and don't name. */
const STATES = ["paid", "Paid", "in", "void", "refunded", "", "free "];
const sourceLine = fc.nat(STATES.length).map<Line>((kind) => (at) => {
  const state = STATES[kind] ?? `s${at % 1500}`;
  return `{"id":"T${at}","state":"${state}"${at > 8000 ? ',"by":{"mail":"m"}' : ""}}`;
});
const sourceCells = fc.nat(STATES.length).map<Line>((kind) => (at) => `T${at},${STATES[kind] ?? `s${at % 1500}`},m,,,`);
/** Sales whose events follow each other or are mixed, with events that can't be registered by each of their rows. */
const eventCells = fc
  .tuple(fc.nat(STATES.length), fc.boolean(), fc.constantFrom("EUR,1768600000", "EUR,", "EUR,soon", ",1", "E€,1"))
  .map<Line>(([kind, isMixed, details]) => (at) => {
    const event = isMixed ? `M${(at * 7919) % 701}` : `E${at >> 6}`;
    return `T${at},${STATES[kind] ?? "paid"},m,${event},${details}`;
  });
const SOLD = {
  soldTicket: {
    when: { state: ["paid", "payd"] },
    fields: { eventId: "E", ticketId: "{id}", userId: "{by}", price: "1", orderTime: "1768600000" },
  },
} satisfies SourceAction;
const PRICED = {
  soldTicket: { fields: { eventId: "E", ticketId: "{id}", userId: "{by}", price: "{start}", orderTime: "1768600000" } },
} satisfies SourceAction;
/** Sales with their price in the last column, and lines of totals between them: whole ones, short ones, empty ones. */
const pricedCells = fc
  .tuple(fc.nat(9), fc.constantFrom("Total", "Summe:", "total-1", "TOTALS"))
  .map<Line>(([kind, word]) => (at) => {
    if (kind === 0) return `${word},,,,,${at}`;
    if (kind === 1) return `${word},${at}`;
    if (kind === 2) return `${word},paid,m,E,EUR,1.50`;
    return `T${at},paid,m,E${at % 5},EUR,${at % 90}.25`;
  });
const EVENT_FIELDS = { eventId: "{event}", currency: "{currency}", startTime: "{start}" };
const EVENT = { newEvent: { fields: EVENT_FIELDS } } satisfies SourceAction;
const PAID_EVENT = { newEvent: { when: { state: "paid" }, fields: EVENT_FIELDS } } satisfies SourceAction;
const CHECKED_IN = { checkedInTicket: { when: { state: "in" }, fields: { ticketId: "{id}" } } } satisfies SourceAction;

describe("a plan by workers", () => {
  it("knows the same rows as mended, of equal ones those that were", { tags: ["long"] }, async () => {
    const folder = openFolder();
    const header = ["eventId", "ticketId", "userId", "price", "orderTime"];
    // Every eleventh row is bad and every hundredth is like another; those that are mended are bad, sound and repeated.
    const cells = Array.from({ length: 4000 }, (_, at) => {
      const number = at % 100 === 99 ? 42 : at;
      return ["E", `T${number}`, "u", number % 11 === 0 ? "?" : "1.00", "1768600000"];
    });
    const path = join(folder, "sales.csv");
    writeFileSync(path, `${[header, ...cells].map((row) => row.join(",")).join("\n")}\n`);
    const digester = createRowDigester(header, "");
    const keys = [11, 42, 700, 2200].map((at) => digester.digest({ kind: "cells", line: 1, cells: cells[at] ?? [] }));
    using ledger = openLedger({ path: join(folder, "ledger.db"), boundTo: undefined });
    noteMended(
      ledger,
      [...keys, `${keys[1]}#3`, `${keys[1]}#7`, `${keys[0]}#2`].map((row) => ({
        row,
        seqs: [],
        actions: ["soldTicket"],
        isWhole: true,
        known: [],
        seqOf: new Map(),
      })),
    );
    const plan = (count: number, mostGiven = 1_000_000) => {
      const workers = { count, leastBytes: 0, rangeBytes: 3000, mostGiven };
      return planned(folder, [path], workers, undefined, { ledger });
    };
    const alone = await plan(0);
    expect(alone.result.rows).toMatchObject({ read: 4000, mended: 6 });
    expect(await plan(3)).toEqual(alone);
    for (const count of [0, 3]) expect(await plan(count, 1000)).toEqual(alone);
  });

  const isRefused = async (first: string, said: string): Promise<void> => {
    const folder = openFolder();
    const row = (at: number): string => `{"eventId":"E","ticketId":"T${at}","userId":"u","price":"1.00"}\n`;
    const of = (kind: (text: string) => string): string =>
      Array.from({ length: 4000 }, (_row, at) => kind(row(at))).join("");
    const rejected = (text: string): string => text.replace("}", ',"tickets:row":""}');
    const paths = [...new Set([first, "sales.ndjson"])].map((name) => join(folder, name));
    writeFileSync(join(folder, "more.ndjson"), `\n${of((text) => text)}`);
    const bad = of((text) => (first === "more.ndjson" || text.includes('"T3000"') ? rejected(text) : text));
    // The first line shows nothing yet.
    writeFileSync(join(folder, "sales.ndjson"), first === "more.ndjson" ? `{"open\n${bad}` : bad);
    const refused = (count: number) =>
      outcome(() => planned(folder, paths, { count, leastBytes: 0, rangeBytes: 3000 }));
    const alone = await refused(0);
    expect(alone).toEqual({ failed: expect.stringMatching(said) });
    expect(await refused(3)).toEqual(alone);
  };
  const MIXED = "is refused where rejects and an export are mixed, wherever the row stands that shows it";
  it(`${MIXED}: in one file`, () =>
    isRefused("sales.ndjson", "sales.ndjson holds a row of a rejects file in line 3001 and another row in line 1"));
  it(`${MIXED}: in two`, { tags: ["long"] }, () =>
    isRefused(
      "more.ndjson",
      "sales.ndjson is a rejects file that tickets wrote; it can't be read together with \\S*more.ndjson",
    ),
  );

  const isToldAsSum = async (kind: string, ...ranges: readonly number[]): Promise<void> => {
    const folder = openFolder();
    const rows = Array.from({ length: 4000 }, (_, at) => `T${at},paid,m,E,EUR,${at % 90}.25\n`);
    const sum = Array.from({ length: 4000 }, (_, at) => (at % 90) + 0.25).reduce((one, other) => one + other);
    const path = join(folder, "sales.csv");
    const last = kind === "total" ? sum : sum + 0.01;
    writeFileSync(path, `id,state,by,event,currency,start\n${rows.join("")}4000,paid,m,,,${last}\n`);
    const plan = (count: number, rangeBytes: number, mostGiven = 1_000_000) =>
      planned(folder, [path], { count, leastBytes: 0, rangeBytes, mostGiven }, { actions: [PRICED] });
    const alone = await plan(0, 0);
    const told = alone.tallies.filter(({ rule }) => rule === "totals-line");
    expect(told.map(({ first }) => first.line)).toEqual(kind === "total" ? [4002] : []);
    for (const rangeBytes of ranges) expect(await plan(3, rangeBytes)).toEqual(alone);
    for (const count of [0, 3]) expect(await plan(count, 3000, 1000)).toEqual(alone);
  };
  it("tells a last line as a sum wherever the rows before it were read", () => isToldAsSum("total", 3000));
  it("tells a last line as a sum in few ranges too", { tags: ["long"] }, () => isToldAsSum("total", 60_000));
  it("tells a last line that is no sum as a row", { tags: ["long"] }, () => isToldAsSum("sale", 3000, 60_000));

  it("tells events that rows far from each other tell differently, by the same rows", { tags: ["long"] }, async () => {
    const folder = openFolder();
    const rows = Array.from(
      { length: 4000 },
      (_, at) => `T${at},paid,m,E${at % 7},${at < 3500 || at % 7 > 2 ? "EUR" : "CHF"},${at === 2600 ? 2 : 1}\n`,
    );
    const path = join(folder, "sales.csv");
    writeFileSync(path, `id,state,by,event,currency,start\n${rows.join("")}`);
    const source: SourceConfig = { fields: { eventId: "{event}" }, actions: [EVENT, PRICED] };
    const plan = (count: number, rangeBytes: number) =>
      planned(folder, [path], { count, leastBytes: 0, rangeBytes }, source);
    const alone = await plan(0, 0);
    const told = alone.tallies.find(({ rule }) => rule === "event-told-differently");
    expect(told).toMatchObject({ count: 4, first: { line: 2602, field: "startTime" } });
    for (const rangeBytes of [3000, 60_000]) expect(await plan(3, rangeBytes)).toEqual(alone);
  });

  it("of cells that are filled from the rows above is that of one thread, however small its ranges", async () => {
    const folder = openFolder();
    const path = join(folder, "sales.csv");
    const rows = Array.from({ length: 4000 }, (_, at) => `T${at},paid,${at % 1500 === 0 ? `m${at}` : ""},E,EUR,1\n`);
    writeFileSync(path, `id,state,by,event,currency,start\n${rows.join("")}`);
    const plan = (count: number, mostGiven = 1_000_000) =>
      planned(
        folder,
        [path],
        { count, leastBytes: 0, rangeBytes: 1000, mostGiven },
        { fillDown: "by", actions: [PRICED] },
      );
    const alone = await plan(0);
    expect(alone.result.rows).toMatchObject({ read: 4000, mapped: 4000 });
    expect(alone.tallies.map(({ rule }) => rule)).not.toContain("fill-down-empty");
    expect(await plan(3)).toEqual(alone);
    for (const count of [0, 3]) expect(await plan(count, 500)).toEqual(alone);
  });

  it("of rows with a key that give several deeds knows those that tickets:actions leaves out", {
    tags: ["long"],
  }, async () => {
    const folder = openFolder();
    const path = join(folder, "scans.csv");
    // What is left out of every second row says something else than the row before; what it gives is new.
    const rows = Array.from(
      { length: 4000 },
      (_, at) => `K${at >> 1},${at % 2 === 0 ? "1;3" : "2;3;4,3:scannedTicket"}`,
    );
    writeFileSync(
      path,
      `id,times,tickets:actions\n${rows.map((row, at) => (at % 2 === 0 ? `${row},` : row)).join("\n")}\n`,
    );
    const source: SourceConfig = {
      key: "{id}",
      actions: [
        {
          scannedTicket: {
            each: { in: "{times}", match: "(?<at>[0-9])" },
            fields: { ticketId: "{id}", orderTime: "17686000{item.at}0" },
          },
        },
      ],
    };
    const plan = (count: number, mostGiven = 1_000_000) =>
      planned(folder, [path], { count, leastBytes: 0, rangeBytes: 3000, mostGiven }, source);
    const alone = await plan(0);
    expect(alone.tallies.map(({ rule }) => rule)).not.toContain("key-shared");
    expect(alone.result).toMatchObject({ rows: { read: 4000, mapped: 4000 }, actions: { total: 6000 } });
    expect(await plan(3)).toEqual(alone);
    for (const count of [0, 3]) expect(await plan(count, 400)).toEqual(alone);
  });

  it("is byte for byte that of one thread, with all that is said of the rows", { tags: ["long"] }, async () => {
    const folder = openFolder();
    const events = join(folder, "events.csv");
    writeFileSync(events, "eventId,currency\nE0,EUR\nE1,JPY\n");
    const path = join(folder, "sales.csv");
    const setting = fc.tuple(
      fc.array(saleRow, { minLength: 200, maxLength: 600 }),
      fc.integer({ min: 1000, max: 400_000 }),
      fc.constantFrom(1, 700, 20_000, 2_000_000),
      fc.integer({ min: 2, max: 4 }),
      fc.option(fc.constantFrom('E0,a"b,c,1,2\n', Buffer.of(0xff)), { freq: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(setting, async ([rows, rangeBytes, mostGiven, count, fault]) => {
        const more = Array.from(
          { length: 7000 },
          (_, at) => `E${at % 2},N${at},"u, ${at}",${at % 97 === 0 ? "1.505" : "10.00"},${1_768_600_000 + at}\n`,
        );
        const half = rows.length >> 1;
        writeFileSync(
          path,
          Buffer.concat([
            Buffer.from(`eventId,ticketId,userId,price,orderTime\n${more.join("")}${rows.slice(0, half).join("")}`),
            fault === null ? Buffer.alloc(0) : Buffer.from(fault),
            Buffer.from(rows.slice(half).join("")),
          ]),
        );
        const inWorkers = await outcome(() =>
          planned(folder, [events, path], { count, leastBytes: 0, rangeBytes, mostGiven }),
        );
        expect(inWorkers).toEqual(await outcome(() => planned(folder, [events, path], { count: 1 })));
      }),
      { numRuns: 8 },
    );
  });

  it("takes nothing of a file that was given up for the rows of the next one", { tags: ["long"] }, async () => {
    const folder = openFolder();
    const paths = ["sales-1.csv", "sales-2.csv"].map((name, file) => {
      const rows = Array.from({ length: 60_000 }, (_, at) => `E,${file}-${at},u,${at % 1000 === 7 ? "free" : "10"}\n`);
      if (file === 0) rows[5000] = 'E,a"b",u,1\n';
      const path = join(folder, name);
      writeFileSync(path, `eventId,ticketId,userId,price\n${rows.join("")}`);
      return path;
    });
    const inWorkers = await planned(folder, paths, { count: 2, leastBytes: 0 });
    expect(inWorkers).toEqual(await planned(folder, paths, { count: 1 }));
  });

  it("is given up at once when a worker has work for hours", async () => {
    const folder = openFolder();
    const path = join(folder, "sales.csv");
    const slow = "x".repeat(2800);
    const rows = Array.from({ length: 12_000 }, (_, at) => `T${at},${at >= 9000 ? slow : "x"}\n`);
    writeFileSync(path, `id,codes\n${rows.join("")}`);
    const source: SourceConfig = {
      each: { in: "{codes}", match: "(?<code>x)(?:(?:x+x+)+y)?" },
      actions: [{ scannedTicket: { fields: { ticketId: "{id}" } } }],
    };
    const stop = new AbortController();
    const onRows = (): void => stop.abort("SIGTERM");
    const planning = planned(folder, [path], { count: 2, leastBytes: 0 }, source, { stop, onRows });
    await expect(planning).rejects.toBe("SIGTERM");
  });

  it.each([
    ["JSON lines of many kinds", flatLine, undefined],
    ["JSON lines of a source", sourceLine, { actions: [SOLD], skip: { state: ["void", "free"] } }],
    ["a source whose values decide", sourceCells, { actions: [SOLD, CHECKED_IN], skip: { state: ["void", "free"] } }],
    [
      "a source that fits nothing",
      sourceCells,
      { actions: [{ soldTicket: { ...SOLD.soldTicket, when: { state: "zz" } } }] },
    ],
    ["a source of events with each of their rows", eventCells, { actions: [EVENT, SOLD], skip: { state: "void" } }],
    ["a source of events only, some with conditions", eventCells, { actions: [PAID_EVENT, CHECKED_IN] }],
    ["sales with lines of totals", pricedCells, { actions: [PRICED] }],
    ["sales with lines of totals, one of them known", pricedCells, { actions: [PRICED], skip: { id: ["Total"] } }],
    ["sales with totals and their events", pricedCells, { fields: { eventId: "{event}" }, actions: [EVENT, PRICED] }],
  ])(
    "is that of one thread, with what it says of the whole file: %s",
    { tags: ["long"] },
    async (_, arbitrary, source) => {
      const folder = openFolder();
      const isTable = arbitrary !== flatLine && arbitrary !== sourceLine;
      const path = join(folder, isTable ? "sales.csv" : "sales.ndjson");
      const setting = fc.tuple(
        fc.array(arbitrary, { minLength: 20, maxLength: 60 }),
        fc.integer({ min: 1000, max: 100_000 }),
        fc.integer({ min: 2, max: 4 }),
      );
      await fc.assert(
        fc.asyncProperty(setting, async ([lines, rangeBytes, count]) => {
          const many = Array.from(
            { length: 12_000 },
            (_unused, at) => lines[(at * at + (at >> 7)) % lines.length]?.(at) ?? "",
          );
          writeFileSync(path, `${isTable ? "id,state,by,event,currency,start\n" : ""}${many.join("\n")}\n`);
          const inWorkers = await planned(folder, [path], { count, leastBytes: 0, rangeBytes }, source);
          expect(inWorkers).toEqual(await planned(folder, [path], { count: 1 }, source));
        }),
        { numRuns: 5 },
      );
    },
  );
});
