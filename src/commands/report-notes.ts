/** What a command does and says, noted for the report that it was asked for. */

import type { CheckedInput, OpenedLedger, RunEvent, UnderstoodInput } from "../run/progress.ts";
import type { RunEnd, Summary } from "../run/summary.ts";
import type { Reporter } from "./reporter.ts";

export interface ReportNotes {
  /** Notes what happened, and what is said of it. */
  readonly happened: (event: RunEvent, say: () => void) => void;
  /** From here on what is said stands in the report in another form. */
  readonly checkedAlone: (checked: CheckedInput) => void;
  /** What the command came to. */
  readonly ended: (summary: Summary) => void;
}

/** A sentence that was said, with its weight. */
interface Said {
  readonly tone: "plain" | "warning" | "bad";
  readonly text: string;
}

/** What was noted. */
export interface Noted {
  readonly opened: OpenedLedger | undefined;
  readonly inputs: readonly UnderstoodInput[];
  readonly checked: CheckedInput | undefined;
  readonly summary: Summary | undefined;
  /** How the last run ended that was carried out. */
  readonly end: RunEnd | undefined;
  readonly said: readonly Said[];
  /** Said beyond those. */
  readonly unnoted: number;
}

const ALL_TONES: readonly Said["tone"][] = ["plain", "warning", "bad"];

/** What is said of these stands in the verdict, the tiles and the sections already. */
const STANDS_ELSEWHERE: { readonly [Kind in RunEvent["kind"]]?: readonly Said["tone"][] } = {
  "ledger opened": ["plain"],
  "input understood": ALL_TONES,
  "input checked": ALL_TONES,
  "sending planned": ["plain"],
  "run ended": ["plain", "bad"],
};

/** Sentences that are kept; a report that repeats every attempt of a bad night is not read. */
const MOST_SAID = 100;

/** Notes of a command that speaks through `reporter`, and the reporter that notes. */
export function takeNotes(reporter: Reporter): {
  readonly notes: ReportNotes;
  readonly noted: () => Noted;
  readonly reporter: Reporter;
} {
  const said: Said[] = [];
  const inputs: UnderstoodInput[] = [];
  // What is said of the command as a whole is in the verdict, as long as it does not warn.
  let [heard, unnoted]: [readonly Said["tone"][], number] = [["warning", "bad"], 0];
  let noted: Pick<Noted, "opened" | "checked" | "summary" | "end"> = {
    opened: undefined,
    checked: undefined,
    summary: undefined,
    end: undefined,
  };
  const note =
    (tone: Said["tone"], say: (text: string) => void) =>
    (text: string): void => {
      say(text);
      if (!heard.includes(tone)) return;
      if (said.length < MOST_SAID) said.push({ tone, text });
      else unnoted += 1;
    };
  return {
    reporter: {
      ...reporter,
      info: note("plain", reporter.info),
      warn: note("warning", reporter.warn),
      warnAgain: note("warning", reporter.warnAgain),
      notice: note("plain", reporter.notice),
      error: note("bad", reporter.error),
    },
    noted: () => ({ ...noted, inputs, said, unnoted }),
    notes: {
      happened(event, say) {
        if (event.kind === "ledger opened") noted = { ...noted, opened: event };
        if (event.kind === "input understood") inputs.push(event);
        if (event.kind === "input checked") noted = { ...noted, checked: event.checked };
        if (event.kind === "run ended") noted = { ...noted, end: event.end };
        const before = heard;
        if (before.length > 0) heard = ALL_TONES.filter((tone) => !STANDS_ELSEWHERE[event.kind]?.includes(tone));
        say();
        heard = before;
      },
      checkedAlone(checked) {
        noted = { ...noted, checked };
        heard = [];
      },
      ended(summary) {
        noted = { ...noted, summary };
      },
    },
  };
}
