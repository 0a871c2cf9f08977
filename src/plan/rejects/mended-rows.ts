/** Rows of an input that are known: bad ones of which a mended one was accepted, and those of a rejects file that were mended. */

import { type Action, actionSpec, registersEvent } from "../../actions/actions.ts";
import type { RejectedRows } from "../../ledger/rejected-rows.ts";
import { countsOfNames, namesAllOf, openActionText, openNames, parseName } from "../../mapping/open-actions.ts";
import type { Row } from "../../mapping/row.ts";
import { digestOfKey, keyOf, type RowDigester, sizeOfKey } from "../../mapping/row-digest.ts";

/** What is known of a row. */
type RowMark =
  | MendedMark
  /** It stands in a rejects file of this input already, with all that it names: two nights' rejects hold it, and it is one row. */
  | { readonly kind: "repeated" }
  /** It comes from a rejects file. */
  | RejectedMark;

/** Of a row of a rejects file. */
export interface MarkOfRejects {
  /** It names these of its actions; undefined for all. */
  readonly open: string | undefined;
  /** The actions that the mapping listed when that was written. */
  readonly rules: readonly (readonly string[])[];
}

/** The row need not come from a rejects file. */
export interface MendedMark extends MarkOfRejects {
  readonly kind: "mended";
  readonly key: string;
}

export interface RejectedMark extends MarkOfRejects {
  readonly kind: "rejected";
  /** Its key there. */
  readonly key: string;
  /** It says something else than it did. */
  readonly isMended: boolean;
  /** What it was read as when it was rejected; undefined where that is not known. */
  readonly readAs: string | undefined;
  readonly twin: Twin | undefined;
}

/** An earlier row of the input that has the same key and says something else. */
interface Twin {
  readonly line: number;
  /** Where they differ in what they name of their actions alone: what both do together, empty for all. */
  readonly open: readonly string[] | undefined;
}

/** Looks at all rows of an input, in order. */
export interface RowMarks {
  of(row: Row, digester: RowDigester): RowMark | undefined;
  /** What a row gives now with which its mended one is not done. */
  openOf(mark: MendedMark, given: Given): StillOpen;
}

/** What a row gives of which a mended one was accepted. */
export interface Given {
  readonly actions: readonly Action[];
  /** The `nthOfName` of each. */
  readonly nths: readonly number[];
  /** All of it could be read. */
  readonly isSound: boolean;
}

export interface StillOpen {
  /** As `tickets:actions` names it. */
  readonly names: ReadonlySet<string>;
  /** Some of a kind are done with, and which of them can't be told. */
  readonly isUnsure: boolean;
  /** How many actions the row is done with. */
  readonly closed: number;
  /** Those of a history that say something else than what was accepted of the row, and that nobody has sent. */
  readonly others: readonly Action[];
}

export function createRowMarks(
  known: Pick<RejectedRows, "mended" | "openSince" | "closedOf" | "takenBeside" | "deedsOf" | "isTaken" | "rulesOf">,
): RowMarks {
  /** Of the rows of which a mended one was accepted. */
  const keys = known.mended;
  const digests = new Set([...keys].map(digestOfKey));
  const sizes = new Set([...keys].map(sizeOfKey));
  const numbers = createRowNumbers();
  const namedIn = (row: Row | undefined, digester: RowDigester, key: string): MarkOfRejects => {
    const open = row && digester.open(row);
    return { open, rules: open === undefined ? [] : known.rulesOf(key, openNames(open).join(" ")) };
  };
  const fromRejects = new Map<
    string,
    { readonly line: number; readonly digest: string; readonly open: readonly string[] }
  >();
  const twinOf = (row: Row, digester: RowDigester, key: string, digest: string): Twin | "all of it" | undefined => {
    const open = openNames(digester.open(row) ?? "");
    const first = fromRejects.get(key);
    if (first === undefined) {
      fromRejects.set(key, { line: row.line, digest, open });
      return undefined;
    }
    if (first.digest !== digest) return { line: first.line, open: undefined };
    if (namesAllOf(first.open, open)) return "all of it";
    return { line: first.line, open: open.length === 0 ? [] : [...new Set([...first.open, ...open])] };
  };
  return {
    of(row, digester) {
      // Behind it more may be lost than the row itself.
      if (row.kind === "malformed" && !row.bordersKnown) return undefined;
      const written = digester.written(row);
      const isCandidate = keys.size > 0 && sizes.has(digester.size(row));
      if (!isCandidate && written === undefined) return undefined;
      const digest = digester.digest(row);
      const twin = written === undefined ? undefined : twinOf(row, digester, written, digest);
      if (twin === "all of it") return { kind: "repeated" };
      if (digests.has(digest) && twin?.open === undefined) {
        const key = numbers.key(digest, written);
        if (keys.has(key)) return { kind: "mended", key, ...namedIn(key === written ? row : undefined, digester, key) };
      }
      if (written === undefined) return undefined;
      const readAs = known.openSince(written)?.readAs;
      const isMended = digestOfKey(written) !== digest;
      return {
        kind: "rejected",
        key: written,
        isMended,
        ...namedIn(row, digester, written),
        readAs,
        twin,
      };
    },
    openOf: ({ key }, given) => openOfMended(known, key, given),
  };
}

