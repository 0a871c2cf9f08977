/**
 * The list of runs: an append-only file beside the ledger that is written before a run's first request. It holds too little
 * to send by, but enough to notice that the ledger was lost or restored from an older copy. What it says about a run also
 * lies in the run's folder, so that a list restored together with the ledger is noticed too.
 */

import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { nameOfTime } from "../disk/aside.ts";
import { crashPoint } from "../disk/crash-points.ts";
import { Failure } from "../failure.ts";
import { TAKEN } from "./blocks.ts";
import type { Ledger } from "./ledger.ts";
import { isHere } from "./machine.ts";
import { storageFailure } from "./open-ledger.ts";
import { knownOutput } from "./outputs.ts";
import {
  type ChunkRecord,
  chunksOf,
  countRun,
  IMPORTED_MAPPING,
  listRuns,
  type RunRecord,
  undecidedChunks,
} from "./runs.ts";

const COUNT = z.number().int().nonnegative();

/** Actions of a plan that follow each other: the first one's number, and how many. */
const SPAN = z.tuple([COUNT, COUNT]);

/**
 * Counts the entries about a run, from 1. The ledger stores each number before the list has the entry, so only an older copy
 * of the ledger knows a lower one. Earlier versions did not count.
 */
const NUMBER = COUNT.optional();

const entryOf = <Kind extends string, Shape extends z.ZodRawShape>(entry: Kind, shape: Shape) =>
  z.strictObject({ entry: z.literal(entry), at: z.string(), ...shape });

/** What the ledger holds of a run. */
const HELD = { run: z.string(), number: NUMBER, attempts: COUNT, taken: COUNT };
const MACHINE = { machine: z.string(), generation: COUNT };
const BY_PERSON = { who: z.string(), reason: z.string() };

const ENTRY = z.discriminatedUnion("entry", [
  /** Whose list it is from here on: the first line, and again whenever another machine continues it. */
  entryOf("list", { ...MACHINE, host: z.string() }),
  /** A command is about to send for this run. `attempts` and `taken` are what the ledger holds of it by then. */
  entryOf("run", {
    ...HELD,
    createdAt: z.string(),
    boundTo: z.string(),
    actions: COUNT,
    chunks: COUNT,
    output: z.string().nullable(),
    ...MACHINE,
  }),
  /** From here on, the run's promises go to another file. */
  entryOf("output", { run: z.string(), output: z.string() }),
  /** The command has ended, and this is what the ledger holds of the run. */
  entryOf("stopped", {
    ...HELD,
    state: z.string(),
    /** In doubt or refused; and of an open run of a shared ledger what is still to be sent, which others may do. */
    undecided: COUNT,
    rejected: COUNT,
    notSent: COUNT,
    /** What of an open run was never sent. Earlier versions did not say. */
    planned: z.array(SPAN).optional(),
    /** What the run closed unsent. Earlier versions did not say. */
    unsent: z.array(SPAN).optional(),
  }),
  /** A person was told what the ledger lacks of the run; from here on the ledger holds that in doubt. */
  entryOf("doubted", {
    ...HELD,
    /** Earlier versions left it out, and the run was open then. */
    state: z.string().optional(),
    who: z.string(),
    undecided: COUNT,
    planned: z.array(SPAN),
    unsent: z.array(SPAN).optional(),
  }),
  /** A person said that the ledger may do without these runs. */
  entryOf("forgotten", { runs: z.array(z.string()), ...BY_PERSON }),
]);
type Entry = z.infer<typeof ENTRY>;
export type Span = z.infer<typeof SPAN>;

/** How a run was left when a command had ended. */
interface Stopped {
  /** `open`, `finished` or `abandoned`. */
  readonly state: string;
  readonly undecided: number;
  /** Undefined where a person was told what the ledger lacks; nothing is known of it then. */
  readonly rejected: number | undefined;
  readonly planned: readonly Span[];
  readonly unsent: readonly Span[];
}

/** What the list tells of a run. */
interface ListedRun {
  readonly run: string;
  /** Of the latest entry that counts; 0 where none does. */
  readonly number: number;
  readonly createdAt: string;
  readonly boundTo: string;
  readonly actions: number;
  /** Files that hold its promises, the latest last; without those that went to standard output. */
  readonly outputs: readonly string[];
  /** What the ledger held of it at the last entry. */
  readonly attempts: number;
  readonly taken: number;
  /** Undefined when the command that sent for it last was killed. */
  readonly stopped: Stopped | undefined;
  readonly isForgotten: boolean;
}

