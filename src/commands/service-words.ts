/** Why a service can't be worked with, in the words that sending and asking share. */

import { describeKeySource } from "../config/declared.ts";
import type { Environment } from "../config/environment.ts";
import { isProxyAsking, proxyOf } from "../send/proxy.ts";
import { cleanText, count } from "../text.ts";

/** The gateway's plain answer to a wrong key; any other is shown, without blaming the key. */
const FORBIDDEN = /^\s*\{\s*"message"\s*:\s*"Forbidden"\s*\}\s*$/;

export function describeAuthentication(
  { name, keySource }: Environment,
  { detail, body }: { readonly detail: string; readonly body: string },
): string {
  const failed = `Authentication failed (${detail}): ${name} did not accept`;
  const key = describeKeySource(keySource);
  return FORBIDDEN.test(body)
    ? `${failed} the key from ${key}.`
    : `${failed} the request; the key came from ${key}. ${describeAnswer(body)}`;
}

export const describeAnswer = (body: string): string => `The answer was: ${cleanText(body, 500) || "(empty)"}.`;

/** @param tookNothing what it did where it answered, with nothing but a request to come back later. */
export function describeUnreachable(
  environment: Environment,
  env: NodeJS.ProcessEnv,
  { reached, attempts, detail }: { readonly reached: boolean; readonly attempts: number; readonly detail: string },
  tookNothing: string,
): string {
  const proxy = proxyOf(environment, env)?.shown;
  if (isProxyAsking(detail))
    return `The proxy ${proxy ?? ""} asks for a user name and password (407), and was not tried again. Put them into HTTPS_PROXY (http://user:password@host:port), or bypass the proxy with NO_PROXY.`;
  const service = environment.kind === "sandbox" ? "the sandbox" : environment.baseUrl;
  const through = proxy === undefined ? "" : ` through the proxy ${proxy}`;
  return `${reached ? `${service} ${tookNothing}` : `Could not reach ${service}`}${through} after ${count(attempts, "attempt")} (${cleanText(detail, 200)}).`;
}
