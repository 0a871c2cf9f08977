/** A NEW ledger beside another one of the same service, as after an environment was renamed: all would be sent again. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cleanText, count, displayPath } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { Failure } from "../failure.ts";
import { type Ledger, readMeta } from "../ledger/ledger.ts";
import { openLedger, storageFailure } from "../ledger/open-ledger.ts";
import { actionsOutside, countRuns } from "../ledger/runs.ts";

/** A person's word that a new ledger is meant: given before, or asked for on a terminal; undefined where nobody can be asked. */
export type NewLedgerWord = true | ((question: string) => Promise<boolean>) | undefined;

/**
 * Asks as long as the ledger has no run.
 *
 * @throws Failure `usage` where nobody says that a new ledger is meant.
 */
export async function agreeToNewLedger(
  { environment, ledger }: { readonly environment: Environment; readonly ledger: Ledger },
  word: NewLedgerWord,
  cwd: string,
): Promise<void> {
  if (environment.kind === "sandbox" || word === true || countRuns(ledger) > 0) return;
  const other = otherLedger(environment);
  if (other === undefined) return;
  const { name, baseUrl } = environment;
  const path = displayPath(other.path, cwd);
  const what = `The ledger of ${name} is new, but that of ${cleanText(other.name, 64)} (${path}) knows of ${count(other.actions, "action")} which ${baseUrl} has accepted, or may have. All of it that is in the input would be sent again.`;
  if (word !== undefined && (await word(`${what} Begin a new ledger?`))) return;
  throw new Failure("usage", `${what} Nothing was sent.`, {
    hint: `If ${name} was called ${cleanText(other.name, 64)} before, call it that again.\nIf it is another account's, add --yes once, or give the environment a stateDir of its own.`,
  });
}

/** Of the other ledgers in the state folder, the one that the service has most of. */
function otherLedger({ stateDir, ledgerOwner, baseUrl }: Environment) {
  return foldersIn(stateDir)
    .filter((name) => name !== ledgerOwner)
    .map((name) => ({ name, path: join(stateDir, name, "ledger.db") }))
    .filter(({ path }) => existsSync(path))
    .map((other) => ({ ...other, actions: actionsSentTo(other.path, baseUrl) }))
    .sort((one, two) => two.actions - one.actions)
    .find(({ actions }) => actions > 0);
}

function foldersIn(stateDir: string): readonly string[] {
  try {
    return existsSync(stateDir) ? readdirSync(stateDir) : [];
  } catch (cause) {
    throw storageFailure(stateDir, cause);
  }
}

function actionsSentTo(path: string, baseUrl: string): number {
  using ledger = openLedger({ path, boundTo: undefined, readOnly: true });
  return readMeta(ledger, "bound_to") === baseUrl ? actionsOutside(ledger) : 0;
}