export interface RunListContent {
  readonly runs: ReadonlyMap<string, ListedRun>;
  /** Undefined where there is no list: then the runs are those that their folders tell of. */
  readonly head: ListHead | undefined;
}

export type ListHead = Readonly<Pick<Extract<Entry, { entry: "list" }>, "machine" | "host" | "generation" | "at">>;

/** An entry as a line of the list, with a checksum, so that a damaged one is told from a true one. */
export function runListLine(entry: Entry): string {
  const text = JSON.stringify(entry);
  return `${text.slice(0, -1)},"sum":"${sumOf(text)}"}\n`;
}

const sumOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

function parseLine(line: string): Entry | undefined {
  const [, text, sum] = /^(.*),"sum":"([0-9a-f]{8})"\}$/.exec(line) ?? [];
  if (text === undefined || sumOf(`${text}}`) !== sum) return undefined;
  return ENTRY.safeParse(JSON.parse(`${text}}`)).data;
}

/** The lines of a file that were written whole, and how many bytes they are. */
interface WholeLines {
  readonly lines: readonly string[];
  readonly length: number;
}

function readLines(path: string): WholeLines {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    if (!existsSync(path)) return { lines: [], length: 0 };
    throw storageFailure(path, cause);
  }
  // An append that a crash cut short; after a power cut zeros may stand in its place, also in front of what arrived of it.
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length -= 1;
  length = bytes.lastIndexOf(NEWLINE, length - 1) + 1;
  for (let start = lastLine(bytes, length); bytes.subarray(start, length).includes(0); start = lastLine(bytes, length))
    length = start;
  return { lines: bytes.toString("utf8", 0, length).split("\n").slice(0, -1), length };
}

/** Where the last of some whole lines begins. */
const lastLine = (bytes: Buffer, length: number): number =>
  length < 2 ? 0 : bytes.lastIndexOf(NEWLINE, length - 2) + 1;

interface ReadList {
  readonly entries: readonly Entry[];
  readonly length: number;
}

function readEntries(path: string): ReadList {
  const { lines, length } = readLines(path);
  const entries = lines.map((line, at) => {
    const entry = parseLine(line);
    if (entry !== undefined) return entry;
    throw new Failure("storage", `The list of runs ${path} is damaged in line ${at + 1}. Nothing was sent.`, {
      hint: 'It shows whether the ledger was lost. Restore it from a backup; or, if you are sure that the ledger is complete, rebuild the list: tickets env NAME --forget-lost --reason "…"',
    });
  });
  return { entries, length };
}

const NEWLINE = 0x0a;

/**
 * What the list and the runs' folders tell. Read it before the ledger is asked: a run is entered there first.
 *
 * @throws Failure `storage` when a line of the list other than a torn last one is damaged.
 */
export function readRunList(path: string): RunListContent {
  const { entries } = readEntries(path);
  return contentOf([...entries, ...toldByFolders(path, entries)]);
}

const runsBeside = (path: string): string => join(dirname(path), "runs");
/** In a run's folder: what the list says of that run. */
const LISTED = "listed.ndjson";

const listedIn = (path: string, run: string): string => join(runsBeside(path), run, LISTED);

/** What the runs' folders tell and the list does not, since it is missing or was restored from an older copy. Oldest first. */
function toldByFolders(path: string, entries: readonly Entry[]): readonly Entry[] {
  const { runs } = contentOf(entries);
  const names = existsSync(runsBeside(path)) ? readdirSync(runsBeside(path)) : [];
  return names
    .map((name) => {
      const known = runs.get(name);
      // Nothing happens to a finished run any more, and most runs are finished.
      if (known?.stopped?.state === "finished") return [];
      // A damaged line is left out: the others also show that the run was begun.
      const told = readLines(listedIn(path, name)).lines.flatMap((line) => parseLine(line) ?? []);
      const from = known === undefined ? 0 : told.findIndex((entry) => numberOf(entry) > known.number);
      return from < 0 ? [] : told.slice(from).filter((entry) => runsOf(entry).includes(name));
    })
    .toSorted(([one], [other]) => ((one?.at ?? "") < (other?.at ?? "") ? -1 : 1))
    .flat();
}

