/** A report: where its file may be, looked at before anything is sent; and its figures beside the summary, all from the ledger. */

import { constants } from "node:fs";
import { access, lstat, open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { displayPath, quoted } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import type { Attempt, Invocation, Ledger, Run } from "../ledger/ledger.ts";
import { writeWhole } from "../write/output-file.ts";
import { rejectionText } from "../write/rejection-text.ts";
import { type SendingTimes, sendingTimes, type TimedAttempt } from "../write/report/sending-times.ts";
import type { RunContext } from "./context.ts";
import { findLedgerOf } from "./ledger-of.ts";
import { actionsOfChunk, detailsOf, type Question, type RunDetails } from "./runs.ts";

/**
 * The absolute path of a report that can be written.
 *
 * @param taken other files of the command, which a report must not replace.
 * @throws Failure `usage` for a file that is no earlier report, and a folder that is missing or can't be written.
 */
export async function reportPath(
  { cwd }: Pick<RunContext, "cwd">,
  file: string,
  { taken, isToSend }: { readonly taken: readonly (string | undefined)[]; readonly isToSend: boolean },
): Promise<string> {
  const refuse = (why: string, hint = "Name another file with --report.", cause?: unknown): Failure =>
    new Failure("usage", `--report ${why}${isToSend ? " Nothing was sent." : ""}`, { hint, cause });
  if (!/\.html?$/i.test(file))
    throw refuse(
      `${quoted(file, 200)} does not end in .html.`,
      "A report is an HTML page: name a file such as report.html.",
    );
  const named = resolve(cwd, file);
  const shown = displayPath(named, cwd);
  // What a link leads to is replaced, and the link stays.
  const path = await realpath(named).catch(() => named);
  if (taken.some((other) => other !== undefined && other !== "-" && resolve(cwd, other) === named))
    throw refuse(`${shown} is also the file of another flag or an input.`);
  const folder = dirname(path);
  const place = displayPath(folder, cwd);
  const above = await stat(folder).catch(() => undefined);
  if (!above?.isDirectory())
    throw refuse(
      `${shown}: ${above === undefined ? "there is no folder" : "no folder is"} ${place}.`,
      "Create it, or name another file.",
    );
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw refuse(`${shown}: the folder ${place} is not writable.`, undefined, cause);
  });
  // Only an earlier report and an empty file are replaced.
  const found = await stat(path).catch(() => undefined);
  if (found === undefined && (await lstat(path).catch(() => undefined))?.isSymbolicLink())
    throw refuse(`${shown} is a link to a file that does not exist.`, "Name another file, or remove the link.");
  if (found?.isDirectory()) throw refuse(`${shown} is a folder.`);
  if (!found?.isFile() || found.size === 0) return path; // a device or a pipe takes what is written
  const { REPORT_MARK } = await import("../write/report/page.ts");
  const beginning = await readBeginning(path, Buffer.byteLength(REPORT_MARK)).catch((cause: unknown) => {
    throw refuse(`${shown} can't be read, so it is not known what it is.`, undefined, cause);
  });
  if (beginning === REPORT_MARK) return path;
  throw refuse(`${shown} is not replaced: it is no report of tickets.`, "Name another file, or move this one away.");
}

/**
 * Writes a report whole or not at all. What a run came to does not depend on it.
 *
 * @returns why it could not be written.
 */
export async function writeReport(path: string, page: string): Promise<Failure | undefined> {
  try {
    await writeWhole(path, page);
    return undefined;
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
}

/** The first bytes of a file, as text. */
async function readBeginning(path: string, length: number): Promise<string> {
  await using file = await open(path, "r");
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, 0);
  return bytes.toString("utf8", 0, bytesRead);
}

export interface RunFigures extends RunDetails {
  /** Undefined where nothing was sent. */
  readonly times: SendingTimes | undefined;
  readonly byAction: readonly { readonly action: string; readonly outcome: string; readonly actions: number }[];
  readonly byEvent: EventCounts;
  readonly rejections: Rejections;
  readonly questions: readonly Question[];
  /** Chunks that wait for a person; the first of them are the questions. */
  readonly questionCount: number;
  readonly commands: readonly Invocation[];
}

/** What the service said of rejected actions, by its words. */
export interface Rejections {
  readonly groups: readonly RejectionGroup[];
  /** Said of them in other words. */
  readonly others: number;
}

interface RejectionGroup {
  readonly words: string;
  actions: number;
  readonly examples: RejectedExample[];
}

interface RejectedExample {
  readonly source: string;
  readonly line: number;
  readonly action: string;
  readonly id: string;
}

