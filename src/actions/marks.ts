/** What subjects and marks say by themselves (docs/guarantees.md, "What counts as already sent"). */

import { type ActionName, actionSpec } from "./actions.ts";

/** Whether the service would probably refuse it a second time: there is but one of its kind. It would take others again. */
export function isOnce(kind: ActionName): boolean {
  const { mark } = actionSpec(kind);
  return mark === "none" || mark === "recipient";
}

/** Whether the last one decides how things stand; a scan undoes nothing. */
export function overwrites(kind: ActionName): boolean {
  const { mark } = actionSpec(kind);
  return mark === "recipient" || mark === "content";
}

/** The kind of a mark. Where one came or went, nothing tells which action an accepted one is. */
export const kindOfMark = (mark: string): string => mark.slice(0, 1);

/** Whether neither a time nor a key tells a second one of the same mark from the first. */
export const comesBack = (mark: string): boolean => /^[cuw]/.test(mark);

const NUMBER = /#\d+$/;
/** A key or recipient as a mark: a hyphen behind each `#`, so that none ends like a resent one. */
export const plainMark = (mark: string): string => withoutNul(mark.replaceAll("#", "#-"));

/** The mark of an action that is sent for the `times`-th time. */
export const resentMark = (mark: string, times: number): string => (times === 1 ? mark : `${baseOf(mark)}#${times}`);

/** A mark without the number of a resent action. */
export const baseOf = (mark: string): string => (mark.includes("#") ? mark.replace(NUMBER, "") : mark);

/** How many times an action of this mark was sent. */
export const timesOf = (mark: string): number => Number(NUMBER.exec(mark)?.[0].slice(1) ?? 1);

/** An id that needs no other form, as almost all are: no blanks, no leading zeros, no decimals, nothing beyond ASCII. */
const ORDINARY = /^(?!0+\d+$)[!-~]+$/;
const DECIMALS = /^(\d+)[.,]0+$/;

/**
 * A subject in the one form in which ids are compared: NFKC, without what can't be seen, blanks and hyphens folded, without the leading zeros of a number
 * and without a `.0` behind it. Two ids that share it look like one.
 */
export function formOf(subject: string): string {
  const id = subject.slice(2);
  if (ORDINARY.test(id) && !DECIMALS.test(id)) return subject;
  const folded = id
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .trim()
    .replace(/\s+/g, " ")
    .replace(/[\p{Pd}\u2212]/gu, "-");
  return `${subject.slice(0, 2)}${folded.replace(DECIMALS, "$1").replace(/^0+(?=\d+$)/, "")}`;
}

// ---- as any database holds them ----

/** The characters, not their escapes. */
const [NUL, MARK, STX] = [String.fromCharCode(0), String.fromCharCode(1), String.fromCharCode(2)];

/**
 * PostgreSQL holds no text with the character U+0000, SQLite's of Node 22 reads a text only up to it, and an id may have one. So
 * each U+0000 and U+0001 is written as two characters. Texts keep their order, and those that have neither, which is nearly all, stay as they are.
 */
export const withoutNul = (text: string): string =>
  text.includes(NUL) || text.includes(MARK)
    ? text.replaceAll(MARK, `${MARK}${STX}`).replaceAll(NUL, `${MARK}${MARK}`)
    : text;

const WRITTEN = new RegExp(`${MARK}([${MARK}${STX}])`, "g");

/** What `withoutNul` was given. */
export const withNul = (text: string): string =>
  text.replace(WRITTEN, (_pair, second) => (second === STX ? MARK : NUL));
