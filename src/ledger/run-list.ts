/**
 * The list of runs: an append-only file beside the ledger that is written before a run's first request. It holds too little
 * to send by, but enough to notice that the ledger was lost or restored from an older copy.
 */

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
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { nameOfTime } from "../disk/aside.ts";
import { Failure } from "../failure.ts";
import type { Ledger } from "./ledger.ts";
import { isHere } from "./machine.ts";
import { storageFailure } from "./open-ledger.ts";
import { knownOutput } from "./outputs.ts";
import { countRun, findRun, IMPORTED_MAPPING, type RunRecord } from "./runs.ts";

const COUNT = z.number().int().nonnegative();

/** What is about to become of a run, or became of it by the end of a command. The latest line of a run counts. */
const ENTRY = z.strictObject({
  at: z.string(),
  run: z.string(),
  createdAt: z.string(),
  boundTo: z.string(),
  /** The most that the service can have been sent of its actions. */
  actions: COUNT,
  /** How many requests for it the ledger knew of. */
  requests: COUNT,
  /** Null for standard output. */
  output: z.string().nullable(),
});
type Entry = z.infer<typeof ENTRY>;

interface ListedRun extends Omit<Entry, "at" | "output"> {
  /** Files that hold its promises, the latest last. */
  readonly outputs: readonly string[];
}

export type RunListContent = ReadonlyMap<string, ListedRun>;

/**
 * Read it before the ledger is asked: a run is entered there first.
 *
 * @throws Failure `storage` when a line other than a torn last one is damaged.
 */
export function readRunList(path: string): RunListContent {
  const runs = new Map<string, ListedRun>();
  for (const { at: _, output, ...entry } of readEntries(path).entries) {
    const before = runs.get(entry.run)?.outputs.filter((each) => each !== output) ?? [];
    runs.set(entry.run, { ...entry, outputs: output === null ? before : [...before, output] });
  }
  return runs;
}

/** The entries, and how many bytes their lines are: an append that a crash cut short, or left as zeros, is no entry. */
function readEntries(path: string): { readonly entries: readonly Entry[]; readonly length: number } {
  if (!existsSync(path)) return { entries: [], length: 0 };
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw storageFailure(path, cause);
  }
  const entries: Entry[] = [];
  let length = 0;
  const lines = text.split("\n");
  for (const [at, line] of lines.slice(0, -1).entries()) {
    const entry = parseEntry(line);
    const isLast = at === lines.length - 2 && lines.at(-1) === "";
    if (entry === undefined && isLast) break;
    if (entry === undefined)
      throw new Failure("storage", `The list of runs ${path} is damaged in line ${at + 1}. Nothing was sent.`, {
        hint: "It shows whether the ledger was lost. Restore it from a backup; or, if you are sure that the ledger is complete, move it away.",
      });
    entries.push(entry);
    length += Buffer.byteLength(line) + 1;
  }
  return { entries, length };
}

