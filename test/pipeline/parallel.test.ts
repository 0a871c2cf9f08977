/** Workers make the same plan as one thread, byte for byte, wherever the input is cut. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { severityTable } from "../../src/checks/severity.ts";
import { ALL_RULES } from "../../src/commands/session.ts";
import { createMapper } from "../../src/mapping/mapper.ts";
import type { Row } from "../../src/mapping/row.ts";
import { NOTHING_PENDING } from "../../src/pipeline/ledger/pending.ts";
import type { WorkerOptions } from "../../src/pipeline/plan/parallel.ts";
import { planFiles } from "../../src/pipeline/plan/plan.ts";
import { makePlan } from "../../src/pipeline/plan/planner.ts";
import { createProblemLog } from "../../src/pipeline/problems.ts";
import { openInput, rangeParser } from "../../src/pipeline/readers/input.ts";
import { resolveInputs } from "../../src/pipeline/readers/inputs.ts";

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-parallel-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

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
  for await (const part of input.parts(rangeBytes)) {
    if (part.kind === "rows") rows.push(...part.rows);
    else {
      if (how === undefined) throw new Error("ranges of an input that has none");
      const parser = rangeParser(how, part.lineEnds);
      rows.push(...parser.take(part.bytes));
      if (part.isLast && !parser.stopped) rows.push(...parser.end());
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
    fc.constantFrom("a", "Ü東", '"b,c"', '"line\none"', '"line\r\ntwo ""q"""', ""),
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

describe("an input in ranges", () => {
  it("gives the rows, lines and failures that it gives when read in one go", async () => {
    const path = join(openFolder(), "nasty.csv");
    await fc.assert(
      fc.asyncProperty(nastyCsv, fc.integer({ min: 1, max: 300_000 }), async (bytes, rangeBytes) => {
        writeFileSync(path, bytes);
        expect(await outcome(() => rowsInRanges(path, rangeBytes))).toEqual(await outcome(() => sequentialRows(path)));
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ["a quote that never closes", '"open', 9],
    ["a row over the limit", `"${"x,\n".repeat(500_000)}",b\na,b\n`, 3],
    ["a row over the limit with a fault", `"${"x,\n".repeat(500_000)}"y,b\na,b\n`, 3],
  ])("reads on alone after %s of megabytes", async (_, text, times) => {
    const path = join(openFolder(), "long.csv");
    writeFileSync(path, filler("\n") + text + "z,z\n".repeat(times * 100_000));
    expect(await rowsInRanges(path, 70_000)).toEqual(await sequentialRows(path));
  });
});

/** A whole plan: its files, and what was said. */
async function planned(folder: string, paths: readonly string[], workers: WorkerOptions) {
  const directory = mkdtempSync(join(folder, "plan-"));
  rmSync(directory, { recursive: true });
  const problems = createProblemLog(500);
  const files = await resolveInputs(paths);
  const { manifest, ...result } = await makePlan({
    files,
    directory,
    run: "run",
    copyInputs: false,
    reading: {},
    mapperFor: async (file, input) => {
      const settings = {
        fileName: file.name.split("/").at(-1) ?? "",
        ...(input.header !== undefined && { header: input.header }),
      };
      const mapper = createMapper(settings);
      return { mapper, settings: mapper.remembersRows ? undefined : settings };
    },
    readingOf: () => ({}),
    mappingDigest: "",
    environment: undefined,
    ledger: undefined,
    pending: NOTHING_PENDING,
    again: false,
    limit: Number.POSITIVE_INFINITY,
    order: "input",
    lanes: 1,
    reportVanished: false,
    maxInvalid: { percent: 100 },
    severities: severityTable({}, ALL_RULES),
    workers,
    problems,
    onUnderstood: () => undefined,
    onRows: () => undefined,
    onOrdered: () => undefined,
    runOptions: { directory: folder, safeCsv: false },
    now: () => new Date(0),
    signal: new AbortController().signal,
  });
  const paths_ = planFiles(directory);
  const bytes =
    manifest === undefined
      ? undefined
      : [paths_.actions, paths_.index, paths_.invalid, paths_.manifest].map((path) => readFileSync(path, "hex"));
  return { result, bytes, kept: problems.kept, tallies: problems.tallies };
}

/** Sales, some of which are unsound in a way that only their own row, or only another row, tells. */
const saleRow = fc.tuple(fc.nat(9000), fc.nat(30)).map(([number, kind]) => {
  const [ticket, price] = [`T${number}`, kind === 0 ? "12,5" : "12.50"];
  if (kind === 1) return `E,${ticket}\n`;
  if (kind === 2) return " , ,,,\n";
  const time = kind < 20 ? String(1_768_600_000 + number) : "";
  return `E${kind % 3},${ticket},"u ""${number}""\n東","${price}",${time}\n`;
});

describe("a plan by workers", () => {
  it("is byte for byte that of one thread, with all that is said of the rows", async () => {
    const folder = openFolder();
    const events = join(folder, "events.csv");
    writeFileSync(events, "eventId,currency\nE0,EUR\nE1,JPY\n");
    const path = join(folder, "sales.csv");
    const setting = fc.tuple(
      fc.array(saleRow, { minLength: 200, maxLength: 600 }),
      fc.integer({ min: 1000, max: 400_000 }),
      fc.integer({ min: 2, max: 4 }),
      fc.option(fc.constantFrom('E0,a"b,c,1,2\n', Buffer.of(0xff)), { freq: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(setting, async ([rows, rangeBytes, count, fault]) => {
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
        const inWorkers = await outcome(() => planned(folder, [events, path], { count, leastBytes: 0, rangeBytes }));
        expect(inWorkers).toEqual(await outcome(() => planned(folder, [events, path], { count: 1 })));
      }),
      { numRuns: 8 },
    );
  });
});
