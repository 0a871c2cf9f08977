/** The first line of a command that looks into a ledger: what is used, and whether its memory is new. */

import { count } from "../actions/text.ts";
import { displayPath } from "../config/config.ts";
import { displayOrigin, type Environment } from "../config/environment.ts";
import type { OpenedLedger } from "../run/progress.ts";
import { proxyFor, type UsedProxy } from "../sending/proxy.ts";
import type { Context } from "./context.ts";

/** The proxy that requests to an environment go through, if any. */
export function proxyOf({ kind, baseUrl }: Environment, env: NodeJS.ProcessEnv): UsedProxy | undefined {
  return kind === "sandbox" ? undefined : proxyFor(baseUrl, env);
}

export function describeOpened(
  { environment, neighbours, runs }: OpenedLedger,
  { cwd, env }: Pick<Context, "cwd" | "env">,
): string {
  const { name, ledgerOwner, ledgerPath } = environment;
  const where = environment.kind === "sandbox" ? "built in" : environment.baseUrl;
  const known = runs === 0 ? "NEW" : `with ${count(runs, "earlier run")}`;
  const proxy = proxyOf(environment, env);
  return [
    `${name} (${where}${proxy === undefined ? "" : `, through the proxy ${proxy.shown}`})`,
    `ledger ${ledgerOwner === name ? "" : `of ${ledgerOwner} `}${displayPath(ledgerPath, cwd)} ${known}`,
    // The first key that goes to an address should go there knowingly.
    ...(known === "NEW" && environment.kind === "service"
      ? [`address from ${displayOrigin(environment.origins.baseUrl, cwd)}`]
      : []),
    ...neighbours.map(({ name: other, key }) =>
      key === "different"
        ? `another account than ${other} at the same address`
        : `the same address as ${other}, whose key is not known here`,
    ),
  ].join(" · ");
}