const numberOf = (entry: Entry): number => ("number" in entry ? (entry.number ?? 0) : 0);
const runsOf = (entry: Entry): readonly string[] =>
  "run" in entry ? [entry.run] : entry.entry === "forgotten" ? entry.runs : [];

function contentOf(entries: readonly Entry[]): RunListContent {
  const runs = new Map<string, ListedRun>();
  let head: RunListContent["head"] | undefined;
  const change = (run: string, by: (known: ListedRun) => Partial<ListedRun>): void => {
    const known = runs.get(run);
    if (known !== undefined) runs.set(run, { ...known, ...by(known) });
  };
  for (const entry of entries) {
    switch (entry.entry) {
      case "list":
        head = entry;
        break;
      case "run": {
        const { run, number = 0, createdAt, boundTo, actions, attempts, taken, output } = entry;
        const outputs = withOutput(runs.get(run)?.outputs ?? [], output);
        const rest = { stopped: undefined, isForgotten: false };
        runs.set(run, { run, number, createdAt, boundTo, actions, attempts, taken, outputs, ...rest });
        break;
      }
      case "output":
        change(entry.run, ({ outputs }) => ({ outputs: withOutput(outputs, entry.output) }));
        break;
      case "stopped":
      case "doubted":
        change(entry.run, (known) => (entry.entry === "stopped" && saysLess(entry, known) ? {} : leftAs(entry)));
        break;
      case "forgotten":
        for (const run of entry.runs) change(run, () => ({ isForgotten: true }));
        break;
    }
  }
  return { runs, head };
}

function leftAs(entry: Extract<Entry, { entry: "stopped" | "doubted" }>): Partial<ListedRun> {
  const { number = 0, state = "open", attempts, taken, undecided, planned = [], unsent = [] } = entry;
  const rejected = entry.entry === "stopped" ? entry.rejected : undefined;
  return { number, attempts, taken, stopped: { state, undecided, rejected, planned, unsent }, isForgotten: false };
}

/**
 * Whether this was written from a ledger that had lost part of the run, or that knows the run from an import, which says
 * nothing about doubts. Neither counts, unless a person has said that the run may be forgotten. A version that numbers its
 * entries has looked first.
 */
function saysLess({ number = 0, attempts, taken }: Extract<Entry, { entry: "stopped" }>, known: ListedRun): boolean {
  if (number > known.number) return false;
  const isOfImport = attempts === 0 && taken > 0;
  return isOfImport || (!known.isForgotten && (attempts < known.attempts || taken < known.taken));
}

const withOutput = (outputs: readonly string[], output: string | null): readonly string[] =>
  output === null ? outputs : [...outputs.filter((each) => each !== output), output];

/** A run that was sent from here, and of which the ledger does not know everything. */
export interface LostRun extends Pick<ListedRun, "run" | "number" | "createdAt" | "actions" | "attempts"> {
  /**
   * `unknown`: the ledger does not know it; `older`: it knows less than it once did; `incomplete`: what was imported is not
   * all, or may not be.
   */
  readonly how: "unknown" | "older" | "incomplete";
  /** Its actions whose outcome the ledger knows. */
  readonly known: number;
  /** Actions of it that were in doubt or refused, or for others to send, when it was last heard of; undefined when it was killed. */
  readonly undecided: number | undefined;
  /** What of it was certainly never sent, and is still to be sent. */
  readonly planned: readonly Span[];
  /** What of it was closed unsent: it was never sent, or a person said that the service does not have it. */
  readonly unsent: readonly Span[];
  /** How the run was left when its last command had ended: `open`, `finished`, `abandoned`; undefined when it was killed. */
  readonly state: string | undefined;
  /** Its actions that the service had rejected by then, where that is known. */
  readonly rejected: number | undefined;
  /** Nothing of it was in doubt, and the ledger knows all that was taken: what it has no outcome of was not taken. */
  readonly isDecided: boolean;
  /** Files that hold its promises, the latest last; without those that went to standard output. */
  readonly outputs: readonly string[];
  /** Of these, the ones that may hold more than the ledger knows. */
  readonly unread: readonly string[];
}

/**
 * Runs of which the list tells more than the ledger does.
 *
 * @param ledger undefined where there is none.
 * @param isOf whether a run was sent to what the ledger belongs to.
 */
