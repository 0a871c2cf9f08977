/** A report: where its file may be, looked at before anything is sent; and its figures beside the summary, all from the ledger. */

import { constants } from "node:fs";
import { access, open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Environment } from "../config/environment.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Ledger, Run } from "../ledger/ledger.ts";
import { displayPath } from "../text.ts";
import { answerText } from "../write/rejection-text.ts";
import { REPORT_MARK } from "../write/report/page.ts";
import { type SendingTimes, sendingTimes } from "../write/report/sending-times.ts";
import type { RunContext } from "./context.ts";
import { knownLedgerOf } from "./lost-ledger.ts";
import { detailsOf, type RunDetails, runOfResults } from "./runs.ts";

/**
 * The absolute path of a report that can be written. Only an earlier report and an empty file are replaced.
 *
 * @param output the promises file of the command.
 * @throws Failure `usage` for any other file, and where the folder is missing or can't be written.
 */
export async function reportPath(
  { cwd }: Pick<RunContext, "cwd">,
  file: string,
  { output, isToSend }: { readonly output: string | undefined; readonly isToSend: boolean },
): Promise<string> {
  const named = resolve(cwd, file);
  // What a link leads to is replaced, and the link stays.
  const path = await realpath(named).catch(() => named);
  const isOutput = output !== undefined && resolve(cwd, output) === named;
  const why = isOutput ? "the promises go there" : await whyNoReport(path);
  if (why === undefined) return path;
  throw new Failure("usage", `--report ${displayPath(named, cwd)} can't be written: ${why}.`, {
    nothingSent: isToSend,
    hint: "Name another file, such as report.html, or move this one away.",
  });
}

async function whyNoReport(path: string): Promise<string | undefined> {
  if (!/\.html?$/i.test(path)) return "a report is an HTML page, and this does not end in .html";
  // Of a file in place of the folder, the dot makes this ENOTDIR.
  const cause = await access(`${dirname(path)}/.`, constants.W_OK).catch((error: unknown) => error);
  if (cause !== undefined) return `its folder is missing or not writable (${errorCode(cause)})`;
  const found = await stat(path).catch(() => undefined);
  // A device or a pipe takes what is written.
  const isFree = found === undefined || (!found.isDirectory() && (found.size === 0 || (await isReport(path))));
  return isFree ? undefined : "it is no report of tickets, and is not replaced";
}

async function isReport(path: string): Promise<boolean> {
  await using file = await open(path, "r");
  const mark = Buffer.from(REPORT_MARK);
  const { buffer } = await file.read(Buffer.alloc(mark.length), 0, mark.length, 0);
  return buffer.equals(mark);
}

export interface RunFigures extends RunDetails {
  /** Undefined where nothing was sent. */
  readonly times: SendingTimes | undefined;
  /** How many actions name which event, those with the most problems first; under undefined, those that name none. */
  readonly byEvent: readonly EventCount[];
  /** What the service said of rejected actions, the most frequent words first. */
  readonly rejections: readonly Rejection[];
}

export interface EventCount {
  readonly eventId: string | undefined;
  actions: number;
  problems: number;
}

interface Rejection {
  readonly words: string;
  actions: number;
  /** The first row of which it was said. */
  readonly first: { readonly source: string; readonly line: number };
}

/** Different words that are counted each; what comes after so many is counted together. */
const WORDS_KNOWN = 2000;
const OTHER_WORDS = "other words; the promises file has each answer";

/**
 * @param id undefined: the only run that is open, else the last.
 * @throws Failure `usage` where there is no such run, or no ledger.
 */
export async function runFigures(
  { cwd }: Pick<RunContext, "cwd">,
  environment: Environment,
  id: string | undefined,
): Promise<RunFigures> {
  await using ledger = await knownLedgerOf(environment, cwd);
  const run = await runOfResults(ledger, id, environment);
  const details = await detailsOf(ledger, run, environment);
  const times = sendingTimes(
    details.attempts.map(({ startedAt, endedAt, count: actions, class: kind }) => ({
      ...{ actions, class: kind, from: Date.parse(startedAt) },
      to: endedAt === undefined ? undefined : Date.parse(endedAt),
    })),
  );
  return { ...details, times, ...(await outcomesOf(ledger, run)) };
}

async function outcomesOf(ledger: Ledger, run: Run): Promise<Pick<RunFigures, "byEvent" | "rejections">> {
  const byEvent = new Map<string | undefined, EventCount>();
  const byWords = new Map<string, Rejection>();
  for (const { chunk } of await ledger.chunks(run.number))
    for (const { origin, outcome, response } of (await ledger.outcomes(run.number, chunk)).items) {
      if (outcome === "moved") continue;
      const eventId = origin.subject.startsWith("e:") ? origin.subject.slice(2) : origin.event;
      const ofEvent = byEvent.get(eventId) ?? { eventId, actions: 0, problems: 0 };
      byEvent.set(eventId, ofEvent);
      ofEvent.actions += 1;
      if (outcome !== "accepted" && outcome !== "settled") ofEvent.problems += 1;
      if (outcome !== "rejected") continue;
      const said = answerText({ response });
      const words = byWords.has(said) || byWords.size < WORDS_KNOWN ? said : OTHER_WORDS;
      const first = { source: run.inputs[origin.input]?.name ?? "", line: origin.line };
      const rejection = byWords.get(words) ?? { words, actions: 0, first };
      byWords.set(words, rejection);
      rejection.actions += 1;
    }
  const idOf = ({ eventId = "" }: EventCount): string => eventId;
  return {
    byEvent: [...byEvent.values()].sort(
      (one, other) =>
        other.problems - one.problems || other.actions - one.actions || (idOf(one) < idOf(other) ? -1 : 1),
    ),
    rejections: [...byWords.values()].sort((one, other) => other.actions - one.actions),
  };
}
