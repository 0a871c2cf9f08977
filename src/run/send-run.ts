/** Sends lanes of a run to the environment's service. */

import type { Environment } from "../config/environment.ts";
import type { Key } from "../config/key.ts";
import type { ClientTls } from "../config/tls.ts";
import { crashPoint } from "../disk/crash-points.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunRecord } from "../ledger/runs.ts";
import type { ServiceClient } from "../sending/client.ts";
import { type LaneSource, sendLanes } from "../sending/lanes.ts";
import { pause } from "../sending/pause.ts";
import type { RecordContext } from "../sending/record-answer.ts";
import type { SendContext, Stop, StopRequest } from "../sending/send.ts";
import type { RunContext } from "./context.ts";
import { sendingProgress } from "./sending-progress.ts";

/** What is known of the service that requests go to. */
export interface Service {
  readonly environment: Environment;
  readonly ledger: Ledger;
  readonly baseUrl: string;
  readonly key: () => Promise<Key>;
  readonly tls: ClientTls | undefined;
}

/** @param options.onSending called once there is a key, before the first request. */
export async function sendRun(
  context: RunContext,
  options: {
    readonly session: Service;
    readonly run: RunRecord;
    readonly deadline: number;
    readonly onSending?: () => void;
  },
  recording: RecordContext,
  lanes: LaneSource,
): Promise<readonly Stop[]> {
  const { session, run, deadline, onSending } = options;
  const { environment } = session;
  const key = await session.key();
  onSending?.();
  crashPoint("listed");
  using timer = stopAfter(deadline, context.stop);
  const sending: SendContext = {
    ...recording,
    environment,
    progress: sendingProgress(context, session, run, lanes.atOnce),
    stop: timer.signal,
    abort: context.abort,
    deadline,
  };
  // Loaded only here: most commands send nothing, and loading an HTTP client would be a large part of their start.
  const { openClient } = await import("../sending/client.ts");
  const connect = (): ServiceClient =>
    openClient({
      baseUrl: session.baseUrl,
      key,
      timeoutMs: environment.timeoutMs,
      freshConnection: environment.freshConnection,
      tls: session.tls,
      env: context.env,
    });
  return await sendLanes(sending, lanes, connect);
}

/** A signal that also stops when the time is up. */
export function stopAfter(deadline: number, stop: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  if (deadline === Number.POSITIVE_INFINITY) return { signal: stop, [Symbol.dispose]: () => undefined };
  const [over, done] = [new AbortController(), new AbortController()];
  void pause(deadline - performance.now(), done.signal).then(() => {
    if (!done.signal.aborted) over.abort("max-duration" satisfies StopRequest);
  });
  return { signal: AbortSignal.any([stop, over.signal]), [Symbol.dispose]: () => done.abort() };
}
