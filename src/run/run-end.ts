import type { Environment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LeftToOthers } from "../ledger/left-to-others.ts";
import { type OutcomeRow, wasSentWithin } from "../ledger/outcomes.ts";
import { wholeOf } from "../ledger/runs.ts";
import type { WrittenRejects } from "../outputs/rejects.ts";
import type { Manifest } from "../plan/files/manifest.ts";
import type { Stop } from "../sending/send.ts";
import type { Summary } from "./summary.ts";

/** How a run ended that was carried out, for now or for good. */
export interface RunEnd {
  readonly environment: Environment;
  readonly summary: Summary;
  readonly manifest: Manifest;
  /** Why it stopped; the first reason decides. None where it is finished. */
  readonly stops: readonly RunStop[];
  /** What of it other runs hold. */
  readonly left: LeftToOthers;
  /** Runs with doubts, where this one waits for what they hold; the oldest first. */
  readonly doubts: readonly string[];
  /** What this command sent of it, and how long that took. */
  readonly sent: { readonly actions: number; readonly ms: number };
  /** The first actions that were rejected. */
  readonly rejected: readonly OutcomeRow[];
  readonly rejects: Pick<WrittenRejects, "accepted" | "areUnclear" | "gone">;
}

export interface RunStop {
  readonly stop: Stop;
  /** The planned chunk of which the stop's chunk is a part. */
  readonly whole: number | undefined;
  /** Later actions of that planned chunk were sent, as where the answer left a doubt about some of them only. */
  readonly isAmongSent: boolean;
}

export function toRunStop(ledger: Ledger, { chunks }: Manifest, stop: Stop): RunStop {
  if (!("chunk" in stop)) return { stop, whole: undefined, isAmongSent: false };
  const { runNo, first, count } = stop.chunk;
  const planned = chunks.find((each) => first >= each.first && first < each.first + each.count);
  const end = planned === undefined ? first : planned.first + planned.count;
  return { stop, whole: wholeOf(ledger, stop.chunk), isAmongSent: wasSentWithin(ledger, runNo, first + count, end) };
}
