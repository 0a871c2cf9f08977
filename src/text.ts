/** Texts as they are shown: on a terminal, in messages, in a shell. */

import { relative } from "node:path";

/** Characters that steer a terminal or are invisible: control and format characters (bidirectional, zero-width, tags), line separators, fillers. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/**
 * Text from a file or the service, made fit for a terminal: control, bidirectional and invisible characters become one blank,
 * and what is longer than `max` code points ends in "…".
 */
export function cleanText(text: string, max = 80): string {
  const head = text.length > max * 4 ? text.slice(0, max * 4) : text;
  const points = Array.from(head.replace(CONTROL, " "));
  return points.length > max || head.length < text.length ? `${points.slice(0, max).join("")}…` : points.join("");
}

/** Such text in a message, in quotes. */
export const quoted = (text: string, max = 40): string => JSON.stringify(cleanText(text, max));

/** Of a text as short as this, the ends would show half or more. */
const SHORT = 8;

/** A text that names a person, fit for a log: only its ends are shown, and nothing of a short one. */
export function masked(text: string): string {
  const points = Array.from(cleanText(text));
  if (points.length <= SHORT) return points.length === 0 ? "" : "…";
  return `${points.slice(0, 2).join("")}…${points.slice(-2).join("")}`;
}

/** Lines of our own, with whatever was put into them: the same characters become blanks, but line ends stay. */
export const cleanLines = (text: string): string => text.replace(CONTROL, (run) => run.replace(/[^\n]+/g, " "));

/** JSON text of the same meaning with such characters as `\\u` escapes. */
export function escapeUnseen(json: string): string {
  return json.replace(CONTROL, (run) =>
    run.replace(/[^\n\r\t]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** Characters that take two columns of a terminal: East Asian ones, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Characters that are drawn into the one before them. */
const JOINED = /\u200d|\ufe0f|[\p{Mn}\p{Me}\p{Emoji_Modifier}]/u;

/** Columns that a text takes on a terminal. `Intl.Segmenter` would take 15 ms of each start, a package that uses it 40. */
export function textWidth(text: string): number {
  let [columns, before] = [0, ""];
  for (const character of text) {
    // Emoji that a joiner holds together are drawn as one.
    if (before !== "\u200d" && !JOINED.test(character)) columns += WIDE.test(character) ? 2 : 1;
    before = character;
  }
  return columns;
}

/** `12,000`; a whole number. `Intl.NumberFormat` would take 15 to 20 ms of each start. */
export const number = (value: number): string => String(value).replace(BEFORE_GROUP, ",");

const BEFORE_GROUP = /\B(?=(?:\d{3})+$)/g;

/** `1 row`, `2 rows` */
export const count = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** `12 ms`, `1.5 s`, `8 s`, `5 min`, `26 h`, `12 d`: an age or a duration, rounded. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 0.1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 10) return `${Math.round(10 * seconds) / 10} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** `2026-05-01 20:00:00 UTC`; undefined where these Unix seconds are no date. */
export function utcText(seconds: number): string | undefined {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** ` and 3 more` behind what is listed; nothing where that is all. */
export const andMore = (more: number): string => (more > 0 ? ` and ${number(more)} more` : "");

/** A word of a shell, exactly this text. */
export const quotedInShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const LONGEST_PATH = 4096;

/** A word to be pasted into a shell, quoted if it holds more than letters, digits and what is usual in paths. */
export function inShell(text: string): string {
  const word = cleanText(text, LONGEST_PATH);
  return /^[\w./:@%+=,-]+$/.test(word) ? word : quotedInShell(word);
}

/** How a file is called in messages: relative when it lies in or below the working directory. */
export function displayPath(file: string, cwd: string): string {
  const inside = relative(cwd, file);
  return cleanText(inside === "" || inside.startsWith("..") ? file : inside, LONGEST_PATH);
}

/** A file to be pasted into a shell: never taken for a flag. */
export const fileInShell = (path: string): string => inShell(path.startsWith("-") && path !== "-" ? `./${path}` : path);
