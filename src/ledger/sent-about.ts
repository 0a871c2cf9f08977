/**
 * What the ledger has about one id. It is found by the digests of what its deeds would be, so that only what was answered since
 * the last merge is read row by row. Only a promise has no digest: it is looked for in all actions.
 */

import { ACTION_NAMES, type ActionData, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import { digestOf, identityText, importedIdentityText } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { normalId } from "../checks/ids.ts";
import { triedDeeds } from "./deeds.ts";
import { keyedDeeds } from "./keyed-deeds.ts";
import { idsByNormal } from "./known-ids.ts";
import type { Ledger } from "./ledger.ts";
import { type OutcomeRow, outcomeAt, promiseIn, UNMERGED, unmergedActions } from "./outcomes.ts";

/** The fields by which an action names its event or ticket. */
export const ID_FIELDS = ["ticketId", "nftId", "eventId"] as const;
export type IdField = (typeof ID_FIELDS)[number];

/** An action of a run, with all that the ledger has of it. */
export interface SentAction extends OutcomeRow {
  readonly runNo: number;
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

/** Every action about the ticket or event of this id that has an outcome, in no order. */
export function sentAbout(ledger: Ledger, id: string): readonly SentAction[] {
  const actions = new Map<string, SentAction>();
  for (const { digests } of possibleDeeds(id)) {
    for (const { runNo, seq } of digests.flatMap((digest) => deedsAt(ledger, digest))) {
      const outcome = outcomeAt(ledger, runNo, seq);
      if (outcome !== undefined) actions.set(`${runNo} ${seq}`, { runNo, ...outcome });
    }
  }
  for (const action of unmergedAbout(ledger, id)) actions.set(`${action.runNo} ${action.seq}`, action);
  return [...actions.values()];
}

/** Places of the deeds of an identity, those that a source's own key identifies too. */
const deedsAt = (ledger: Ledger, identity: Buffer): readonly Pick<SentAction, "runNo" | "seq">[] => [
  ...triedDeeds(ledger, identity),
  ...keyedDeeds(ledger, identity),
];

/** What became of actions since the last merge: those of a run under way, or of one that died. */
function* unmergedAbout(ledger: Ledger, id: string): Generator<SentAction> {
  for (const { run_no } of ledger.all(`SELECT DISTINCT run_no FROM chunks WHERE ${UNMERGED} ORDER BY run_no`)) {
    const runNo = Number(run_no);
    for (const actions of unmergedActions(ledger, runNo))
      for (const { seq, sent } of actions) {
        const data = parseJson(sent.data) as ActionData; // written by the planner
        const isAbout = fieldNaming({ action: sent.action, data }, id) !== undefined;
        const outcome = isAbout ? outcomeAt(ledger, runNo, seq) : undefined;
        if (outcome !== undefined) yield { runNo, ...outcome };
      }
  }
}

/** The actions of a run that were given a promise: none, and for each look how many actions it has looked at. */
export function* withPromise(
  ledger: Ledger,
  runNo: number,
  promise: string,
): Generator<{ readonly looked: number; readonly found: readonly SentAction[] }> {
  const last = Number(ledger.get("SELECT max(seq) AS seq FROM actions WHERE run_no = ?", runNo)?.seq ?? 0);
  for (let first = 1; first <= last; first += LOOKED_AT_ONCE) {
    const places = ledger.all(WITH_PROMISE, runNo, first, first + LOOKED_AT_ONCE, promise);
    const found = places.flatMap(({ seq }) => outcomeAt(ledger, runNo, Number(seq)) ?? []);
    const looked = Math.min(LOOKED_AT_ONCE, last + 1 - first);
    yield { looked, found: found.map((outcome) => ({ runNo, ...outcome })) };
  }
}

const LOOKED_AT_ONCE = 10_000;
const WITH_PROMISE =
  "SELECT seq FROM actions WHERE run_no = ? AND seq >= ? AND seq < ? AND action_promise = ? ORDER BY seq";

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
