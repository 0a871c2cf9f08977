/** Writes the promises of runs again from the ledger. */

import { createWriteStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { displayPath } from "../actions/text.ts";
import { replaceFile } from "../disk/replace-file.ts";
import { Failure } from "../failure.ts";
import { runListPath } from "../ledger/ledger.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { outcomesOfRun } from "../ledger/outcomes.ts";
import { readRunList } from "../ledger/run-list.ts";
import { countRun, findRun, isUndecided, listRuns, type RunCounts } from "../ledger/runs.ts";
import { isPlainFile, makeWayFor } from "../outputs/output-file.ts";
import { promiseFormat, promiseLines, promisesHeader } from "../outputs/promise-lines.ts";
import type { RunContext } from "./context.ts";
import { noLedger, openLedgerToRead } from "./ledger-to-read.ts";
import { lostRunsFailure, lostRunsOf } from "./lost-runs.ts";
import { refuseCompressed } from "./output-place.ts";
import { labelOf } from "./promises.ts";
import { unknownRun } from "./resume.ts";
import type { Settings } from "./settings.ts";

export interface ResultsSettings {
  readonly settings: Settings;
  /** Without it, all runs, the oldest first. */
  readonly run?: string | undefined;
  /** A file, whose ending says the format, or a stream, which gets NDJSON. */
  readonly to: string | Writable;
  /** Replace an existing file. */
  readonly force: boolean;
  readonly safeCsv: boolean;
}

export interface WrittenResults {
  readonly lines: number;
  /** Undefined where they went to a stream. */
  readonly path: string | undefined;
  /** Runs of which something was undecided when the writing began: it has no line. */
  readonly undecided: readonly UndecidedRun[];
  /** Why the ledger does not know everything that was sent, where that is about what was asked for. */
  readonly problem: Failure | undefined;
}

export interface UndecidedRun extends Pick<RunCounts, "inDoubt" | "refused" | "notSent"> {
  readonly run: string;
}

/** @throws Failure where there is no ledger, the run is not known, or the file exists already. */
export async function writeResults({ cwd }: RunContext, options: ResultsSettings): Promise<WrittenResults> {
  const { settings, run: name, to, force, safeCsv } = options;
  const { environment } = settings;
  const list = readRunList(runListPath(environment.ledgerPath));
  using ledger = await openLedgerToRead(environment);
  if (ledger === undefined) throw noLedger(environment, cwd);
  const lost = lostRunsOf({ environment, boundTo: undefined }, list, ledger).filter(
    ({ run }) => name === undefined || run === name,
  );
  const problem = lost.length === 0 ? undefined : await lostRunsFailure(lost, environment, cwd);
  const runs = name === undefined ? listRuns(ledger).toReversed() : [findRun(ledger, name) ?? []].flat();
  if (name !== undefined && runs.length === 0) throw unknownRun(name, environment);
  // Before the lines are read: what a run that goes on decides meanwhile may have no line either.
  const undecided = runs
    .filter(({ runNo }) => isUndecided(ledger, runNo))
    .map(({ run, runNo }) => ({ run, ...countRun(ledger, runNo) }));
  const format = typeof to === "string" ? promiseFormat(to) : "ndjson";
  let written = 0;
  const lines = function* (): Generator<string> {
    yield promisesHeader(format, safeCsv);
    for (const run of runs) {
      const label = labelOf(run);
      for (const page of outcomesOfRun(ledger, run.runNo)) {
        const text = promiseLines(page, label, format, safeCsv);
        written += page.filter(({ outcome }) => outcome !== "not sent").length;
        if (text !== "") yield text;
      }
    }
  };
  if (typeof to !== "string") {
    await pipeline(Readable.from(lines()), to, { end: false });
    return { lines: written, path: undefined, undecided, problem };
  }
  const path = resolve(cwd, to);
  refuseCompressed(path, cwd, "Nothing was written.");
  if (existsSync(path) && !force)
    throw new Failure("usage", `${displayPath(path, cwd)} already exists and is not overwritten.`, {
      hint: "Name another file, or replace it with --force.",
    });
  await writeFileWhole(path, lines());
  return { lines: written, path, undecided, problem };
}

/** Writes the file whole or not at all; writes straight to a device or a pipe. */
export async function writeFileWhole(path: string, lines: Iterable<string | Buffer>): Promise<void> {
  await makeWayFor(path);
  try {
    if (await isPlainFile(path)) await replaceFile(path, (file) => file.writeFile(Readable.from(lines)));
    else await pipeline(Readable.from(lines), createWriteStream(path));
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}