export function findLostRuns(
  { runs }: Pick<RunListContent, "runs">,
  ledger: Ledger | undefined,
  isOf: (boundTo: string) => boolean,
): readonly LostRun[] {
  const known = knownRuns(ledger);
  return [...runs.values()].flatMap((listed): LostRun[] => {
    const { run, number, createdAt, actions, outputs, stopped, attempts, taken } = listed;
    if (listed.isForgotten || !isOf(listed.boundTo)) return [];
    const inLedger = known.get(run);
    const isDecidedThen = stopped !== undefined && stopped.undecided === 0;
    const lost = {
      run,
      number,
      createdAt,
      actions,
      attempts,
      outputs,
      unread: outputs.filter((path) => !isRead(ledger, path)),
      known: inLedger?.answered ?? 0,
      undecided: stopped?.undecided,
      planned: stopped?.planned ?? [],
      unsent: stopped?.unsent ?? [],
      state: stopped?.state,
      rejected: stopped?.rejected,
      isDecided: isDecidedThen && inLedger !== undefined && inLedger.taken >= taken,
    };
    // A run of which nothing can have been taken is no loss.
    if (ledger === undefined || inLedger === undefined)
      return isDecidedThen && taken === 0 ? [] : [{ ...lost, how: "unknown" }];
    if (inLedger.isImported)
      return lost.isDecided || inLedger.answered >= actions ? [] : [{ ...lost, how: "incomplete" }];
    return isOlder(inLedger, listed) && !isHarmless(ledger, inLedger, listed) ? [{ ...lost, how: "older" }] : [];
  });
}

/** Whether the list tells of something that became of the run after the ledger was last written to. */
function isOlder(inLedger: KnownRun, { number, attempts, taken, stopped }: ListedRun): boolean {
  const isClosed = stopped !== undefined && stopped.state !== "open";
  return (
    inLedger.number < number ||
    inLedger.attempts < attempts ||
    inLedger.taken < taken ||
    // Entries of earlier versions are not counted.
    (number === 0 && isClosed && inLedger.state === "open")
  );
}

/** Whether an older copy of the ledger knows all that was taken of the run, and would send only what was never sent. */
function isHarmless(ledger: Ledger, { runNo, taken }: KnownRun, listed: ListedRun): boolean {
  if (taken < listed.taken) return false;
  const open = undecidedChunks(ledger, runNo);
  const { stopped } = listed;
  if (open.length === 0 || stopped === undefined) return open.length === 0;
  return (
    stopped.state === "open" &&
    stopped.undecided === 0 &&
    open.every((chunk) => chunk.state === "planned" && isWithin(chunk, stopped.planned))
  );
}

/** Whether all of these actions are in one of the stretches. */
export const isWithin = (
  { first, count }: { readonly first: number; readonly count: number },
  spans: readonly Span[],
): boolean => spans.some(([from, actions]) => first >= from && first + count <= from + actions);

/** Whether importing the file would bring nothing: it has no promise, or the ledger knows it at its present length. */
function isRead(ledger: Ledger | undefined, path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  const length = ledger && knownOutput(ledger, path)?.length;
  return size === 0 || (length !== undefined && size === length) || (size !== undefined && isHeaderAlone(path, size));
}

const MOST_HEADER_BYTES = 1024;

/** Whether a table has its first line and no other. */
function isHeaderAlone(path: string, size: number): boolean {
  if (!/\.[ct]sv$/i.test(path) || size > MOST_HEADER_BYTES) return false;
  return readFileSync(path, "utf8").indexOf("\n") === size - 1;
}

interface KnownRun {
  readonly runNo: number;
  readonly state: string;
  /** Of the latest entry in the list that this ledger has had a part in; 0 for none. */
  readonly number: number;
  readonly attempts: number;
  readonly taken: number;
  readonly answered: number;
  readonly isImported: boolean;
}