/**
 * What is open of a bad row of which a mended one was accepted. Its kinds and their numbers tell it: what a person mended may
 * be anything, an id too, so that what the two say decides nothing. Of a kind of which the row gives more than it is done
 * with, all is open that nobody has sent.
 */
function openOfMended(
  known: Pick<RejectedRows, "closedOf" | "takenBeside" | "deedsOf" | "isTaken">,
  key: string,
  { actions, nths, isSound }: Given,
): StillOpen {
  const names = actions.map(({ action }, at) => openActionText(action, nths[at] ?? 0));
  const given = countsOfNames(names);
  const closed = new Map(countsOfNames(known.closedOf(key)));
  const beside = new Set(known.takenBeside(key).map(({ name }) => name));
  for (const [kind, count] of beyond(beside, closed)) closed.set(kind, (closed.get(kind) ?? 0) + count);
  const isMore = (kind: string): boolean => (given.get(kind) ?? 0) > (closed.get(kind) ?? 0);
  // The next row of its event gives a newEvent that stands in the row only because it is the first.
  const isOnlyEvents = actions.every(({ action }) => registersEvent(action));
  const open = actions.flatMap((action, at) => {
    const isOwn = isOnlyEvents || !registersEvent(action.action);
    return isOwn && isMore(action.action) && !isTaken(known, action, isSound) ? [names[at] ?? ""] : [];
  });
  return {
    names: new Set(open),
    isUnsure: [...countsOfNames(open).keys()].some((kind) => closed.has(kind)),
    closed: [...closed.values()].reduce((sum, count) => sum + count, 0),
    others: open.length > 0 ? [] : saysElse(known, key, actions),
  };
}

/** Of each kind, how many of the names are beyond those that a count of the kind implies. */
function beyond(names: Iterable<string>, counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const kinds = Array.from(names, parseName).filter(({ nth, action }) => (nth ?? 1) > (counts.get(action) ?? 0));
  return new Map([...Map.groupBy(kinds, ({ action }) => action)].map(([kind, { length }]) => [kind, length]));
}

/** A field that the accepted one has and this one lacks may be the very one that was mended. */
function saysElse(
  known: Pick<RejectedRows, "deedsOf" | "isTaken">,
  key: string,
  actions: readonly Action[],
): readonly Action[] {
  const ofHistories = actions.filter(({ action }) => actionSpec(action).identity === "history");
  if (ofHistories.length === 0) return [];
  const accepted = known.deedsOf(key);
  return ofHistories.filter(({ action, data }) => {
    const before = accepted.filter((deed) => deed.action === action);
    const isWhole = before.some((deed) => Object.keys(deed.data).every((field) => Object.hasOwn(data, field)));
    return isWhole && !known.isTaken({ action, data });
  });
}

function isTaken(known: Pick<RejectedRows, "isTaken">, action: Action, isSound: boolean): boolean {
  const { about, identity } = actionSpec(action.action);
  const { eventId, ticketId, nftId, orderTime } = action.data;
  const id = about === "event" ? eventId : (ticketId ?? nftId);
  if (typeof id !== "string" || id === "") return false;
  // What can't be read of a deed without a time may be what tells it from others.
  return (isSound || identity === "once" || orderTime != null) && known.isTaken(action);
}

/** Numbers equal rows over all files of an input, in the order in which they are read. */
export interface RowNumbers {
  /** @param written what the row itself has in `tickets:row`. */
  key(digest: string, written: string | undefined): string;
}

export function createRowNumbers(): RowNumbers {
  const seen = new Map<string, number>();
  return {
    key(digest, written) {
      const nth = (seen.get(digest) ?? 0) + 1;
      seen.set(digest, nth);
      return written !== undefined && digestOfKey(written) === digest ? written : keyOf(digest, nth);
    },
  };
}