function parseEntry(line: string): Entry | undefined {
  try {
    return ENTRY.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** The part of a run's manifest that the list holds. */
interface RunOfPlan {
  readonly createdAt: string;
  readonly boundTo: string;
  readonly actions: { readonly planned: number };
}

/** The list, for whoever holds the ledger's lock. */
export interface RunList {
  /** A run that was sent from elsewhere, or was lost from the list too. */
  readonly imported: (ledger: Ledger, run: RunRecord, plan: RunOfPlan) => void;
  /** After it returns, the list on disk says that the run is about to be sent. */
  readonly sending: (ledger: Ledger, run: RunRecord, plan: RunOfPlan) => void;
  /** From here on, the run's promises go to another file. */
  readonly moved: (run: string, output: string) => void;
  /** Notes what the service can have been sent of the run as the command ends. */
  readonly stopped: (ledger: Ledger, run: RunRecord) => void;
}

export function openRunList(path: string): RunList {
  const append = (entry: Omit<Entry, "at">): void => appendEntry(path, { ...entry, at: new Date().toISOString() });
  const lastOf = (run: string): Entry | undefined => readEntries(path).entries.findLast((entry) => entry.run === run);
  const sending: RunList["sending"] = (ledger, run, { createdAt, boundTo, actions }) => {
    const output = outputHere(ledger, run);
    append({ run: run.run, createdAt, boundTo, actions: actions.planned, requests: requestsOf(ledger, run), output });
  };
  return {
    sending,
    imported(ledger, run, plan) {
      if (lastOf(run.run) === undefined) sending(ledger, run, plan);
    },
    moved(run, output) {
      const last = lastOf(run);
      if (last !== undefined) append({ ...last, output });
    },
    stopped(ledger, run) {
      const last = lastOf(run.run);
      if (last === undefined) return;
      // Of what others may send from now on nobody here knows whether they do.
      const isForOthers = ledger.kind === "postgres" && findRun(ledger, run.run)?.state === "open";
      const { accepted, rejected, settledByHand, inDoubt, refused } = countRun(ledger, run.runNo);
      const actions = isForOthers ? last.actions : accepted + rejected + settledByHand + inDoubt + refused;
      append({ ...last, actions, requests: requestsOf(ledger, run) });
    },
  };
}

/** A list names only files of its own machine. */
const outputHere = (ledger: Ledger, { output, outputMachine }: RunRecord): string | null =>
  output !== undefined && isHere(ledger, outputMachine) ? output : null;

const requestsOf = (ledger: Ledger, { runNo }: RunRecord): number =>
  Number(ledger.get("SELECT count(*) AS n FROM attempts WHERE run_no = ?", runNo)?.n);

/** A run that was sent from here, and of which the ledger does not know everything. */
export interface LostRun extends ListedRun {
  /**
   * `unknown`: the ledger does not know it; `older`: it knows of fewer requests than it once did; `incomplete`: what was
   * imported is not all, or may not be.
   */
  readonly how: "unknown" | "older" | "incomplete";
  /** Its actions whose outcome the ledger knows. */
  readonly known: number;
  /** Of its files, those that may hold more than the ledger knows. */
  readonly unread: readonly string[];
}

/** @param ledger undefined where there is none. */
export function findLostRuns(list: RunListContent, ledger: Ledger | undefined): readonly LostRun[] {
  const inLedger = knownRuns(ledger);
  return [...list.values()].flatMap((listed): LostRun[] => {
    const known = inLedger.get(listed.run);
    const how = howLost(listed, known);
    const unread = listed.outputs.filter((path) => !isRead(ledger, path));
    return how === undefined ? [] : [{ ...listed, how, known: known?.answered ?? 0, unread }];
  });
}

function howLost({ actions, requests }: ListedRun, known: KnownRun | undefined): LostRun["how"] | undefined {
  if (known === undefined) return actions > 0 ? "unknown" : undefined;
  if (known.isImported) return known.answered < actions ? "incomplete" : undefined;
  return known.requests < requests ? "older" : undefined;
}

/** Whether importing the file would bring nothing: the ledger knows it at its present length. */
function isRead(ledger: Ledger | undefined, path: string): boolean {
  const length = ledger && knownOutput(ledger, path)?.length;
  return length !== undefined && statSync(path, { throwIfNoEntry: false })?.size === length;
}

interface KnownRun {
  readonly requests: number;
  readonly answered: number;
  readonly isImported: boolean;
}

function knownRuns(ledger: Ledger | undefined): ReadonlyMap<string, KnownRun> {
  const rows = ledger?.all(
    `SELECT run, manifest ->> '$.mapping' = '${IMPORTED_MAPPING}' AS imported,
       (SELECT count(*) FROM attempts WHERE attempts.run_no = runs.run_no) AS requests,
       (SELECT coalesce(sum(actions), 0) FROM tallies WHERE tallies.run_no = runs.run_no AND outcome <> 'not sent') AS answered
     FROM runs`,
  );
  return new Map(
    rows?.map(({ run, imported, requests, answered }) => [
      String(run),
      { requests: Number(requests), answered: Number(answered), isImported: Boolean(imported) },
    ]),
  );
}

/**
 * Sets aside the list of a sandbox that was reset: the new sandbox has none of these runs. By its name `wasReset` tells it
 * from other copies.
 */
export function setRunListAside(path: string, at: Date): void {
  if (existsSync(path)) renameSync(path, join(dirname(path), `run-list.${nameOfTime(at)}${ASIDE}`));
}

const ASIDE = ".aside.ndjson";

/** Whether a run was sent to a sandbox that was reset since: its list was set aside. */
export function wasReset(path: string, run: string): boolean {
  const folder = dirname(path);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.startsWith("run-list.") && name.endsWith(ASIDE))
    .some((name) => readRunList(join(folder, name)).has(run));
}

/** Cuts what a crash left, appends, and has it on disk when it returns. */
function appendEntry(path: string, entry: Entry): void {
  const { length } = readEntries(path);
  try {
    appendDurably(path, length, `${JSON.stringify(entry)}\n`);
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}

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
