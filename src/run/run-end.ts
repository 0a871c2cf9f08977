import type { Environment } from "../config/environment.ts";
import { EXIT_CODES, SIGNAL_CODES } from "../failure.ts";
import type { Item, Run } from "../ledger/ledger.ts";
import type { Stop, StopRequest } from "../send/stop.ts";
import type { Summary } from "./summary.ts";

/** How a run ended that was carried out, for now or for good. */
export interface RunEnd {
  readonly environment: Environment;
  readonly summary: Summary;
  readonly run: Run;
  readonly lanes: number;
  /** Why it stopped; the first reason decides. */
  readonly stops: readonly Stop[];
  /** What this command sent of it, and how long that took. */
  readonly sent: { readonly actions: number; readonly ms: number };
  /** The first actions that were rejected. */
  readonly rejected: readonly Item[];
}

export function exitCodeOf(stop: Stop): number {
  switch (stop.kind) {
    case "finished":
      return EXIT_CODES.ok;
    case "in doubt":
      return EXIT_CODES["in-doubt"];
    case "refused":
    case "too many rejections":
      return EXIT_CODES.refused;
    case "authentication failed":
      return EXIT_CODES["not-let-in"];
    case "not reachable":
      return EXIT_CODES["stopped-early"];
    case "stopped":
      return STOP_CODES[stop.by];
  }
}

const STOP_CODES: Readonly<Record<StopRequest, number>> = {
  ...SIGNAL_CODES,
  "max-duration": EXIT_CODES["stopped-early"],
  elsewhere: EXIT_CODES["stopped-early"],
};
