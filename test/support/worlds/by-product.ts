/**
 * Worlds played by the program: it is given each night's file, the sandbox loses answers, rejects items and sees the program die,
 * and a person settles by the sandbox's record. What was accepted is what that record says.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import { expect } from "vitest";
import { CRASH_POINTS } from "../../../src/disk/crash-points.ts";
import { type SettleOptions, type StreamOptions, type Surroundings, settle, stream } from "../../../src/library.ts";
import type { CheckedInput } from "../../../src/run/context.ts";
import type { StreamResult } from "../../../src/run/stream.ts";
import type { FaultScript } from "../../../src/sandbox/faults.ts";
import { openRig, type Rig } from "../invariant/rig.ts";
import { sharedLedger } from "../shared-ledger.ts";
import { type Cells, type PromiseLine, readPromises, readTable } from "../tables.ts";
import { type Judged, judge, Ledger, positionOf, type Row, type Verdict } from "./rules.ts";
import {
  inWords,
  type Night,
  OTHER_TICKET,
  type Outcome,
  type Problems,
  playWorld,
  type Random,
  ticketOf,
  type World,
} from "./world.ts";

export async function playByProduct(world: World, random: Random): Promise<Problems & { readonly story: string }> {
  const desk = await openDesk(configOf(world));
  const player = new Player(desk, world, random);
  await player.begin();
  const nights = playWorld(world, random);
  let step = nights.next();
  while (step.done !== true) step = nights.next(await player.night(step.value));
  return { ...step.value, story: player.story.join("\n") };
}

/** Rows without a time are no news; contents may come back at once; a world need not stop for times that fall. */
const configOf = ({ kind, isKeyed, isMixed }: World): string => {
  const kinds = isMixed ? Object.keys(FIELDS) : [kind];
  const actions = kinds.map((name) => ({ [name]: { when: { kind: name }, fields: FIELDS[name] } }));
  const moves = { match: "*.csv", ...(isKeyed && { key: "{no}" }), actions };
  return `
rules: {order-time-missing: off, resold-to-holder: off, times-fall: warn, nothing-recognised: off}
${isKeyed || isMixed ? `sources: ${JSON.stringify({ moves })}` : ""}
`;
};

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  updateTicket: { ticketId: "{ticketId}", imageUrl: "{imageUrl}" },
  resoldTicket: { ticketId: "{ticketId}", userId: "{userId}", price: "{price}", orderTime: "{orderTime}" },
  scannedTicket: { ticketId: "{ticketId}", orderTime: "{orderTime}" },
};

const COLUMNS = ["no", "kind", "ticketId", "imageUrl", "userId", "price", "orderTime"] as const;

const STEMS: Readonly<Record<string, string>> = {
  updateTicket: "updates",
  resoldTicket: "resales",
  scannedTicket: "scans",
  claimedTicket: "claims",
};

const FLAGS = { chunkSize: 8, retries: 0, timeout: "5s" };

/** In some worlds chunks are sent side by side. */
const LANES = 3;

class Player {
  readonly story: string[];
  readonly #desk: Desk;
  readonly #world: World;
  readonly #random: Random;
  readonly #lanes: number;
  /** What the rules know: what was really accepted. */
  readonly #ledger = new Ledger();
  /** What the rules say of the present file, and the rows of it that were accepted, in the order of the service. */
  #judged: readonly Judged[] = [];
  #accepted: number[] = [];
  #linesSeen = 0;
  #seqSeen = 0;
  /** After a kill it is unknown how often the program has looked at a file. */
  #isCompared = true;
  /** Rows of rejects files as they were written last, by their number. */
  readonly #rejects = new Map<number, Cells>();

  constructor(desk: Desk, world: World, random: Random) {
    this.#desk = desk;
    this.#world = world;
    this.#random = random;
    this.#lanes = random() < 0.3 ? LANES : 1;
    this.story = [inWords(world)];
  }

