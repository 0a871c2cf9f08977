/**
 * Worlds played by the program: it is given each night's file, the sandbox loses answers, rejects items and sees the program die,
 * and a person settles by the sandbox's record. What was accepted is what that record says.
 */

import { rmSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import { expect } from "vitest";
import { CRASH_POINTS } from "../../../src/disk/crash-points.ts";
import { type Engine, openEngine } from "../../../src/sandbox/engine.ts";
import type { FaultScript } from "../../../src/sandbox/faults.ts";
import { startSandbox } from "../../../src/sandbox/server.ts";
import { type Ended, openWorkplace, type RunOptions, type Workplace } from "../bin.ts";
import { type Cells, readPromises, readTable } from "../tables.ts";
import { judge, Ledger, positionOf, type Row, type Verdict } from "./rules.ts";
import {
  type Findings,
  inWords,
  type Night,
  OTHER_TICKET,
  type Outcome,
  playWorld,
  type Random,
  ticketOf,
  type World,
} from "./world.ts";

/** What the program made of a row, beside the verdict of the rules. */
interface Compared {
  readonly verdict: Verdict;
  /** `sent`, `silent` where it said nothing of it, or the rules by which it told it. */
  readonly product: string;
}

export interface Played extends Findings {
  readonly compared: readonly Compared[];
  readonly doubts: number;
  readonly kills: number;
  /** For a failure. */
  readonly story: string;
}

export async function playByProduct(world: World, random: Random): Promise<Played> {
  await using desk = await openDesk(world, random);
  const nights = playWorld(world, random);
  let step = nights.next();
  while (step.done !== true) step = nights.next(await desk.night(step.value));
  return { ...step.value, ...desk.told() };
}

/** A row without a time is no news, and contents may come back at once. */
const configOf = (url: string): string => `environments:
  playground:
    baseUrl: ${url}
    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}
    chunkSize: 8
    output: ${PROMISES}
rules: {order-time-missing: off, resold-to-holder: off}
`;
const PROMISES = "promises.ndjson";

const STEMS: Readonly<Record<string, string>> = {
  updateTicket: "updates",
  resoldTicket: "resales",
  scannedTicket: "scans",
};

async function openDesk(world: World, random: Random) {
  const place = openWorkplace({ isWarm: true });
  const engine = openEngine({ path: ":memory:", accept: ["resold-to-holder"] });
  const sandbox = await startSandbox({ engine });
  place.write("tickets.config.yaml", configOf(sandbox.url));
  const env = { TICKETS_PLAYGROUND_API_KEY: sandbox.apiKey, TICKETS_STATE_DIR: place.path("state") };
  const story: string[] = [inWords(world)];
  const told = { compared: [] as Compared[], doubts: 0, kills: 0 };

  const tickets = async (args: readonly string[], own: RunOptions["env"] = {}): Promise<Ended> => {
    const ended = await place.tickets([...args, "--env", "playground"], { env: { ...env, ...own } });
    story.push(`$ tickets ${args.join(" ")}`, ended.stderr, `exit ${ended.exitCode ?? "by a kill"}`);
    return ended;
  };
  place.write("setup.ndjson", setupOf(world));
  expect((await tickets(["stream", "setup.ndjson"])).exitCode).toBe(0);
  const record = openRecord(place, engine);
  record.take();

  /** Streams a file until all of it is done: after a kill and after a doubt, the same command again. */
  async function stream(name: string, trouble: Trouble): Promise<void> {
    const point = CRASH_POINTS[Math.floor(random() * CRASH_POINTS.length)];
    let own = trouble === "kill" ? { TICKETS_TEST_CRASH_AT: `${point}:${1 + Math.floor(random() * 2)}` } : {};
    for (;;) {
      const { exitCode, stdout } = await tickets(["stream", name, "--max-invalid", "100%", "--json"], own);
      own = {};
      if (exitCode === null) told.kills += 1;
      else if (exitCode === 6) await settle(stdout);
      else {
        expect([0, 3, 4], story.join("\n")).toContain(exitCode);
        return;
      }
    }
  }

  async function settle(stdout: string): Promise<void> {
    told.doubts += 1;
    const { run, resumed } = JSON.parse(stdout) as { run: string | null; resumed: { run: string } | null }; // docs/cli.md
    const answer = record.hasMore() ? "--sent" : "--not-sent";
    const settled = await tickets(["settle", resumed?.run ?? run ?? "", answer, "--reason", "looked"]);
    expect(settled.exitCode, story.join("\n")).toBe(0);
  }

  /** By line, the rules that name it before the file is sent. */
  async function check(name: string): Promise<ReadonlyMap<number, string>> {
    const { stdout } = await tickets(["validate", name, "--json"]);
    const { problems } = JSON.parse(stdout) as { problems: readonly { line: number; rule: string }[] }; // docs/cli.md
    return new Map(problems.map(({ line, rule }) => [line, rule]));
  }

  const ledger = new Ledger();
  /** Rows of the last rejects file, by their number. */
  let rejects: ReadonlyMap<number, Cells> = new Map();

  async function night({ rows, is }: Night): Promise<Outcome> {
    const stem = `${STEMS[world.kind]}${is === "corrected" ? "-corrected" : ""}`;
    const marks = is === "corrected" ? rejects : new Map<number, Cells>();
    const table = stringify(
      rows.map((row) => ({ ...cellsOf(row), ...marksOf(marks.get(row.id)) })),
      { header: true },
    );
    place.write(`${stem}.csv`, table);
    story.push(table);
    const problems = await check(`${stem}.csv`);
    const trouble = is === "last" ? "none" : troubleOf(random());
    sandbox.setFaults(faultsOf(trouble, random));
    await stream(`${stem}.csv`, trouble);
    const accepted = record.take().map((line) => rows[line - 2]?.id ?? 0);
    rejects = takeRejects(place, `${stem}.rejects.csv`);

    // What the rules say of the same rows behind what was really accepted.
    ledger.run += 1;
    const named = new Map<number, string>();
    const positions = new Map<number, number>();
    for (const [at, judged] of judge(rows, ledger, world.form !== "delta" && is !== "corrected").entries()) {
      const { id } = judged.row;
      const isSent = accepted.includes(id);
      const rule = problems.get(at + 2) ?? (rejects.has(id) ? "rejected" : undefined);
      if (isSent) ledger.accept(judged, positionOf(ledger.run, at));
      else if (rule !== undefined) named.set(id, rule);
      positions.set(id, judged.position);
      told.compared.push({ verdict: judged.verdict, product: isSent ? "sent" : (rule ?? "silent") });
    }
    return { accepted, told: named, rejects: [...rejects.keys()].map((id) => ({ id, position: positions.get(id) })) };
  }

  return {
    night,
    told: () => ({ ...told, story: story.join("\n") }),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      engine.close();
    },
  };
}

