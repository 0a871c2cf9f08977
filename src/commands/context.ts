import type { Writable } from "node:stream";
import type { RunContext } from "../run/context.ts";
import type { Reporter } from "./reporter.ts";
import type { Trace } from "./trace.ts";

/** What every command gets from the process. */
export interface Context extends Pick<RunContext, "cwd" | "env" | "stdin" | "now" | "stop" | "abort"> {
  readonly stdout: Writable;
  readonly reporter: Reporter;
  /** Standard output is for one JSON document, and nothing else goes there. */
  readonly isStdoutTaken: boolean;
  /** Show values that name a person as they are. */
  readonly verbose: boolean;
  readonly trace: Trace;
  /** The program's version. */
  readonly version: () => string;
}
