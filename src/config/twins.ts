/** Two names for one service: with a ledger each, one would send again what the other has sent. */

import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import type { Config } from "./config.ts";
import {
  baseUrlOf,
  describeKeySource,
  displayOrigin,
  type KeySource,
  keySourceOf,
  ledgerOwnerOf,
  listEnvironments,
  placeIn,
  SANDBOX,
} from "./declared.ts";
import { type KeyOwner, peekKey } from "./key.ts";

/** @throws Failure `usage` for a `sameServiceAs` that would give two services one ledger. */
export function refuseWrongTwin(config: Config, name: string, baseUrl: string, env: NodeJS.ProcessEnv): void {
  const other = config.environments.get(name)?.sameServiceAs;
  if (other === undefined) return;
  const said = `${name} says sameServiceAs: ${other} (${placeIn(config, name, "sameServiceAs")})`;
  const refuse = (what: string, hint: string): Failure =>
    new Failure("usage", `${said}${what}`, { hint: `${hint} Nothing was sent.` });
  if (config.environments.get(name)?.ledger !== undefined)
    throw refuse(
      " and names a ledger of its own",
      `The ledger of ${other} is used. Name the database there, and remove it here.`,
    );
  if (other === name) throw refuse(", which is itself", "Name the other environment, or remove the line.");
  if (other === SANDBOX)
    throw refuse(
      ", but the sandbox is a separate service on this machine",
      "Name another environment, or remove the line.",
    );
  const names = listEnvironments(config, env).map((each) => each.name);
  if (!names.includes(other)) {
    const near = nearest(other, names);
    const meant = near === undefined || near === name ? "" : ` Did you mean ${near}?`;
    throw refuse(", but there is no such environment", `There are: ${names.join(", ")}.${meant}`);
  }
  const third = config.environments.get(other)?.sameServiceAs;
  if (third === name)
    throw refuse(`, and ${other} says the same of ${name}`, "One of them keeps the ledger: remove its line.");
  if (third !== undefined)
    throw refuse(`, which itself says sameServiceAs: ${third}`, `Name the one that keeps the ledger: ${third}.`);
  const address = baseUrlOf(config, other, env).value;
  if (address !== baseUrl)
    throw refuse(
      `, but they have two addresses: ${baseUrl} and ${address}`,
      "Give both the same base URL, or remove the line.",
    );
}

/**
 * Why `environment` may not send: others have its base URL, its key and another ledger. Keys are read to be compared,
 * without running a command, and not kept.
 */
export async function twinFailure(
  config: Config,
  {
    kind,
    name,
    baseUrl,
    ledgerOwner,
    keySource,
  }: KeyOwner & { readonly kind: "sandbox" | "service"; readonly baseUrl: string; readonly ledgerOwner: string },
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  if (kind === "sandbox") return undefined;
  const others = listEnvironments(config, env)
    .filter((each) => ledgerOwnerOf(config, each.name) !== ledgerOwner && hasAddress(config, each.name, env, baseUrl))
    .map((each) => ({ ...each, keySource: keySourceOf(config, each.name, env).value }));
  const twins: typeof others = [];
  for (const other of others) if (await haveSameKey(other.keySource, keySource, env, signal)) twins.push(other);
  const [twin] = twins;
  if (twin === undefined) return undefined;
  const place = config.environments.has(name) ? ` (${placeIn(config, name)})` : "";
  const shown = twins.map((each) => `${each.name} (${displayOrigin(each.origin, config.cwd)})`).join(" and ");
  const sources = [...new Set([keySource, twin.keySource].map(describeKeySource))].join(" and in ");
  return new Failure(
    "usage",
    `${name}${place} and ${shown} are one service: both have the base URL ${baseUrl} and the same key (${sources}). With separate ledgers, one would send again what the other has sent.`,
    {
      nothingSent: true,
      hint: `Keep one of them. Or let them share a ledger: in a config, give the one that was used less \`sameServiceAs: ${twin.name}\` (or ${name}).`,
    },
  );
}

/** False for one that can't be sent to: it has no address, or a wrong one. */
function hasAddress(config: Config, name: string, env: NodeJS.ProcessEnv, baseUrl: string): boolean {
  try {
    return baseUrlOf(config, name, env).value === baseUrl;
  } catch (cause) {
    if (cause instanceof Failure) return false;
    throw cause;
  }
}

async function haveSameKey(
  one: KeySource,
  other: KeySource,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<boolean> {
  if (wordsOf(one) === wordsOf(other)) return true;
  const key = await peekKey(one, env, signal);
  return key !== undefined && key === (await peekKey(other, env, signal));
}

/** In whichever folder a command runs: the same words ask for the same key. */
const wordsOf = (source: KeySource): string =>
  JSON.stringify(source.kind === "command" ? source.command : Object.values(source));
