/** Ranges of a file compiled by the fast path and by the reference, which must come to the same. */

import { expect, vi } from "vitest";
import type { Severity } from "../../../../src/actions/problem.ts";
import { severityIn, severityTable } from "../../../../src/checks/severity.ts";
import { createMapper, type MapperOptions } from "../../../../src/mapping/create-mapper.ts";
import type { Batch, RestOfRange } from "../../../../src/plan/compile/batch.ts";
import { createRowCompiler } from "../../../../src/plan/compile/compile-rows.ts";
import { createProblemLog } from "../../../../src/plan/findings/problem-log.ts";
import { createRowMarks } from "../../../../src/plan/rejects/mended-rows.ts";
import type { RangeFormat } from "../../../../src/readers/input.ts";
import { SpareMemory } from "../../../../src/readers/spare-memory.ts";

/** In Unix seconds. */
const NOW = 1_800_000_000;

export interface BothWays {
  readonly text: string;
  readonly made: MapperOptions;
  readonly ranged: RangeFormat;
  readonly notesEvents?: boolean | undefined;
  readonly severities?: Readonly<Record<string, Severity>> | undefined;
}

/** Both ways of one text, twice, and how many rows the mapper was asked about. */
export function compileBothWays({ text, made, ranged, notesEvents = false, severities = {} }: BothWays) {
  const compilerOf = (isFast: boolean, mostGiven = Number.POSITIVE_INFINITY) => {
    const mapper = createMapper(made);
    const map = vi.spyOn(mapper, "map");
    const compiler = createRowCompiler({
      file: { name: made.fileName, format: ranged.format },
      input: 3,
      mapper,
      severityOf: severityIn(severityTable(severities)),
      now: NOW,
      notesEvents,
      readAs: "soldTicket",
      rules: [],
      header: made.header,
      ranged,
      settings: isFast ? made : undefined,
      marks: createRowMarks(new Set(), "some"),
      keeps: new SpareMemory(),
      mostGiven,
    });
    return { compiler, map };
  };
  const bytes = Buffer.from(text);
  const [fast, reference] = [compilerOf(true), compilerOf(false)];
  /** All lines that come of the text where so many bytes of them end a batch. */
  const linesInParts = (isFast: boolean, mostGiven: number): Buffer[] => {
    const { compiler } = compilerOf(isFast, mostGiven);
    const lines: Buffer[] = [];
    for (let next: RestOfRange | undefined = { at: 0, lineEnds: 1 }; next !== undefined; ) {
      const { at, lineEnds }: RestOfRange = next;
      const range = { bytes: bytes.subarray(at), lineEnds, isLast: true };
      const batch = compiler.compileRange(range, createProblemLog(100, "all"));
      lines.push(batch.bytes.lines);
      next = batch.rest && { ...batch.rest, at: at + batch.rest.at };
    }
    return lines;
  };
  const batches: Batch[] = [];
  // A range ends with a row, and what is known of the file goes on.
  for (const at of [0, 1]) {
    const range = { bytes, lineEnds: 1 + at * 1000, isLast: at === 1 };
    const [one, other] = [fast, reference].map(({ compiler }) =>
      compiler.compileRange(range, createProblemLog(100, "all")),
    );
    expect(one).toEqual(other);
    if (one !== undefined) batches.push(one);
    if (one?.isUnreadable || !text.endsWith("\n")) break;
  }
  return { batches, linesInParts, asked: fast.map.mock.calls.length, rows: reference.map.mock.calls.length };
}
