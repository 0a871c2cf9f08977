import type { Environment } from "../config/environment.ts";
import { proxyFor, type UsedProxy } from "../sending/proxy.ts";

/** The proxy that requests to an environment go through, if any. */
export function proxyOf({ kind, baseUrl }: Environment, env: NodeJS.ProcessEnv): UsedProxy | undefined {
  return kind === "sandbox" ? undefined : proxyFor(baseUrl, env);
}