/** @param only this run. */
function knownRuns(ledger: Ledger | undefined, only?: string): ReadonlyMap<string, KnownRun> {
  const rows = ledger?.all(
    `SELECT run_no AS runNo, run, state, manifest ->> '$.mapping' = '${IMPORTED_MAPPING}' AS isImported,
       coalesce((SELECT entry FROM listed_runs WHERE listed_runs.run_no = runs.run_no), 0) AS number,
       (SELECT count(*) FROM attempts WHERE attempts.run_no = runs.run_no) AS attempts,
       (SELECT coalesce(sum(actions), 0) FROM tallies WHERE tallies.run_no = runs.run_no AND outcome <> 'not sent') AS answered,
       (SELECT coalesce(sum(actions), 0) FROM tallies WHERE tallies.run_no = runs.run_no AND outcome IN ${TAKEN}) AS taken
     FROM runs WHERE run = coalesce(?, run)`,
    only ?? null,
  );
  const known = (rows ?? []) as unknown as readonly (KnownRun & { readonly run: string })[]; // as selected
  return new Map(known.map(({ run, ...rest }) => [run, { ...rest, isImported: Boolean(rest.isImported) }]));
}

/** The part of a plan's manifest that the list holds. */
interface RunOfPlan {
  readonly run: string;
  readonly createdAt: string;
  readonly boundTo: string;
  readonly actions: { readonly planned: number };
  readonly chunks: readonly unknown[];
}

/**
 * Opens the list for appending, and creates it where it is missing. A torn last line is cut off.
 *
 * @param machine see `thisMachine`.
 * @throws Failure `storage` when it is damaged or can't be written.
 */
export function openRunList(path: string, machine: string): RunList {
  return new RunList(path, machine, readEntries(path));
}

/** The list, open for appending. Whoever has it holds the ledger's lock. */
export class RunList {
  readonly path: string;
  /** True when there was no list before this process. */
  readonly isNew: boolean;
  /** The machine that the list was written on last, where that was another one. */
  readonly cameFrom: ListHead | undefined;
  readonly #machine: string;
  readonly #generation: number;
  readonly #entries: Entry[];
  #length: number;

