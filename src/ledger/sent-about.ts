/**
 * What the ledger has about one id. It is found by the digests of what its deeds would be, so that only what was answered since
 * the last merge is read row by row. Only a promise has no digest: it is looked for in all actions.
 */

import { ACTION_NAMES, type ActionData, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { normalId } from "../checks/ids.ts";
import { placesOfPromise } from "./block.ts";
import { blocksWithin } from "./blocks.ts";
import { triedDeeds } from "./deeds.ts";
import { keyedDeeds } from "./keyed-deeds.ts";
import { idsByNormal } from "./known-ids.ts";
import type { Ledger } from "./ledger.ts";
import { type OutcomeRow, outcomeAt, promiseIn } from "./outcomes.ts";

/** The fields by which an action names its event or ticket. */
export const ID_FIELDS = ["ticketId", "nftId", "eventId"] as const;
export type IdField = (typeof ID_FIELDS)[number];

/** An action of a run, with all that the ledger has of it. */
export interface SentAction extends OutcomeRow {
  readonly runNo: number;
}

/** An accepted action of which an imported promises file told, and which has no place in its run. */
interface UnplacedAction {
  readonly runNo: number;
  readonly seq: number;
  readonly action: ActionName;
  readonly field: IdField;
}

/** The field by which an action names this id as what it is about; undefined where it is about something else. */
export function fieldNaming(
  { action, data }: { action: ActionName; data: ActionData },
  id: string,
): IdField | undefined {
  const field = actionSpec(action).about === "event" ? "eventId" : data.ticketId == null ? "nftId" : "ticketId";
  return data[field] != null && String(data[field]) === id ? field : undefined;
}

/** A kind of action that an id could name its event or ticket in, and the digests of its deeds. */
interface PossibleDeeds {
  readonly field: IdField;
  readonly action: ActionName;
  readonly digests: readonly Buffer[];
}

function possibleDeeds(id: string): readonly PossibleDeeds[] {
  return ID_FIELDS.flatMap((field) =>
    ACTION_NAMES.filter(
      (action) =>
        (actionSpec(action).about === "event") === (field === "eventId") && acceptedFields(action).includes(field),
    ).map((action) => {
      const deed = { action, data: { [field]: id } };
      const imported = importedIdentityText(deed);
      const texts = [identityText(deed), ...(imported === undefined ? [] : [imported])];
      return { field, action, digests: texts.map(digestOf) };
    }),
  );
}

/** The digests (hex) by which plans name what could be about an id. */
export const digestsOf = (id: string): ReadonlySet<string> =>
  new Set(possibleDeeds(id).flatMap(({ digests }) => digests.map((digest) => digest.toString("hex"))));

export interface SentAbout {
  readonly actions: readonly SentAction[];
  readonly unplaced: readonly UnplacedAction[];
}

/** Every action about the ticket or event of this id that has an outcome, in no order. */
export function sentAbout(ledger: Ledger, id: string): SentAbout {
  const actions = new Map<string, SentAction>();
  const unplaced = new Map<string, UnplacedAction>();
  for (const { field, action, digests } of possibleDeeds(id)) {
    for (const { runNo, seq } of digests.flatMap((digest) => deedsAt(ledger, digest))) {
      const outcome = outcomeAt(ledger, runNo, seq);
      if (outcome === undefined) unplaced.set(`${runNo} ${seq}`, { runNo, seq, action, field });
      else actions.set(`${runNo} ${seq}`, { runNo, ...outcome });
    }
  }
  for (const action of unmergedAbout(ledger, id)) actions.set(`${action.runNo} ${action.seq}`, action);
  return { actions: [...actions.values()], unplaced: [...unplaced.values()] };
}

/** Places of the deeds of an identity, those that a source's own key identifies too. */
const deedsAt = (ledger: Ledger, identity: Buffer): readonly Pick<SentAction, "runNo" | "seq">[] => [
  ...triedDeeds(ledger, identity),
  ...keyedDeeds(ledger, identity),
];

/** What became of actions since the last merge: those of a run under way, or of one that died. */
function* unmergedAbout(ledger: Ledger, id: string): Generator<SentAction> {
  for (const { run_no, first } of ledger.all("SELECT run_no, first FROM unmerged ORDER BY run_no, first"))
    for (const block of blocksWithin(ledger, Number(run_no), Number(first), Number(first) + 1))
      for (let at = 0; at < block.count; at += 1) {
        const { action, data } = block.sentAt(at);
        const isAbout = fieldNaming({ action, data: parseJson(data) as ActionData }, id) !== undefined; // written by the planner
        const outcome = isAbout ? outcomeAt(ledger, block.runNo, block.first + at) : undefined;
        if (outcome !== undefined) yield { runNo: block.runNo, ...outcome };
      }
}

/** The actions of a run that were given a promise: none, and for each look how many actions it has looked at. */
export function* withPromise(
  ledger: Ledger,
  runNo: number,
  promise: string,
): Generator<{ readonly looked: number; readonly found: readonly SentAction[] }> {
  for (const row of ledger.iterate(
    "SELECT first, count, promises FROM blocks WHERE run_no = ? ORDER BY first",
    runNo,
  )) {
    const [first, count] = [Number(row.first), Number(row.count)];
    const places = placesOfPromise(row.promises, count, promise);
    const found = places.flatMap((at) => outcomeAt(ledger, runNo, first + at) ?? []);
    yield { looked: count, found: found.map((outcome) => ({ runNo, ...outcome })) };
  }
}

/** Places of actions in doubt beside which the service gave the promise. */
export function doubtsWithPromise(ledger: Ledger, promise: string): readonly Pick<SentAction, "runNo" | "seq">[] {
  return ledger
    .all("SELECT run_no, seq, response FROM doubted_items ORDER BY run_no, seq")
    .filter(({ response }) => promiseIn(String(response)) === promise)
    .map(({ run_no, seq }) => ({ runNo: Number(run_no), seq: Number(seq) }));
}

/** How many actions have outcomes. */
export const countOutcomes = (ledger: Ledger): number =>
  Number(ledger.get("SELECT coalesce(sum(actions), 0) AS n FROM tallies")?.n ?? 0);

/**
 * Other spellings of an id of which something was answered: with other zeros in front, in another case or Unicode form, without
 * blanks around it.
 */
export function similarIds(ledger: Ledger, id: string): readonly string[] {
  const trimmed = id.trim();
  const spellings = new Set([
    ...[
      normalId(id),
      ...(["eventId", "ticketId"] as const).flatMap((field) => idsByNormal(ledger, field, normalId(id))),
    ],
    ...[trimmed, trimmed.toLowerCase(), trimmed.toUpperCase(), trimmed.normalize("NFC"), trimmed.normalize("NFD")],
  ]);
  spellings.delete(id);
  return [...spellings].filter(
    (spelling) =>
      spelling !== "" &&
      possibleDeeds(spelling).some(({ digests }) => digests.some((digest) => deedsAt(ledger, digest).length > 0)),
  );
}
