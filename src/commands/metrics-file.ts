/** The file of `--metrics`: Prometheus' text format, as node_exporter's textfile collector reads it. */

import { resolve } from "node:path";
import { replaceFile } from "../disk/files.ts";
import { errorCode, Failure } from "../failure.ts";
import type { Invocation } from "../ledger/ledger.ts";
import { endedAt, isUnfinished, type Status } from "../run/runs.ts";
import { cleanText } from "../text.ts";

/** Numbers about an environment. They come from its ledger, so a bad night does not lose the good ones. */
export interface Metrics {
  readonly environment: string;
  /** The last `stream` or `resume`; undefined before the first one. */
  readonly last: SendingEnd | undefined;
  /** Undefined where the ledger can't be read, or lacks runs that were sent from here: it can't say that nothing is in doubt. */
  readonly ledger: Pick<Status, "succeeded" | "runs"> | undefined;
}

type SendingEnd = Pick<Invocation, "exitCode" | "counts"> & { readonly endedAt: string };

/**
 * @param status undefined where the ledger can't be read.
 * @param last how the command ended that asks; without it, what the ledger has noted.
 */
export function metricsOf(environment: string, status: Status | undefined, last?: SendingEnd): Metrics {
  const noted = status?.failed ?? status?.succeeded;
  return {
    environment,
    last: last ?? (noted && { ...noted, endedAt: endedAt(noted) }),
    ledger: status?.problem === undefined ? status : undefined,
  };
}

interface Metric {
  readonly help: string;
  /** One value, or one for each outcome; undefined where it is not known. */
  readonly value: (metrics: Metrics) => number | Readonly<Record<string, number>> | undefined;
}

const seconds = (time: string): number => Date.parse(time) / 1000;

/** All of them are gauges. docs/nightly.md lists them. */
const METRICS: Readonly<Record<string, Metric>> = {
  tickets_last_success_timestamp_seconds: {
    help: "When a stream or resume last ended with exit code 0, in Unix time; 0 if none has yet.",
    value: ({ ledger }) => ledger && (ledger.succeeded === undefined ? 0 : seconds(endedAt(ledger.succeeded))),
  },
  tickets_last_run_timestamp_seconds: {
    help: "When the last stream or resume ended, in Unix time.",
    value: ({ last }) => last && seconds(last.endedAt),
  },
  tickets_last_run_exit_code: {
    help: "Exit code of the last stream or resume.",
    value: ({ last }) => last?.exitCode,
  },
  tickets_last_run_actions: {
    help: "Actions of the last stream or resume by outcome; absent where it ended before they were counted.",
    // They add up to all of them, and are called as in the summary: `in_doubt`.
    value: ({ last }) => {
      const { total: _, ...counts } = (last?.counts?.actions ?? {}) as Readonly<Record<string, number>>; // a summary's
      const named = Object.entries(counts).map(([key, actions]) => [
        key.replace(/[A-Z]/g, "_$&").toLowerCase(),
        actions,
      ]);
      return named.length === 0 ? undefined : Object.fromEntries(named);
    },
  },
  tickets_doubts: {
    help: "Actions in doubt that wait for a person to settle them, of all runs.",
    value: ({ ledger }) => ledger?.runs.reduce((sum, { counts }) => sum + counts.inDoubt + counts.refused, 0),
  },
  tickets_unfinished_runs: {
    help: "Runs that are not finished.",
    value: ({ ledger }) => ledger?.runs.filter(isUnfinished).length,
  },
};

export function metricsText(metrics: Metrics): string {
  // A name of letters, digits, _ and - needs no escapes.
  const place = `environment="${metrics.environment}"`;
  return Object.entries(METRICS)
    .flatMap(([name, { help, value }]) => {
      const found = value(metrics);
      if (found === undefined) return [];
      const samples =
        typeof found === "number"
          ? [`${name}{${place}} ${found}\n`]
          : Object.entries(found).map(([outcome, actions]) => `${name}{${place},outcome="${outcome}"} ${actions}\n`);
      return [`# HELP ${name} ${help}\n# TYPE ${name} gauge\n`, ...samples];
    })
    .join("");
}

/**
 * Replaces the file as a whole, so that the collector never reads half of one; anybody may read it. After this resolves it is
 * on disk.
 *
 * @throws Failure `storage`.
 */
export async function writeMetrics(name: string, cwd: string, metrics: Metrics): Promise<void> {
  const path = resolve(cwd, name);
  // The collector reads what ends in .prom.
  const nameOf = (name: string): string => `.${name}.${process.pid}.tmp`;
  try {
    await replaceFile(path, metricsText(metrics), { mode: 0o644, nameOf });
  } catch (cause) {
    throw new Failure(
      "storage",
      `The metrics can't be written to ${cleanText(name, 300)} (${errorCode(cause) ?? "unknown reason"}).`,
      { hint: "Name a file in a folder that is there and can be written.", cause },
    );
  }
}