  constructor(path: string, machine: string, { entries, length }: ReadList) {
    this.path = path;
    this.isNew = entries.length === 0;
    this.#machine = machine;
    this.#entries = [...entries];
    this.#length = length;
    const before = this.content.head;
    // A system that does not say which machine it is can't be compared.
    const isMoved = before !== undefined && machine !== "" && before.machine !== "" && before.machine !== machine;
    this.cameFrom = isMoved ? before : undefined;
    this.#generation = (before?.generation ?? 0) + (before === undefined || this.cameFrom !== undefined ? 1 : 0);
    if (this.#generation !== before?.generation)
      this.#append([{ entry: "list", at: now(), machine, host: hostname(), generation: this.#generation }]);
    this.#append(toldByFolders(path, this.#entries));
  }

  get content(): RunListContent {
    return contentOf(this.#entries);
  }

  /** After it returns, the list on disk says that the run is about to be sent, and the ledger knows that it does. */
  sending(ledger: Ledger, run: RunRecord, plan: RunOfPlan): void {
    this.#countEntry(ledger, run);
    crashPoint("counted");
    this.#tell([this.#begun({ ...plan, run: run.run }, outputHere(ledger, run), standingOf(ledger, run.run))]);
  }

  /**
   * After it returns, the ledger says that it is newer than the list. The list follows when this command ends, or with the
   * next.
   */
  changing(ledger: Ledger, run: RunRecord): void {
    this.#countEntry(ledger, run);
  }

  /** From here on, the run's promises go to another file. */
  moved(run: string, output: string): void {
    this.#tell([{ entry: "output", at: now(), run, output }]);
  }

  /** Notes what the ledger holds of the run as the command ends. Of an imported run it can't say more than the list does. */
  stopped(ledger: Ledger, run: RunRecord): void {
    if (this.#knowsLess(ledger, run)) return;
    this.#countEntry(ledger, run);
    this.#tell([this.#ended(ledger, run)]);
  }

  /** Notes that what the ledger lacked of the run is now in doubt there. */
  doubted(ledger: Ledger, run: RunRecord, who: string): void {
    const { number, state, attempts, taken, undecided, planned = [], unsent } = this.#ended(ledger, run);
    const left = { state, who, attempts, taken, undecided, planned, unsent };
    this.#tell([{ entry: "doubted", at: now(), run: run.run, number, ...left }]);
  }

  /**
   * Adds what the ledger has and the list lacks: the process died between the two, or the list was lost.
   */
  complete(ledger: Ledger, planOf: (run: RunRecord) => RunOfPlan): void {
    const { runs } = this.content;
    const all = listRuns(ledger).toReversed();
    const missing = all.filter(({ run }) => !runs.has(run));
    const counted = ledger.all("SELECT run, entry FROM listed_runs JOIN runs USING (run_no)");
    const numbers = new Map(counted.map(({ run, entry }) => [String(run), Number(entry)]));
    const untold = all.filter(({ run, state }) => {
      const listed = runs.get(run);
      if (listed === undefined) return false;
      const number = numbers.get(run) ?? 0;
      return number > listed.number || (number === listed.number && state !== "open" && listed.stopped === undefined);
    });
    this.#tell([
      ...missing.flatMap((run) => [
        this.#begun({ ...planOf(run), run: run.run }, outputHere(ledger, run), standingOf(ledger, run.run)),
        this.#ended(ledger, run),
      ]),
      ...untold.filter((run) => !this.#knowsLess(ledger, run)).map((run) => this.#ended(ledger, run)),
    ]);
  }

  /** Adds runs of which there is only a plan; how they ended is not known. */
  addStrays(plans: readonly RunOfPlan[]): void {
    const unlisted = plans.filter(({ run }) => this.#listedRun(run) === undefined);
    this.#append(unlisted.map((plan) => this.#begun(plan, undefined, { number: 0, attempts: 0, taken: 0 })));
  }

  forget(runs: readonly string[], who: string, reason: string): void {
    this.#tell([{ entry: "forgotten", at: now(), runs: [...runs], who, reason }]);
  }

  #append(added: readonly Entry[]): void {
    if (added.length === 0) return;
    const text = added.map(runListLine).join("");
    try {
      appendDurably(this.path, this.#length, text);
    } catch (cause) {
      throw storageFailure(this.path, cause);
    }
    this.#length += Buffer.byteLength(text);
    for (const entry of added) this.#entries.push(entry);
  }

  /** Appends entries, and repeats each in the folder of its run while that exists. */
  #tell(added: readonly Entry[]): void {
    this.#append(added);
    for (const entry of added) for (const run of runsOf(entry)) noteInFolder(this.path, run, entry);
  }

  #begun(plan: RunOfPlan, output: string | undefined, { number, attempts, taken }: Standing): Entry {
    const { run, createdAt, boundTo, actions, chunks } = plan;
    const told = { createdAt, boundTo, actions: actions.planned, chunks: chunks.length, output: output ?? null };
    const on = { machine: this.#machine, generation: this.#generation };
    return { entry: "run", at: now(), run, number, ...told, attempts, taken, ...on };
  }

  #ended(ledger: Ledger, { run, runNo }: RunRecord): Extract<Entry, { entry: "stopped" }> {
    const { inDoubt, refused, rejected, notSent } = countRun(ledger, runNo);
    const state = String(ledger.get("SELECT state FROM runs WHERE run_no = ?", runNo)?.state);
    const planned = plannedOf(ledger, runNo);
    // Of what others may send from now on nobody here knows whether they do.
    const isForOthers = ledger.kind === "postgres" && state === "open";
    const forOthers = isForOthers ? planned.reduce((sum, [, actions]) => sum + actions, 0) : 0;
    const counts = { undecided: inDoubt + refused + forOthers, rejected, notSent };
    const spans = { planned: isForOthers ? [] : planned, unsent: unsentOf(ledger, runNo) };
    return { entry: "stopped", at: now(), run, state, ...standingOf(ledger, run), ...counts, ...spans };
  }

  #listedRun(run: string): ListedRun | undefined {
    return this.content.runs.get(run);
  }

  /** Stores the number of the run's next entry in the ledger. Where machines share it, each entry of any list has one of its own. */
  #countEntry(ledger: Ledger, { run, runNo }: RunRecord): void {
    ledger.run(COUNT_ENTRY, runNo, (this.#listedRun(run)?.number ?? 0) + 1);
  }

  /**
   * Whether the list can learn nothing from this ledger: it was restored from an older copy, or knows the run from an import.
   */
  #knowsLess(ledger: Ledger, { run }: RunRecord): boolean {
    const listed = this.#listedRun(run);
    if (listed === undefined) return false;
    const isImported = knownRuns(ledger, run).get(run)?.isImported === true;
    return isImported || findLostRuns({ runs: new Map([[run, listed]]) }, ledger, () => true).length > 0;
  }
}

