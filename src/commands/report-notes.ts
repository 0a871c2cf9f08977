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
  let [isListening, unnoted] = [true, 0];
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
      if (!isListening) return;
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
        const before = isListening;
        // Both have sections of their own.
        if (event.kind === "input checked" || event.kind === "input understood") isListening = false;
        say();
        isListening = before;
      },
      checkedAlone(checked) {
        noted = { ...noted, checked };
        isListening = false;
      },
      ended(summary) {
        noted = { ...noted, summary };
      },
    },
  };
}
