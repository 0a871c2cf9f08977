import type { Reporter } from "./reporter.ts";
import type { Trace } from "./trace.ts";

/** What every command gets from the process. */
export interface Context {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: import("node:stream").Readable;
  readonly stdout: import("node:stream").Writable;
  readonly reporter: Reporter;
  /** Standard output is for one JSON document, and nothing else goes there. */
  readonly isStdoutTaken: boolean;
  /** Show values of userId and `to` as they are. */
  readonly verbose: boolean;
  /** What time it is, for checks of the times in an input; the machine's clock when it is left out. */
  readonly now?: () => Date;
  /** Aborted, with a `StopRequest` as its reason, when no further request should start. */
  readonly stop: AbortSignal;
  /** Aborted when even the request in flight should be given up. */
  readonly abort: AbortSignal;
  readonly trace: Trace;
}