const now = (): string => new Date().toISOString();

/** A list names only files of its own machine. */
const outputHere = (ledger: Ledger, { output, outputMachine }: RunRecord): string | undefined =>
  isHere(ledger, outputMachine) ? output : undefined;

type Standing = Pick<ListedRun, "number" | "attempts" | "taken">;

function standingOf(ledger: Ledger, run: string): Standing {
  const { number = 0, attempts = 0, taken = 0 } = knownRuns(ledger, run).get(run) ?? {};
  return { number, attempts, taken };
}

/** One statement, since another machine may count at the same moment. */
const COUNT_ENTRY = `INSERT INTO listed_runs (run_no, entry) VALUES (?, ?) ON CONFLICT (run_no) DO UPDATE
  SET entry = CASE WHEN excluded.entry > listed_runs.entry THEN excluded.entry ELSE listed_runs.entry + 1 END`;

/** Part of a transaction: notes that the list has, or is about to have, this many entries about the run. */
export function keepEntryNumber(ledger: Ledger, runNo: number, number: number): void {
  const sql =
    "INSERT INTO listed_runs (run_no, entry) VALUES (?, ?) ON CONFLICT (run_no) DO UPDATE SET entry = excluded.entry";
  ledger.run(sql, runNo, number);
}

/** What of an open run is still to be sent. */
const plannedOf = (ledger: Ledger, runNo: number): Span[] => spansOf(chunksOf(ledger, runNo, "planned"));

/** What the run closed unsent. Rejected actions may have been closed too, but they were sent. */
function unsentOf(ledger: Ledger, runNo: number): Span[] {
  const rows = ledger.all("SELECT DISTINCT chunk FROM tallies WHERE run_no = ? AND outcome <> 'not sent'", runNo);
  const answered = new Set(rows.map(({ chunk }) => Number(chunk)));
  return spansOf(chunksOf(ledger, runNo, "abandoned").filter(({ chunk }) => !answered.has(chunk)));
}

function spansOf(chunks: readonly ChunkRecord[]): Span[] {
  const spans: Span[] = [];
  for (const { first, count } of chunks) {
    const last = spans.at(-1);
    if (last !== undefined && last[0] + last[1] === first) last[1] += count;
    else spans.push([first, count]);
  }
  return spans;
}

/** @param path of the list. */
function noteInFolder(path: string, run: string, entry: Entry): void {
  const file = listedIn(path, run);
  if (!existsSync(dirname(file))) return;
  // Runs that were forgotten together may be resumed one by one.
  const text = runListLine(entry.entry === "forgotten" ? { ...entry, runs: [run] } : entry);
  try {
    appendDurably(file, readLines(file).length, text);
  } catch (cause) {
    throw storageFailure(file, cause);
  }
}

/**
 * Sets aside the list of a sandbox that was reset, and removes what the runs' folders repeat of it: the new sandbox has none
 * of these runs. By its name `wasReset` tells it from a damaged list that was set aside.
 */
export function setRunListAside(path: string, at: Date): void {
  const names = existsSync(runsBeside(path)) ? readdirSync(runsBeside(path)) : [];
  for (const name of names) rmSync(listedIn(path, name), { force: true });
  if (existsSync(path)) renameSync(path, join(dirname(path), `run-list.${nameOfTime(at)}${ASIDE}`));
}

const ASIDE = ".aside.ndjson";

/** Whether a run was sent to a sandbox that was reset since: its list was set aside. */
export function wasReset(path: string, run: string): boolean {
  const folder = dirname(path);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.startsWith("run-list.") && name.endsWith(ASIDE))
    .flatMap((name) => readLines(join(folder, name)).lines)
    .some((line) => {
      const entry = parseLine(line);
      return entry !== undefined && runsOf(entry).includes(run);
    });
}

/** Cuts what a crash left after `length`, appends, and has it on disk when it returns. */
function appendDurably(path: string, length: number, text: string): void {
  const isMade = !existsSync(path);
  const file = openSync(path, "a", 0o600);
  try {
    if (fstatSync(file).size > length) ftruncateSync(file, length);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } catch (cause) {
      // The next command would cut off half a line anyway.
      ftruncateSync(file, length);
      throw cause;
    }
  } finally {
    closeSync(file);
  }
  if (!isMade) return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
