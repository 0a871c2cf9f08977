/**
 * Finds out whether an environment was renamed: its new ledger is empty, and everything the old one has sent would be sent
 * again.
 */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { forgetLostCommand } from "../actions/next-command.ts";
import { cleanText, count, displayPath, inShell } from "../actions/text.ts";
import type { Config } from "../config/config.ts";
import { type Environment, ledgerOwnerOf } from "../config/environment.ts";
import { Key, peekKey, readKey } from "../config/key.ts";
import { schemaOfOwner } from "../config/ledger-server.ts";
import type { Neighbour } from "../config/neighbours.ts";
import { Failure } from "../failure.ts";
import { runListPath } from "../ledger/ledger.ts";
import { type RunListContent, readRunList } from "../ledger/run-list.ts";
import { actionsOutside, ledgersIn, type SiblingLedger, siblingLedgers } from "../ledger/siblings.ts";
import { wasUsedWith } from "../ledger/used-keys.ts";
import { findLedgerOf, siblingsInDatabase } from "./ledger-of.ts";

/** What lies beside a ledger that has sent nothing yet. */
export interface Beside {
  /** Ledgers that may have been the environment's own. */
  readonly former: readonly SiblingLedger[];
  /** What has to be decided before anything is sent. */
  readonly problem: Failure | undefined;
  /** Ledgers of other accounts at the same address, or of accounts that can't be told apart here. */
  readonly others: readonly Pick<Neighbour, "name" | "key">[];
  /** The environment's key, where it had to be read. */
  readonly key: Key | undefined;
}

interface LookOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly sends: boolean;
  readonly waits: boolean;
}

const NOTHING: Beside = { former: [], problem: undefined, others: [], key: undefined };

/**
 * Looks for ledgers of the same address in the same state folder, as long as the environment's own has sent nothing. Those of
 * declared environments (`neighbours`) were compared before.
 *
 * @param options.sends the key is about to be used, so it may be read wherever it comes from.
 * @param options.waits a server that can't be reached is waited for as where something is sent.
 */
export async function lookBeside(
  config: Config,
  environment: Environment,
  neighbours: readonly Pick<Neighbour, "name">[],
  options: LookOptions,
): Promise<Beside> {
  if (environment.kind === "sandbox") return NOTHING;
  const { stateDir, ledgerOwner, baseUrl } = environment;
  const compared = new Set([ledgerOwner, ...neighbours.map(({ name }) => ledgerOwnerOf(config, name))]);
  const names = ledgersIn(stateDir).filter((name) => !compared.has(name));
  if (names.length === 0 && environment.ledgerServer === undefined) return NOTHING;
  try {
    const list = readRunList(runListPath(environment.ledgerPath));
    if (await hasSent(environment, list, options.waits)) return NOTHING;
    const schemas = new Set([...compared].map((name) => schemaOfOwner(config, name)));
    const found = [
      ...siblingLedgers(stateDir, names, baseUrl),
      ...(await siblingsInDatabase(environment, schemas)),
    ].filter(({ id }) => !list.apart.has(id));
    return found.length === 0 ? NOTHING : judge(environment, found, await keyFor(environment, options), config.cwd);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== "storage") throw cause;
    return { ...NOTHING, problem: cause };
  }
}

/** Whether the ledger knows, or once knew, of anything that the service has. Then it is not new. */
async function hasSent(environment: Environment, list: RunListContent, waits: boolean): Promise<boolean> {
  if ([...list.runs.values()].some(({ taken, isForgotten }) => taken > 0 && !isForgotten)) return true;
  using ledger = await findLedgerOf(environment, undefined, waits ? "sending" : "reading");
  return ledger !== undefined && actionsOutside(ledger) > 0;
}

/**
 * A command that sends reads the key once, as it would anyway. For others, a key that a command or a pipe gives stays
 * unknown.
 */
async function keyFor(environment: Environment, { env, signal, sends }: LookOptions): Promise<Key | undefined> {
  if (sends) return readKey(environment, signal, { env });
  const text = await peekKey(environment.keySource, env, signal);
  return text === undefined ? undefined : new Key(text);
}

function judge(environment: Environment, found: readonly SiblingLedger[], key: Key | undefined, cwd: string): Beside {
  if (key === undefined)
    return { ...NOTHING, former: found, others: found.map(({ name }) => ({ name, key: "unknown" })) };
  const isUsed = ({ keys }: SiblingLedger): boolean | undefined => wasUsedWith(keys, (salt) => key.digest(salt));
  const former = found.filter((each) => isUsed(each) !== false);
  const others = found.filter((each) => !former.includes(each));
  const same = former.filter((each) => isUsed(each) === true);
  return {
    former,
    problem:
      former.length === 0 ? undefined : formerSelf(environment, same.length > 0 ? same : former, same.length > 0, cwd),
    others: others.map(({ name }) => ({ name, key: "different" })),
    key,
  };
}

/** @param former the ledger that knows most comes first. */
function formerSelf(
  environment: Environment,
  former: readonly SiblingLedger[],
  isSameKey: boolean,
  cwd: string,
): Failure {
  const { name, baseUrl } = environment;
  const [first] = former as [SiblingLedger]; // never empty
  const shown = former.map(
    ({ name: other, folder, createdAt, actions }) =>
      `${cleanText(other, 64)} (${folder === undefined ? "a schema of its database" : displayPath(folder, cwd)}, since ${createdAt.slice(0, 10)}, ${count(actions, "action")} accepted or in doubt)`,
  );
  const keys = isSameKey
    ? "was used with the same base URL and the same key"
    : "was used with the same base URL (its key is not recorded)";
  return new Failure(
    "usage",
    `${name} (${baseUrl}) has sent nothing yet, but the ledger of ${shown.join(" and that of ")} ${keys}. If ${name} was called that before, all of it would be sent again. Nothing was sent.`,
    {
      hint: [
        ...waysBack(environment, first),
        `If ${isSameKey ? "you know that nothing of it will be sent twice" : "it is another account's"}: ${forgetLostCommand(environment)}`,
      ].join("\n"),
    },
  );
}

/** How the environment gets the ledger that it had before. */
function waysBack({ name, ledgerPath, ledgerServer }: Environment, former: SiblingLedger): readonly string[] {
  const called = cleanText(former.name, 64);
  if (former.folder === undefined)
    return [`If it is the environment's own, name it in the config: ledger: {postgres: {schema: ${called}}}`];
  const again = `If the environment was renamed, call it ${called} again.`;
  if (ledgerServer !== undefined) return [again];
  const own = dirname(ledgerPath);
  const away = existsSync(own) ? `mv ${inShell(own)} ${inShell(`${own}.aside`)} && ` : "";
  return [again, `Or let ${name} continue with that ledger: ${away}mv ${inShell(former.folder)} ${inShell(own)}`];
}
