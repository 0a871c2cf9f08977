/** A service that outlives the program, and the program in processes that are killed at a moment of one's choice. */

import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { onTestFinished } from "vitest";
import type { CrashPoint } from "../../../src/disk/crash-points.ts";
import { type Engine, openEngine } from "../../../src/sandbox/engine.ts";
import type { FaultScript } from "../../../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/server.ts";
import type { ProcessedAction } from "../../../src/sandbox/state.ts";
import { type Ended, openWorkplace, type RunOptions, type Workplace } from "../bin.ts";
import { makeBallast } from "../folder.ts";
import type { SharedLedger } from "../shared-ledger.ts";

/** A kill -9, and when. */
export type Interruption =
  /** From outside, so many milliseconds after the start. */
  | { readonly kind: "moment"; readonly ms: number }
  /** From outside, just before or after the service processes the n-th request that it gets from this process. */
  | { readonly kind: "request"; readonly request: number; readonly when: "before" | "after" }
  /** By itself, when it passes a boundary of the chunk's life for the n-th time. */
  | { readonly kind: "boundary"; readonly point: CrashPoint; readonly time: number };

export interface Ran extends Ended {
  /** A kill -9 ended it. */
  readonly killed: boolean;
}

export interface Rig {
  readonly place: Workplace;
  readonly sandbox: Sandbox;
  /** What an environment called playground needs, and where its ledger is. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the playground's ledger, or of what a machine keeps beside one in PostgreSQL. */
  readonly state: string;
  /** Everything that the service processed: one list a request, in order. */
  requests(): readonly (readonly ProcessedAction[])[];
  run(args: readonly string[], options?: RunOptions & { readonly interruption?: Interruption }): Promise<Ran>;
  /** Calls back while the service holds the n-th request from now, before or after it processes it. */
  onRequest(request: number, when: "before" | "after", then: () => void): void;
  close(): Promise<void>;
}

interface RigOptions {
  readonly faults?: FaultScript;
  readonly shared?: SharedLedger | undefined;
  /** Rules of the sandbox that it does not refuse by. */
  readonly accept?: readonly string[];
}

/** Ends with the test, if it was not closed before. */
export async function openRig({ faults = { rules: [] }, shared, accept = [] }: RigOptions = {}): Promise<Rig> {
  const place = openWorkplace();
  let processing = 0;
  let hooks: { readonly request: number; readonly when: "before" | "after"; readonly then: () => void }[] = [];
  const call = (when: "before" | "after"): void => {
    for (const hook of hooks.filter((each) => each.request === processing && each.when === when)) hook.then();
  };
  const inner = openEngine({ path: ":memory:", accept });
  const engine: Engine = {
    ...inner,
    process(items, options) {
      processing += 1;
      call("before");
      const results = inner.process(items, options);
      call("after");
      return results;
    },
  };
  const sandbox = await startSandbox({ engine, faults });
  const state = place.path("state/playground");
  makeBallast(state);
  const env = {
    TICKETS_PLAYGROUND_BASE_URL: sandbox.url,
    TICKETS_PLAYGROUND_API_KEY: sandbox.apiKey,
    TICKETS_STATE_DIR: place.path("state"),
    ...shared?.env,
  };
  if (shared !== undefined) place.write("tickets.config.yaml", shared.config);
  const onRequest: Rig["onRequest"] = (request, when, then) => {
    hooks.push({ request: processing + request, when, then });
  };
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await sandbox[Symbol.asyncDispose]();
    inner.close();
    rmSync(place.folder, { recursive: true, force: true });
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  onTestFinished(closeOnce);
  return {
    place,
    sandbox,
    env,
    state,
    requests: () => [...Map.groupBy(engine.processed(), ({ request }) => request).values()],
    onRequest,
    async run(args, { interruption, ...options } = {}) {
      let timer: NodeJS.Timeout | undefined;
      const onSpawn = (child: ChildProcess): void => {
        options.onSpawn?.(child);
        const kill = (): void => {
          child.kill("SIGKILL");
        };
        if (interruption?.kind === "moment") timer = setTimeout(kill, interruption.ms);
        if (interruption?.kind === "request") onRequest(interruption.request, interruption.when, kill);
      };
      const crashAt =
        interruption?.kind === "boundary"
          ? { TICKETS_TEST_CRASH_AT: `${interruption.point}:${interruption.time}` }
          : {};
      const ended = await place.tickets(args, {
        ...options,
        env: { ...env, ...crashAt, ...options.env },
        ...((interruption !== undefined || options.onSpawn !== undefined) && { onSpawn }),
      });
      clearTimeout(timer);
      hooks = [];
      return { ...ended, killed: ended.exitCode === null };
    },
    close: closeOnce,
  };
}
