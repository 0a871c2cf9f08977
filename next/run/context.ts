import type { Readable, Writable } from "node:stream";
import type { Environment } from "../../src/config/environment.ts";
import type { Progress } from "./progress.ts";

/** What the core gets from its caller. */
export interface RunContext {
  /** The folder that paths are relative to. */
  readonly cwd: string;
  /** Environment variables, such as those for keys and proxies. */
  readonly env: NodeJS.ProcessEnv;
  /** Where the input `-` is read from. */
  readonly stdin: Readable;
  /** Where promises go that are not written to a file; without it, to a file in `cwd`. */
  readonly promisesTo: Writable | undefined;
  /** Starts the service of a sandbox environment. */
  readonly openSandbox: (environment: Environment) => Promise<BuiltInService>;
  /** The time against which the times in an input are checked; by default the machine's clock. */
  readonly now?: () => Date;
  /** Aborted, with a `StopRequest` as its reason, when no further request should start. */
  readonly stop: AbortSignal;
  /** Aborted when even the request in flight should be given up. */
  readonly abort: AbortSignal;
  readonly progress: Progress;
}

/** The built-in service; it ends with the command. */
export interface BuiltInService extends AsyncDisposable {
  readonly url: string;
  readonly apiKey: string;
  readonly instanceId: string;
}
