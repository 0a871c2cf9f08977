/** What a rejects file may be read beside: other rejects files, and nothing else. */

import { Failure } from "../failure.ts";
import { shownName } from "./input-file.ts";

type Named = { readonly name: string };

interface Seen {
  readonly file: Named;
  readonly line: number | undefined;
}

/** Looks at the inputs of a command, or at their rows, one after the other. */
export function keepRejectsApart() {
  let rejects: Seen | undefined;
  let other: Seen | undefined;
  return {
    /**
     * Throws a usage failure once rejects and something else were seen: a row that stands in both is one to a person
     * and two to the ledger, of which one would stand behind what comes later.
     *
     * @param line of the row that shows it, where the file may hold both.
     */
    see(file: Named, isRejects: boolean, line?: number): void {
      if (isRejects) rejects ??= { file, line };
      else other ??= { file, line };
      if (rejects !== undefined && other !== undefined) throw refuseTogether(rejects, other);
    },
  };
}

function refuseTogether(rejects: Seen, other: Seen): Failure {
  if (rejects.file !== other.file)
    return refuseRejects(
      rejects.file,
      `it can't be read together with ${shownName(other.file)}, which may hold the same rows`,
    );
  return new Failure(
    "usage",
    `${shownName(rejects.file)} holds a row of a rejects file in line ${rejects.line} and another row in line ${other.line}; the two can't be read together.`,
    { hint: `${STREAM_APART} A row that was added by hand needs "tickets:row": "".` },
  );
}

const STREAM_APART = "Fix the rejects and stream them first, by themselves; then the export.";

/** @param because why, as the end of the sentence. */
export function refuseRejects(file: Named, because: string): Failure {
  return new Failure("usage", `${shownName(file)} is a rejects file that tickets wrote; ${because}.`, {
    hint: `${STREAM_APART} If a pattern such as *.csv matched them, narrow it.`,
  });
}