/** How many actions name which event. */
export interface EventCounts {
  /** Those with the most problems, then actions. */
  readonly first: readonly { readonly eventId: string; readonly actions: number; readonly problems: number }[];
  readonly others: { readonly events: number; readonly actions: number };
  /** They name a ticket or an nftId only. */
  readonly unnamed: number;
}

const MOST = { rejectionGroups: 20, examples: 5, questions: 10, actionsOfQuestion: 10, events: 12 } as const;

/** Different words that are counted each; what comes after so many is counted together. */
const WORDS_KNOWN = 2000;

/** Undefined where the ledger does not know the run, or there is none. */
export async function runFigures(environment: Environment, id: string): Promise<RunFigures | undefined> {
  await using ledger = await findLedgerOf(environment);
  const run = await ledger?.run(id);
  if (ledger === undefined || run === undefined) return undefined;
  const details = await detailsOf(ledger, run, environment);
  const open = details.chunks.filter(({ state }) => state === "in doubt" || state === "refused");
  const questions: Question[] = [];
  for (const chunk of open.slice(0, MOST.questions)) {
    const actions = await actionsOfChunk(ledger, run, chunk.chunk);
    questions.push({ chunk, actions: actions.slice(0, MOST.actionsOfQuestion) });
  }
  return {
    ...details,
    ...{ questions, questionCount: open.length, ...(await outcomesOf(ledger, run)) },
    times: sendingTimes(() => details.attempts.map(toTimed)),
    commands: await ledger.invocations({ run: id }),
  };
}

const toTimed = ({ startedAt, endedAt, count, ...attempt }: Attempt): TimedAttempt => ({
  ...attempt,
  actions: count,
  from: Date.parse(startedAt),
  to: endedAt === undefined ? undefined : Date.parse(endedAt),
});

async function outcomesOf(ledger: Ledger, run: Run): Promise<Pick<RunFigures, "byAction" | "byEvent" | "rejections">> {
  const byEvent = new Map<string | undefined, { actions: number; problems: number }>();
  const byAction = new Map<string, { readonly action: string; readonly outcome: string; actions: number }>();
  const groups = new Map<string, RejectionGroup>();
  let rejected = 0;
  for (const { chunk } of await ledger.chunks(run.number))
    for (const { origin, outcome, response } of (await ledger.outcomes(run.number, chunk)).items) {
      if (outcome === "moved") continue;
      const event = origin.subject.startsWith("e:") ? origin.subject.slice(2) : origin.event;
      const ofEvent = byEvent.get(event) ?? { actions: 0, problems: 0 };
      ofEvent.actions += 1;
      if (outcome !== "accepted" && outcome !== "settled") ofEvent.problems += 1;
      byEvent.set(event, ofEvent);
      const name = `${origin.kind} ${outcome}`;
      const count = byAction.get(name) ?? { action: origin.kind, outcome, actions: 0 };
      count.actions += 1;
      byAction.set(name, count);
      if (outcome !== "rejected") continue;
      rejected += 1;
      const words = rejectionText({ response });
      const group = groups.get(words) ?? { words, actions: 0, examples: [] };
      if (!groups.has(words) && groups.size >= WORDS_KNOWN) continue;
      groups.set(words, group);
      group.actions += 1;
      if (group.examples.length >= MOST.examples) continue;
      const source = run.inputs[origin.input]?.name ?? "";
      group.examples.push({ source, line: origin.line, action: origin.kind, id: origin.subject.slice(2) });
    }
  const shown = [...groups.values()].sort((one, other) => other.actions - one.actions).slice(0, MOST.rejectionGroups);
  const rejections = { groups: shown, others: rejected - sumOf(shown) };
  return { byAction: [...byAction.values()], byEvent: eventCounts(byEvent), rejections };
}

const sumOf = (counts: readonly { readonly actions: number }[]): number =>
  counts.reduce((sum, { actions }) => sum + actions, 0);

/** @param counts by event; under undefined, of what names none. */
function eventCounts(
  counts: ReadonlyMap<string | undefined, { readonly actions: number; readonly problems: number }>,
): EventCounts {
  const named = [...counts]
    .flatMap(([eventId, of]) => (eventId === undefined ? [] : [{ eventId, ...of }]))
    .toSorted(
      (one, other) =>
        other.problems - one.problems || other.actions - one.actions || (one.eventId < other.eventId ? -1 : 1),
    );
  const others = named.slice(MOST.events);
  return {
    first: named.slice(0, MOST.events),
    others: { events: others.length, actions: sumOf(others) },
    unnamed: counts.get(undefined)?.actions ?? 0,
  };
}
