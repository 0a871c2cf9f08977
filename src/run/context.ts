import type { Readable, Writable } from "node:stream";
import type { Environment } from "../config/environment.ts";
import type { Progress } from "./progress.ts";

/** What the core gets from whoever calls it. */
export interface RunContext {
  /** Folder that relative paths are of. */
  readonly cwd: string;
  /** Variables, such as those that hold keys and proxies. */
  readonly env: NodeJS.ProcessEnv;
  /** What the input `-` is read from. */
  readonly stdin: Readable;
  /** Where the promises go that go to no file; without it they go to one of `cwd`. */
  readonly promisesTo: Writable | undefined;
  /** Starts the service that a sandbox environment is sent to. */
  readonly openSandbox: (environment: Environment) => Promise<BuiltInService>;
  /** What time it is, for checks of the times in an input; the machine's clock when it is left out. */
  readonly now?: () => Date;
  /** Aborted, with a `StopRequest` as its reason, when no further request should start. */
  readonly stop: AbortSignal;
  /** Aborted when even the request in flight should be given up. */
  readonly abort: AbortSignal;
  readonly progress: Progress;
}

/** The service of this machine; it ends with the command. */
export interface BuiltInService extends AsyncDisposable {
  readonly url: string;
  readonly apiKey: string;
  readonly instanceId: string;
}
