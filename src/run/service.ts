/** Where the requests to an environment go, with which key, and over which connections. */

import type { Environment } from "../config/environment.ts";
import { Key, readKey } from "../config/key.ts";
import type { ClientTls } from "../config/tls.ts";
import type { ServiceClient } from "../send/client.ts";
import type { RunContext } from "./context.ts";

export interface Service extends AsyncDisposable {
  readonly environment: Environment;
  /** Of the sandbox it is known only once that runs. */
  readonly baseUrl: string;
  /** What a ledger of the service belongs to. */
  readonly boundTo: string;
  /** Read when it is first asked for. @throws Failure `not-let-in` where there is none. */
  readonly key: () => Promise<Key>;
  /** Client certificate and authorities, where the environment names some. */
  readonly tls: () => Promise<ClientTls | undefined>;
}

export async function openService(context: RunContext, environment: Environment): Promise<Service> {
  if (environment.kind === "sandbox") {
    const sandbox = await context.openSandbox(environment);
    return {
      ...{ environment, baseUrl: sandbox.url, boundTo: `sandbox:${sandbox.instanceId}` },
      key: async () => new Key(sandbox.apiKey),
      tls: async () => undefined,
      [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
    };
  }
  const { env, stop, progress } = context;
  const doubt = (warning: string): void => progress.happened({ kind: "key doubtful", warning });
  const { baseUrl } = environment;
  return {
    ...{ environment, baseUrl, boundTo: baseUrl },
    key: once(async () => {
      const key = await readKey(environment, stop, { env });
      if (key.warning !== undefined) doubt(key.warning);
      return key;
    }),
    tls: once(async () => {
      if (environment.tls === undefined) return undefined;
      const { readTls } = await import("../config/tls.ts");
      return readTls(environment, env, doubt);
    }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}

/** What opens connections to a service. */
export async function connectorTo(
  service: Service,
  { env }: Pick<RunContext, "env">,
  limits: { readonly timeoutMs?: number; readonly freshConnection?: boolean; readonly maxAnswerBytes?: number } = {},
): Promise<() => ServiceClient> {
  const { timeoutMs, freshConnection } = service.environment;
  const [key, tls] = [await service.key(), await service.tls()];
  // Loaded only here: most commands ask nobody, and the HTTP client would be a large part of their start.
  const { openClient } = await import("../send/client.ts");
  return () => openClient({ baseUrl: service.baseUrl, key, tls, timeoutMs, freshConnection, env, ...limits });
}
