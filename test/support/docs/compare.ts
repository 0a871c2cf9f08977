/** Compares output that a page shows with output of now: what differs from run to run is matched by its form. */

interface Varying {
  readonly shown: RegExp;
  /** What may stand there now. */
  readonly now: string;
  /** It is the same thing wherever the page names it, in commands too. */
  readonly isName?: true;
}

const VARYING: readonly Varying[] = [
  { shown: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, now: "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}" },
  { shown: /\b[0-9a-f]{32}\b/, now: "[0-9a-f]{32}" },
  { shown: /\d{4}-\d\d-\d\dT[\d:.]+Z/, now: "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z" },
  { shown: /(?<![\w-])[0-9a-f]{8}(?![\w-])/, now: "[0-9a-f]{8}", isName: true },
  { shown: /(?<=process )\d+/, now: "\\d+", isName: true },
  {
    shown: /(?<=[iI]n |took )[\d.]+ m?s\b(?:, [\d,]+ actions\/s while sending)?/,
    now: "[\\d.]+ m?s(?:, [\\d,]+ actions\\/s while sending)?",
  },
  { shown: /\b\d+\.\d s\b/, now: "[\\d.]+ m?s" },
  { shown: /\d+ (?:s|min) ago/, now: "\\d+ (?:s|min) ago" },
  { shown: /\b\d{13}\b/, now: "\\d{13}" },
  {
    shown: /\d+ [A-Z]\w{2,3} \d\d:\d\d(?: \([\w/+-]+\))?/,
    now: "\\d+ [A-Z]\\w{2,3} \\d\\d:\\d\\d(?: \\([\\w/+-]+\\))?",
  },
  { shown: /(?<= by )\w+(?=, \d+ [A-Z])/, now: "\\S+" },
  // Columns are as wide as what is in them, a folder for instance.
  { shown: / {2,}/, now: " {2,}" },
  { shown: /…/, now: ".*" },
];
const ANY_VARYING = new RegExp(VARYING.map(({ shown }) => `(${shown.source})`).join("|"), "g");

/** Names that a page shows, run ids and process ids, and what they are now. */
export type Names = Map<string, string>;

export const withNames = (text: string, names: Names): string =>
  [...names].reduce((done, [shown, now]) => done.replaceAll(new RegExp(`\\b${shown}\\b`, "g"), now), text);

/** The names in a line as they are now; undefined where the line is another one. */
function matchLine(shown: string, now: string, names: Names): Names | undefined {
  const named: string[] = [];
  let pattern = "";
  let end = 0;
  for (const match of shown.matchAll(ANY_VARYING)) {
    const varying = VARYING[match.slice(1).findIndex((group) => group !== undefined)];
    if (varying === undefined) continue;
    const known = varying.isName && names.get(match[0]);
    pattern += escaped(shown.slice(end, match.index));
    pattern += known ? escaped(known) : varying.isName ? `(${varying.now})` : varying.now;
    if (varying.isName && !known) named.push(match[0]);
    end = match.index + match[0].length;
  }
  const found = new RegExp(`^${pattern}${escaped(shown.slice(end))}$`).exec(now);
  return found === null ? undefined : new Map(named.map((name, at) => [name, found[at + 1] ?? ""]));
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const isCut = (line: string | undefined): boolean => line?.trim() === "…";

/**
 * What is printed now, in the words of the page where they agree: equal to what the page shows when all of it agrees, and else ready to be pasted.
 * Learns the names in lines that agree. A line that is only `…` stands for any lines.
 */
export function inWordsOf(shown: string, now: string, names: Names): string {
  const [shownLines, nowLines] = [linesOf(shown), linesOf(now)];
  // The longest common subsequence from the end, so that one line that differs does not make all behind it differ.
  const longest: number[][] = [];
  const at = (i: number, j: number): number => longest[i]?.[j] ?? 0;
  const agrees = (i: number, j: number): boolean =>
    matchLine(shownLines[i] ?? "", nowLines[j] ?? "", names) !== undefined;
  for (let i = shownLines.length; i >= 0; i--) {
    const row: number[] = Array.from({ length: nowLines.length + 1 }, () => 0);
    longest[i] = row;
    if (i === shownLines.length) continue;
    for (let j = nowLines.length; j >= 0; j--) {
      const after = row[j + 1] ?? 0;
      if (isCut(shownLines[i])) row[j] = Math.max(at(i + 1, j) + 1, after);
      else if (j < nowLines.length) row[j] = Math.max(agrees(i, j) ? at(i + 1, j + 1) + 1 : 0, at(i + 1, j), after);
      else row[j] = at(i + 1, j);
    }
  }
  const reported: string[] = [];
  let [i, j] = [0, 0];
  while (i < shownLines.length || j < nowLines.length) {
    const line = shownLines[i];
    if (line === undefined) reported.push(nowLines[j++] ?? "");
    else if (isCut(line)) {
      // It stands for as many lines as leave the rest of the page to agree best.
      const best = at(i, j) - 1;
      for (let k = nowLines.length; k >= j; k--)
        if (at(i + 1, k) === best) {
          j = k;
          break;
        }
      reported.push(line);
      i++;
    } else if (j < nowLines.length && agrees(i, j) && at(i, j) === at(i + 1, j + 1) + 1) {
      for (const [name, value] of matchLine(line, nowLines[j] ?? "", names) ?? []) names.set(name, value);
      reported.push(line);
      i++;
      j++;
    } else if (j >= nowLines.length || at(i + 1, j) >= at(i, j + 1)) i++;
    else reported.push(nowLines[j++] ?? "");
  }
  return reported.map((each) => `${each}\n`).join("");
}

const linesOf = (text: string): readonly string[] => (text.trimEnd() === "" ? [] : text.trimEnd().split("\n"));
