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

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** What lines may look like now. Names that are not known yet are captured, in the order in which they come into `captured`. */
function patternOf(lines: readonly string[], names: Names, captured: string[]): string {
  const patternOfVarying = (text: string, { now, isName }: Varying): string => {
    if (!isName) return now;
    const known = names.get(text);
    if (known !== undefined) return escaped(known);
    const at = captured.indexOf(text);
    return at === -1 ? `(?<name${captured.push(text)}>${now})` : `\\k<name${at + 1}>`;
  };
  return lines
    .map((line) => {
      if (line.trim() === "…") return "(?:.*\n)*";
      let pattern = "";
      let end = 0;
      for (const match of line.matchAll(ANY_VARYING)) {
        const varying = VARYING[match.slice(1).findIndex((group) => group !== undefined)];
        if (varying === undefined) continue;
        pattern += escaped(line.slice(end, match.index)) + patternOfVarying(match[0], varying);
        end = match.index + match[0].length;
      }
      return `${pattern}${escaped(line.slice(end))}\n`;
    })
    .join("");
}

/**
 * What is printed now, in the words of the page where they agree: equal to what the page shows when all of it agrees, and else
 * ready to be pasted, but for lines that the page cuts. Learns the names where all agrees. A line that is only `…` stands for
 * any lines.
 */
export function inWordsOf(shown: string, now: string, names: Names): string {
  const [shownLines, nowLines] = [linesOf(shown), linesOf(now)];
  const captured: string[] = [];
  const found = new RegExp(`^${patternOf(shownLines, names, captured)}$`).exec(textOf(nowLines));
  for (const [at, name] of captured.entries()) {
    const value = found?.groups?.[`name${at + 1}`];
    if (value !== undefined) names.set(name, value);
  }
  if (found !== null) return textOf(shownLines);
  const whole = shownLines.filter((line) => line.trim() !== "…");
  const isNow = (line: string, words: string): boolean =>
    new RegExp(`^${patternOf([words], names, [])}$`).test(textOf([line]));
  return textOf(nowLines.map((line) => whole.find((words) => isNow(line, words)) ?? line));
}

const linesOf = (text: string): readonly string[] => (text.trimEnd() === "" ? [] : text.trimEnd().split("\n"));
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