  async begin(): Promise<void> {
    const tickets = [OTHER_TICKET, ...Array.from({ length: this.#world.tickets }, (_, at) => ticketOf(at))];
    const sales = tickets.map((ticketId) => ({
      action: "soldTicket",
      data: { eventId: "E", ticketId, userId: "u", price: "18.00", orderTime: 1_600_000_000 },
    }));
    const actions = [{ action: "newEvent", data: { eventId: "E", currency: "EUR" } }, ...sales];
    this.#desk.place.write("setup.ndjson", actions.map((action) => `${JSON.stringify(action)}\n`).join(""));
    expect((await this.#desk.stream("setup.ndjson")).summary.exitCode).toBe(0);
    this.#record();
  }

  async night({ rows, is }: Night): Promise<Outcome> {
    const desk = this.#desk;
    const stem = `${STEMS[this.#world.kind]}${is === "corrected" ? "-corrected" : ""}`;
    const cells = (row: Row): Cells => ({
      ...cellsOf(row),
      ...(is === "corrected" && marksOf(this.#rejects.get(row.id))),
    });
    const columns = is === "corrected" ? [...COLUMNS, "tickets:reason", "tickets:row"] : COLUMNS;
    const table = stringify(rows.map(cells), { header: true, columns: [...columns] });
    desk.place.write(`${stem}.csv`, table);
    this.story.push(table);
    this.#accepted = [];
    this.#judge(rows, is);
    const chance = this.#random();
    // Of a chunk that is settled as sent all was taken: no second claims, which the sandbox refuses, and no other chunk at once.
    const isWhole = this.#world.kind !== "claimedTicket" && this.#lanes === 1;
    const trouble = is === "last" ? "none" : isWhole ? troubleOf(chance) : "rejections";
    desk.sandbox.setFaults(faultsOf(trouble, this.#random));
    const reported = await this.#stream(`${stem}.csv`, trouble, rows, is);
    const rejects = this.#takeRejects(`${stem}.rejects.csv`);
    for (const [id, row] of rejects) this.#rejects.set(id, row);

    const named = new Map<number, string>();
    for (const { row, verdict } of this.#judged) {
      if (this.#accepted.includes(row.id) || verdict === "known") continue;
      if (rejects.has(row.id)) named.set(row.id, verdict);
      else if (!this.#isCompared || reported.has(row.id)) named.set(row.id, verdict);
    }
    return {
      accepted: this.#accepted,
      reported: named,
      rejects: this.#judged
        .filter(({ row }) => rejects.has(row.id))
        .map(({ row, position }) => ({ row, position, isUnclear: wasUnclear(rejects.get(row.id)) })),
    };
  }

  /** Streams a file until all of it is done: after a kill and after a doubt, the same again. @returns ids of rows that were reported. */
  async #stream(name: string, trouble: Trouble, rows: readonly Row[], is: Night["is"]): Promise<ReadonlySet<number>> {
    const reported = new Set<number>();
    const checked = ({ plan, problems }: CheckedInput): void => {
      this.#record();
      this.#judge(rows, is);
      this.story.push(...problems.kept.map(({ line, rule, message }) => `${line} ${rule}: ${message}`));
      this.#compare(plan);
      for (const { line } of problems.kept) reported.add(rows[line - 2]?.id ?? 0);
      if (is !== "corrected") this.#ledger.noteExport(this.#judged);
      for (const judged of this.#judged) if (judged.verdict === "known") this.#ledger.correct(judged);
    };
    const flags = { ...FLAGS, lanes: this.#lanes };
    const options = { flags, maxInvalid: { percent: 100 } } as const;
    if (trouble === "kill") {
      const point = CRASH_POINTS[Math.floor(this.#random() * CRASH_POINTS.length)];
      await this.#desk.streamAndDie(name, `${point}:${1 + Math.floor(this.#random() * 2)}`, options);
      this.#isCompared = false;
      this.story.push(`killed at ${point}`);
    }
    for (;;) {
      const result = await this.#desk.stream(name, {
        ...options,
        progress: { happened: (event) => event.kind === "input checked" && checked(event) },
      });
      this.story.push(JSON.stringify(result.summary));
      if (result.summary.exitCode !== 6) {
        expect([0, 4], this.story.join("\n")).toContain(result.summary.exitCode);
        this.#record();
        return reported;
      }
      await this.#settle(result);
    }
  }

  async #settle({ summary: { run, resumed } }: StreamResult): Promise<void> {
    const decision = this.#processed().length > this.#promised().length ? "sent" : "not-sent";
    const inDoubt = resumed?.run ?? run;
    await this.#desk.settle({ ...(inDoubt !== null && { run: inDoubt }), decision });
    this.story.push(`settled as ${decision}`);
  }

  #judge(rows: readonly Row[], is: Night["is"]): void {
    this.#ledger.run += 1;
    this.#judged = judge(rows, this.#ledger, is !== "corrected" && this.#ledger.showsAgain());
  }

  #compare(plan: CheckedInput["plan"]): void {
    if (!this.#isCompared) return;
    const verdicts = new Map(plan.verdicts().map(({ line, verdict }) => [line, NAMES[verdict]]));
    const byProduct = this.#judged.map(({ row }, at) => `${row.id} ${verdicts.get(at + 2)}`);
    const byRules = this.#judged.map(({ row, verdict }) => `${row.id} ${verdict}`);
    expect(byProduct, this.story.join("\n")).toEqual(byRules);
  }

  #processed() {
    const processed = [...this.#desk.sandbox.engine.processed({ after: this.#seqSeen })];
    return processed.filter(({ status }) => status === "success");
  }

  #promised() {
    const lines = this.#desk.promises().slice(this.#linesSeen);
    return lines.filter(({ status }) => status === "success" || status === "settled");
  }

  /** Takes what was accepted since: what the promises file says, held to what the service has processed. */
  #record(): void {
    const [lines, processed] = [this.#promised(), this.#processed()];
    // Lanes write their promises side by side.
    const lineOf = Map.groupBy(lines, ({ actionPromise }) => actionPromise);
    const inOrder =
      this.#lanes === 1 ? lines : processed.flatMap((each) => lineOf.get(each.actionPromise ?? undefined) ?? []);
    expect(inOrder.map(({ action, ticketId, actionPromise }) => [action, ticketId, actionPromise])).toEqual(
      processed.map(({ action, ticketId, actionPromise }, at) => [
        action,
        ticketId ?? undefined,
        inOrder[at]?.status === "success" ? actionPromise : undefined,
      ]),
    );
    expect(inOrder).toHaveLength(lines.length);
    this.#linesSeen = this.#desk.promises().length;
    this.#seqSeen = processed.at(-1)?.seq ?? this.#seqSeen;
    for (const { line } of inOrder) {
      const judged = this.#judged[line - 2];
      if (judged === undefined) continue;
      this.#ledger.accept(judged, positionOf(this.#ledger.run, line - 2));
      this.#accepted.push(judged.row.id);
    }
    // A corrected row that says what another row of its file says was accepted with that one.
    for (const judged of this.#judged) if (judged.verdict === "known") this.#ledger.correct(judged);
  }

  /** The rows of a rejects file by their number; it is gone after it. */
  #takeRejects(name: string): ReadonlyMap<number, Cells> {
    const { place } = this.#desk;
    if (!existsSync(place.path(name))) return new Map();
    const rows = readTable(place.read(name));
    rmSync(place.path(name));
    return new Map(rows.map((row) => [Number(row.no), row]));
  }
}

const NAMES: Readonly<Record<string, Verdict>> = {
  ...{ new: "new", sent: "known", changed: "changed", late: "late", unclear: "unclear", held: "held", bad: "bad" },
};

/** The columns by which the program knows a row of its rejects again. */
const marksOf = (cells: Cells = {}): Cells =>
  Object.fromEntries(Object.entries(cells).filter(([column]) => column.startsWith("tickets:")));

/** What its line in the rejects says first: after a doubt the same night may judge it otherwise, and the line stays. */
const wasUnclear = (cells: Cells = {}): boolean => cells["tickets:row"]?.startsWith("?") === true;

/** The number is a column that no action uses, unless it is the key, and so is the kind where all are of one. A bad row stays the same text. */
function cellsOf({ id, kind, subject, content, time, isValid }: Row): Cells {
  const orderTime = isValid ? String(time ?? "") : `bad ${id}`;
  const cells = { no: String(id), kind, ticketId: subject };
  if (kind === "scannedTicket") return { ...cells, orderTime };
  if (kind === "claimedTicket") return { ...cells, userId: `u-${content}`, orderTime };
  if (kind === "resoldTicket") return { ...cells, userId: `u-${content}`, price: "1.00", orderTime };
  return { ...cells, imageUrl: isValid ? `https://cdn.example/${content}.png` : `ftp://bad/${id}` };
}

/** What goes wrong tonight; a lost answer and a kill are settled for a whole chunk, so nothing else is wrong then. */
type Trouble = "none" | "rejections" | "lost before" | "lost after" | "kill";

function troubleOf(chance: number): Trouble {
  if (chance < 0.1) return "lost before";
  if (chance < 0.2) return "lost after";
  if (chance < 0.21) return "kill";
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

/** An environment of a world's own: what the sandbox took is what its record says. */
interface Desk extends Rig {
  readonly stream: (name: string, more?: Partial<StreamOptions>) => Promise<StreamResult>;
  readonly settle: (options: SettleOptions) => Promise<unknown>;
  /** Streams in a process that is killed at a moment, as `settled:2`, if it comes so far. */
  readonly streamAndDie: (name: string, moment: string, more: Partial<StreamOptions>) => Promise<void>;
  /** The lines of the promises file. */
  readonly promises: () => readonly PromiseLine[];
}

/** `LEDGER=postgres` plays the worlds with a ledger there. */
const IS_LEDGER_SHARED = process.env.LEDGER === "postgres";

async function openDesk(config: string): Promise<Desk> {
  const shared = IS_LEDGER_SHARED ? await sharedLedger() : undefined;
  const rig = await openRig({ shared, accept: ["resold-to-holder"] });
  const { place, env } = rig;
  place.write("tickets.config.yaml", `${shared?.config ?? ""}${config}`);
  const surroundings = { environment: "playground", cwd: place.folder, env, flags: FLAGS } satisfies Surroundings;
  const streaming = (name: string): StreamOptions => ({ ...surroundings, files: [name], output: "promises.ndjson" });
  return {
    ...rig,
    stream: (name, more) => stream({ ...streaming(name), ...more }),
    settle: (options) => settle({ ...surroundings, reason: "looked", ...options }),
    streamAndDie: (name, moment, more) => die({ ...streaming(name), ...more }, moment),
    promises: () => (existsSync(place.path("promises.ndjson")) ? readPromises(place.read("promises.ndjson")) : []),
  };
}

const VICTIM = `
import { stream } from ${JSON.stringify(new URL("../../../src/library.ts", import.meta.url).href)};
await stream(JSON.parse(process.argv[1]));
`;

async function die(options: StreamOptions, moment: string): Promise<void> {
  const env = { ...process.env, TICKETS_TEST_CRASH_AT: moment };
  const args = ["--input-type=module", "--eval", VICTIM, "--", JSON.stringify(options)];
  const victim = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  victim.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = (await once(victim, "close")) as [number | null]; // as Node says
  if (code !== null && code !== 0) throw new Error(said);
}
