/** Carries a trial to its end as a person would: the same command again and again, and doubts settled by what really happened. */

import { expect } from "vitest";
import type { CrashPoint } from "../../../src/disk/crash-points.ts";
import { expectCountsToAddUp, type Summary } from "../counts.ts";
import type { SharedLedger } from "../shared-ledger.ts";
import type { PromiseLine } from "../tables.ts";
import { type Interruption, openRig, type Ran, type Rig } from "./rig.ts";
import { MAYBE_SENT, type Placed } from "./runs.ts";
import { type Trial, type TrialInterruption, writeTrial } from "./trial.ts";
import { expectAllShown, type Question, readTruth, type Truth, type TruthOptions } from "./truth.ts";

/** Of many trials. */
export interface Tally {
  /** At which commands were killed. */
  readonly boundaries: Set<CrashPoint>;
  kills: number;
}

/** More starts than any trial needs, each of which gets on. */
const MOST_STARTS = 80;
/** From here on the service is well again. */
const FAULTS_END = 30;

/** What a command said, without the warnings about the input. */
const shown = (stderr: string): string => stderr.replace(/^warning: .*\n/gm, "").slice(-1500);

/** How long a command takes whose kill did not come about, learnt from those before: one that nobody kills does not start anew. */
let typicalMs = 600;

export async function carryOut(trial: Trial, tally: Tally, shared?: SharedLedger): Promise<void> {
  const rig = await openRig({ faults: trial.faults, shared });
  const story: string[] = [];
  // Where workers send, what a killed command had on its way is in doubt only later: the person has not seen it.
  const namesChunk = trial.namesChunk || shared !== undefined;
  try {
    await carry({ ...trial, namesChunk }, rig, tally, story);
  } catch (cause) {
    const inputs = trial.files.map(({ name, actions }) => `${name} (${actions} actions)`).join(", ");
    throw new Error(
      [
        cause instanceof Error ? cause.message : String(cause),
        `input: ${inputs}, chunk size ${trial.chunkSize}, lanes ${trial.lanes}`,
        `faults: ${JSON.stringify(trial.faults)}`,
        `interruptions: ${JSON.stringify(trial.interruptions)}`,
        ...story,
      ].join("\n"),
    );
  } finally {
    await rig.close();
  }
}

async function carry(trial: Trial, rig: Rig, tally: Tally, story: string[]): Promise<void> {
  const { texts, placed } = writeTrial(trial);
  for (const [name, text] of texts) rig.place.write(name, text);
  const options: TruthOptions = {
    shuffled: trial.faults.rules.some(({ fault }) => fault === "shuffle"),
    inLanes: trial.lanes > 1,
  };
  const common = ["--env", "playground", "TICKETS_RETRIES=1", "TICKETS_TIMEOUT=5s", "--json"];
  const output = trial.output === undefined ? [] : ["-o", trial.output];
  const sizes = [`TICKETS_CHUNK_SIZE=${trial.chunkSize}`, "--lanes", String(trial.lanes)];
  const command = ["stream", ...texts.keys(), ...common, ...sizes, ...output];
  const interruptions = [...trial.interruptions];
  let starts = 0;

  const run = async (args: readonly string[]): Promise<Ran> => {
    starts += 1;
    if (starts > MOST_STARTS) throw new Error(`not done after ${MOST_STARTS} starts`);
    if (starts === FAULTS_END) rig.sandbox.setFaults({ rules: [] });
    const given = interruptions.shift() ?? { kind: "none" };
    const interruption = toInterruption(given);
    const began = performance.now();
    const ran = await rig.run(args, interruption === undefined ? {} : { interruption });
    if (interruption !== undefined && !ran.killed) typicalMs = 0.8 * typicalMs + 0.2 * (performance.now() - began);
    if (ran.killed) tally.kills += 1;
    if (ran.killed && given.kind === "boundary") tally.boundaries.add(given.point);
    const ending = ran.killed ? "killed" : `exit ${ran.exitCode}`;
    story.push(`$ tickets ${args.join(" ")}   # ${JSON.stringify(given)}\n${shown(ran.stderr)}${ending}`);
    return ran;
  };

  let next = command;
  for (;;) {
    const ran = await run(next);
    next = command;
    if (ran.killed) continue;
    const truth = await readTruth(rig, placed, options);
    const { questions } = truth;
    const summary = summaryOf(ran);
    if (summary !== undefined) expectCountedRightly(summary, truth);
    if (isEnd(trial, ran, summary)) break;
    switch (ran.exitCode) {
      case 0: // `resume` that found nothing left to do
        expect(next[0]).toBe("resume");
        break;
      case 5:
      case 7:
        expect(questions, `exit ${ran.exitCode} means that nothing is in doubt`).toEqual([]);
        break;
      case 6:
      case 9:
        if (ran.exitCode === 6) expect(questions.length).toBeGreaterThan(0);
        await settleByTruth(trial, rig, placed, options, questions, run);
        if (trial.resumes && questions[0] !== undefined) next = ["resume", questions[0].run, ...common];
        break;
      default:
        throw new Error(`unexpected exit code ${ran.exitCode}`);
    }
  }
  const { runs } = await expectAllShown(rig, placed, options);

  // Once more: nothing is sent that the service has, and nothing that was written is touched.
  const requests = rig.requests().length;
  const rejected = runs.some(({ lines }) => [...lines.values()].some(isRejected));
  interruptions.length = 0;
  rig.sandbox.setFaults({ rules: [] });
  const once = await run(command);
  const truth = await readTruth(rig, placed, options);
  if (!rejected) {
    expect(rig.requests().length, "the same command sends nothing again").toBe(requests);
    if (once.exitCode !== 0) throw new Error(`unexpected exit code ${once.exitCode}`);
  }
  expect(truth.questions).toEqual([]);
}

