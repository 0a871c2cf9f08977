/**
 * Marks of a ledger that is copied to another place, so that only one of the two is ever sent from: the source has one from the
 * first row on, and the copy until its last row was compared.
 */

import { z } from "zod";
import { Failure } from "../failure.ts";
import { type Ledger, readMeta, writeMeta } from "./ledger.ts";
import { sqlList } from "./sql-list.ts";

const MARK = z.object({
  /** Names the copy: both ledgers have it. */
  copy: z.string(),
  /** Where the other ledger is. */
  ledger: z.string(),
  /** UTC in ISO 8601. */
  at: z.string(),
  /** Everything was copied and compared. */
  isWhole: z.boolean(),
});
export type Mark = Readonly<z.infer<typeof MARK>>;

/** Keys in the ledger's meta table. */
const [COPIED_TO, COPIED_FROM, REOPENED] = ["copied_to", "copied_from", "reopened"];
/** They say nothing about the copy of a ledger. */
export const NOT_COPIED: readonly string[] = [COPIED_TO, COPIED_FROM, REOPENED];

function readMark(ledger: Ledger, key: string): Mark | undefined {
  const text = readMeta(ledger, key);
  return text === undefined ? undefined : MARK.parse(JSON.parse(text));
}

/** Where a ledger was copied to, or is being copied to. */
export const copiedTo = (ledger: Ledger): Mark | undefined => readMark(ledger, COPIED_TO);
/** What a ledger is a copy of. */
export const copiedFrom = (ledger: Ledger): Mark | undefined => readMark(ledger, COPIED_FROM);

/** After it returns, the ledger is used no more. */
export function markCopiedTo(ledger: Ledger, mark: Mark): void {
  ledger.transaction(() => writeMeta(ledger, COPIED_TO, JSON.stringify(mark)));
}

export function markCopiedFrom(ledger: Ledger, mark: Mark): void {
  writeMeta(ledger, COPIED_FROM, JSON.stringify(mark));
}

/** Part of a transaction: makes room for the notes of another ledger. */
export function forgetNotes(ledger: Ledger): void {
  ledger.run(`DELETE FROM meta WHERE key NOT IN ${sqlList(NOT_COPIED)}`);
}

/**
 * Lets a ledger be used again that was copied. Who, when and why is kept in it.
 *
 * @returns where it was copied to; undefined where it was not, and nothing is changed.
 */
export function reopen(
  ledger: Ledger,
  { who, reason }: { readonly who: string; readonly reason: string },
): Mark | undefined {
  const mark = copiedTo(ledger);
  if (mark === undefined) return undefined;
  ledger.transaction(() => {
    ledger.run("DELETE FROM meta WHERE key = ?", COPIED_TO);
    writeMeta(ledger, REOPENED, JSON.stringify({ who, reason, at: new Date().toISOString(), copiedTo: mark }));
  });
  return mark;
}

/** Whether anything may be written into it but by a copy. */
export const isInUse = (ledger: Ledger): boolean =>
  copiedTo(ledger) === undefined && copiedFrom(ledger)?.isWhole !== false;

/**
 * Has only one of a ledger and its copy be used.
 *
 * @throws Failure `usage` for one that was copied elsewhere, and for a copy that is not whole.
 */
export function refuseCopied(ledger: Ledger): void {
  const from = copiedFrom(ledger);
  if (from !== undefined && !from.isWhole)
    throw new Failure(
      "usage",
      `The ledger ${ledger.path} is an unfinished copy of ${from.ledger}, begun at ${from.at}. Nothing was sent.`,
      { hint: "Finish it: run the same command again (tickets ledger copy)." },
    );
  const to = copiedTo(ledger);
  if (to === undefined) return;
  const onlyThisOne = 'If this one is to be used again, whatever the other knows: tickets ledger reopen --reason "…"';
  throw to.isWhole
    ? new Failure(
        "usage",
        `The ledger ${ledger.path} was moved to ${to.ledger} at ${to.at}; what is sent is kept there. Nothing was sent.`,
        { hint: `Have the config name that one, or copy it back: tickets ledger copy\n${onlyThisOne}` },
      )
    : new Failure(
        "usage",
        `The ledger ${ledger.path} is being moved to ${to.ledger}, since ${to.at}, and that is not finished. Nothing was sent.`,
        { hint: `Finish it: run the same command again (tickets ledger copy).\n${onlyThisOne}` },
      );
}
