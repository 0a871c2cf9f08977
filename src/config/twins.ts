/** Two names for one service: with a ledger each, one would send again what the other has sent. */

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
} from "./declared.ts";
import type { Environment } from "./environment.ts";
import { peekKey } from "./key.ts";

/**
 * Why `environment` may not send: others have its base URL, its key and another ledger. Keys are read to be compared,
 * without running a command, and not kept.
 */
export async function twinFailure(
  config: Config,
  { kind, name, baseUrl, ledgerOwner, keySource }: Environment,
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
const wordsOf = ({ env, file, program }: KeySource): string => JSON.stringify([env, file, program?.command]);