/** By the service, or by a person, which has no promise. */
const isAccepted = (status: string): boolean => status === "success" || status.startsWith("settled");

/** What the promises file says of new lines, held to what the service has processed. */
function openRecord(place: Workplace, engine: Engine) {
  let [linesSeen, seqSeen] = [0, 0];
  const processed = () => [...engine.processed({ after: seqSeen })].filter(({ status }) => status === "success");
  const promised = () =>
    readPromises(place.read(PROMISES))
      .slice(linesSeen)
      .filter(({ status }) => isAccepted(status));
  return {
    /** The service took what has no line yet. */
    hasMore: (): boolean => processed().length > promised().length,
    /** Lines of the input that were accepted since, in the order of the service. */
    take(): readonly number[] {
      const [lines, record] = [promised(), processed()];
      expect(lines.map(({ action, ticketId, actionPromise }) => [action, ticketId, actionPromise])).toEqual(
        record.map(({ action, ticketId, actionPromise }, at) => [
          action,
          ticketId ?? undefined,
          lines[at]?.status === "success" ? actionPromise : undefined,
        ]),
      );
      linesSeen = readPromises(place.read(PROMISES)).length;
      seqSeen = record.at(-1)?.seq ?? seqSeen;
      return lines.map(({ line }) => line);
    },
  };
}

/** The rows of a rejects file by their number; it is gone after it. */
function takeRejects(place: Workplace, name: string): ReadonlyMap<number, Cells> {
  if (!place.files().includes(name)) return new Map();
  const rows = readTable(place.read(name));
  rmSync(place.path(name));
  return new Map(rows.map((row) => [Number(row.no), row]));
}

/** The columns by which the program knows a row of its rejects again. */
const marksOf = (cells: Cells = {}): Cells =>
  Object.fromEntries(Object.entries(cells).filter(([column]) => column.startsWith("tickets:")));

/** The number is a column that no action uses. A bad row stays the same text. */
function cellsOf({ id, kind, subject, content, time, isValid }: Row): Cells {
  const orderTime = isValid ? String(time ?? "") : `bad ${id}`;
  const cells = { no: String(id), ticketId: subject };
  if (kind === "scannedTicket") return { ...cells, orderTime };
  if (kind === "resoldTicket") return { ...cells, userId: `u-${content}`, price: "1.00", orderTime };
  return { ...cells, imageUrl: isValid ? `https://cdn.example/${content}.png` : `ftp://bad/${id}` };
}

function setupOf({ tickets }: World): string {
  const ids = [OTHER_TICKET, ...Array.from({ length: tickets }, (_, at) => ticketOf(at))];
  const sale = { eventId: "E", userId: "u", price: "1.00", orderTime: 1_600_000_000 };
  return [
    { action: "newEvent", data: { eventId: "E", eventName: "Fair", currency: "EUR" } },
    ...ids.map((ticketId) => ({ action: "soldTicket", data: { ...sale, ticketId } })),
  ]
    .map((item) => `${JSON.stringify(item)}\n`)
    .join("");
}

/** What goes wrong tonight; a lost answer and a kill are settled for a whole chunk, so nothing else is wrong then. */
type Trouble = "none" | "rejections" | "lost before" | "lost after" | "kill";

function troubleOf(chance: number): Trouble {
  if (chance < 0.1) return "lost before";
  if (chance < 0.2) return "lost after";
  if (chance < 0.3) return "kill";
  return chance < 0.4 ? "none" : "rejections";
}

function faultsOf(trouble: Trouble, random: Random): FaultScript {
  const seed = Math.floor(random() * 1_000_000);
  const on = { request: 1 + Math.floor(random() * 2) };
  switch (trouble) {
    case "rejections":
      return { seed, rules: [{ fault: "failure-items", items: { probability: 0.1 } }] };
    case "lost before":
      return { seed, rules: [{ on, fault: "drop", when: "before" }] };
    case "lost after":
      return { seed, rules: [{ on, fault: "drop", when: "after" }] };
    default:
      return { seed, rules: [] };
  }
}
