import type { Environment } from "../config/environment.ts";
import type { LeftToOthers } from "../ledger/left-to-others.ts";
import type { OutcomeRow } from "../ledger/outcomes.ts";
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
  readonly rejects: Pick<WrittenRejects, "accepted" | "areUnclear">;
}

/** `whole` is the planned chunk of which the stop's chunk is a part. */
export interface RunStop {
  readonly stop: Stop;
  readonly whole: number | undefined;
}