function toInterruption(given: TrialInterruption): Interruption | undefined {
  switch (given.kind) {
    case "none":
      return undefined;
    case "moment":
      return { kind: "moment", ms: given.share * typicalMs };
    default:
      return given;
  }
}

function summaryOf({ stdout }: Ran): Summary | undefined {
  if (stdout === "") return undefined;
  const document = JSON.parse(stdout) as Summary | { readonly error: unknown }; // its counts are checked when it comes
  return "error" in document ? undefined : document;
}

/** The run is finished, or was when a kill came too late. */
function isEnd(trial: Trial, ran: Ran, summary: Summary | undefined): boolean {
  if (summary === undefined) return false;
  if (summary.state === "nothing new") return ran.exitCode === 0;
  if (summary.state !== "finished") return false;
  if (ran.exitCode === 0) return true;
  return ran.exitCode === 4 && trial.rejects;
}

const isRejected = ({ status }: PromiseLine): boolean => status !== "success" && status !== "settled";

/** What the summary says of its run is what `status` and `results` say. */
function expectCountedRightly(summary: Summary, { runs }: Truth): void {
  for (let each: Summary | null = summary; each !== null; each = each.resumed) {
    const run = runs.find(({ run }) => run === each?.run);
    if (run === undefined) continue;
    const lines = [...run.lines.values()];
    const of = (status: string): number => lines.filter((line) => line.status === status).length;
    const inState = (...states: readonly string[]): number =>
      run.chunks.filter(({ state }) => states.includes(state)).reduce((sum, { count }) => sum + count, 0);
    expect(each.actions).toMatchObject({
      accepted: of("success") + of("settled"),
      rejected: lines.filter(isRejected).length,
      inDoubt: inState(...MAYBE_SENT),
      notSent: inState("planned", "abandoned"),
    });
  }
}

async function settleByTruth(
  trial: Trial,
  rig: Rig,
  placed: readonly Placed[],
  options: TruthOptions,
  asked: readonly Question[],
  run: (args: readonly string[]) => Promise<Ran>,
): Promise<void> {
  let questions = asked;
  while (questions.length > 0) {
    const [question] = questions;
    if (question === undefined) return;
    if (question.answer === "partly")
      throw new Error(`chunk ${question.chunk} was processed in part; nobody can say so`);
    const isNamed = trial.namesChunk || questions.length > 1;
    const chosen = isNamed ? ["--chunk", String(question.chunk)] : [];
    const settle = ["settle", question.run, `--${question.answer}`, ...chosen, "--env", "playground", "--json"];
    const ran = await run([...settle, "--reason", "looked into the service"]);
    if (!ran.killed) {
      const summary = summaryOf(ran);
      if (summary === undefined) throw new Error(`settle ended with ${ran.exitCode} and said nothing`);
      expectCountsToAddUp({ ...ran, args: ["stream", "--json"] });
    }
    questions = (await readTruth(rig, placed, options)).questions;
  }
}
