/** Two names for one service: with a ledger each, one would send again what the other has sent. */

import { Failure } from "../failure.ts";
import { type Config, originOf } from "./config.ts";
import {
  baseUrlOf,
  describeKeySource,
  displayOrigin,
  type Environment,
  type KeySource,
  keySourceOf,
  ledgerOwnerOf,
  listEnvironments,
} from "./environment.ts";
import { peekKey } from "./key.ts";

/**
 * What has to be mended before `environment` may send: others with its base URL, its key and another ledger. Keys are read to
 * be compared, without running a command, and not kept.
 */
export async function twinFailure(
  config: Config,
  environment: Environment,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  if (environment.kind === "sandbox") return undefined;
  const { name, baseUrl, ledgerOwner, keySource } = environment;
  const others = listEnvironments(config, env)
    .filter((each) => ledgerOwnerOf(config, each.name) !== ledgerOwner && hasAddress(config, each.name, env, baseUrl))
    .map((each) => ({ ...each, keySource: keySourceOf(config, each.name, env).value }));
  const twins: typeof others = [];
  for (const other of others) if (await haveSameKey(other.keySource, keySource, env, signal)) twins.push(other);
  const [twin] = twins;
  if (twin === undefined) return undefined;
  const place = originOf(config, ["environments", name]);
  const shown = twins.map((each) => `${each.name} (${displayOrigin(each.origin, config.cwd)})`).join(" and ");
  const sources = [...new Set([keySource, twin.keySource].map(describeKeySource))].join(" and in ");
  return new Failure(
    "usage",
    `${name}${place === undefined ? "" : ` (${displayOrigin(place, config.cwd)})`} and ${shown} are one service: both have the base URL ${baseUrl} and the same key (${sources}). With separate ledgers, one would send again what the other has sent. Nothing was sent.`,
    {
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
  // In whichever folder it runs: the same words ask for the same key.
  if (one.kind === "command" && other.kind === "command") return one.command.join("\0") === other.command.join("\0");
  if (one.kind === "variable" && other.kind === "variable" && one.name === other.name) return true;
  if (one.kind === "file" && other.kind === "file" && one.path === other.path) return true;
  const key = await peekKey(one, env, signal);
  return key !== undefined && key === (await peekKey(other, env, signal));
}
