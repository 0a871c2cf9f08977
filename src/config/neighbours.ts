/** Other environments at the same address: a second ledger of one service would send everything a second time. */

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

/** An environment that has the same base URL and keeps another ledger. */
export interface Neighbour {
  readonly name: string;
  /** Where it is declared. */
  readonly origin: string;
  readonly keySource: KeySource;
  /** Whether it has the same key; unknown where one of them can't be read without running a command. */
  readonly key: "same" | "different" | "unknown";
}

/** The environments beside `environment`, wherever they are declared. Reads keys to compare them, and keeps none. */
export async function readNeighbours(
  config: Config,
  environment: Environment,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly Neighbour[]> {
  if (environment.kind === "sandbox") return [];
  const neighbours: Neighbour[] = [];
  const peek = (source: KeySource): Promise<string | undefined> => peekKey(source, env, signal);
  for (const { name, origin } of listEnvironments(config, env)) {
    if (name === environment.name || ledgerOwnerOf(config, name) === environment.ledgerOwner) continue;
    if (addressOf(config, name, env) !== environment.baseUrl) continue;
    const keySource = keySourceOf(config, name, env).value;
    const key = isSameSource(keySource, environment.keySource)
      ? "same"
      : compare(await peek(keySource), await peek(environment.keySource));
    neighbours.push({ name, origin, keySource, key });
  }
  return neighbours;
}

/** Undefined for one that can't be sent to: it has no address, or a wrong one. */
function addressOf(config: Config, name: string, env: NodeJS.ProcessEnv): string | undefined {
  try {
    return baseUrlOf(config, name, env).value;
  } catch (cause) {
    if (cause instanceof Failure) return undefined;
    throw cause;
  }
}

function compare(one: string | undefined, other: string | undefined): Neighbour["key"] {
  return one === undefined || other === undefined ? "unknown" : one === other ? "same" : "different";
}

function isSameSource(one: KeySource, other: KeySource): boolean {
  if (one.kind === "variable") return other.kind === "variable" && one.name === other.name;
  if (one.kind === "file") return other.kind === "file" && one.path === other.path;
  // In whichever folder it runs: the same words ask for the same key.
  if (one.kind === "command") return other.kind === "command" && one.command.join("\0") === other.command.join("\0");
  return false;
}

/** What has to be mended before `environment` may send: one service with two ledgers. */
export function secondLedger(
  config: Config,
  { name, baseUrl, keySource }: Environment,
  neighbours: readonly Neighbour[],
): Failure | undefined {
  const twins = neighbours.filter(({ key }) => key === "same");
  const [twin] = twins;
  if (twin === undefined) return undefined;
  const place = originOf(config, ["environments", name]);
  const shown = twins.map((each) => `${each.name} (${displayOrigin(each.origin, config.cwd)})`).join(" and ");
  const key = isSameSource(keySource, twin.keySource)
    ? `the same key (${describeKeySource(keySource)})`
    : `the same key (in ${describeKeySource(keySource)} and in ${describeKeySource(twin.keySource)})`;
  return new Failure(
    "usage",
    `${name}${place === undefined ? "" : ` (${displayOrigin(place, config.cwd)})`} and ${shown} are one service: both have the base URL ${baseUrl} and ${key}. With separate ledgers, one would send again what the other has sent. Nothing was sent.`,
    {
      hint: `Keep one of them. Or let them share a ledger: in a config, give the one that was used less \`sameServiceAs: ${twin.name}\` (or ${name}).`,
    },
  );
}
