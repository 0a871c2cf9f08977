/** Ranges of a file: read, mapped and checked by whoever has time, in a worker or beside it. Knows nothing of other ranges. */

import { IS_FAST_PATH_ON } from "../../actions/fast-path.ts";
import type { Severity } from "../../actions/problem.ts";
import { severityIn } from "../../checks/severity.ts";
import { asBuffer } from "../../disk/buffers.ts";
import { createMapper, type MapperOptions } from "../../mapping/create-mapper.ts";
import type { RangeFormat } from "../../readers/input.ts";
import type { InputFile } from "../../readers/input-file.ts";
import type { Range } from "../../readers/ranges.ts";
import type { SpareMemory } from "../../readers/spare-memory.ts";
import { createProblemLog, type LogCapacity } from "../findings/problem-log.ts";
import { createRowMarks } from "../rejects/mended-rows.ts";
import type { Batch } from "./batch.ts";
import { createRowCompiler } from "./compile-rows.ts";

/** What there is to know of a file; plain data. */
export interface FileTask {
  readonly kind: "file";
  readonly file: { readonly name: string; readonly format: InputFile["format"] };
  readonly input: number;
  readonly ranged: RangeFormat;
  readonly mapper: MapperOptions;
  readonly severities: ReadonlyMap<string, Severity>;
  readonly now: number;
  readonly notesEvents: boolean;
  readonly readAs: string;
  /** Keys of the rows of which a mended one was accepted. */
  readonly mended: ReadonlySet<string>;
  readonly mostGiven: number;
}

export interface RangeTask extends Range {
  readonly kind: "range";
  readonly input: number;
  readonly range: number;
  readonly capacity: LogCapacity;
}

export interface Answer {
  readonly range: number;
  readonly batch: Batch;
  /** The range's text: its memory is used again, */
  readonly text: Uint8Array;
  /** and where it may have to be compiled again, so is what stands there. */
  readonly mayDiffer: boolean;
}

export type RangeCompiler = (task: RangeTask) => Answer;

/** @param spare for what comes of the ranges. */
export function createRangeCompiler(task: FileTask, spare: SpareMemory): RangeCompiler {
  const { file, input, ranged, mapper, severities, now, notesEvents, readAs, mended, mostGiven } = task;
  const compiler = createRowCompiler({
    file,
    input,
    mapper: createMapper(mapper),
    severityOf: severityIn(severities),
    now,
    notesEvents,
    readAs,
    // Rows of rejects files are told by who knows the ledger.
    rules: [],
    header: mapper.header,
    ranged,
    settings: IS_FAST_PATH_ON ? mapper : undefined,
    marks: createRowMarks(mended, "some"),
    keeps: spare,
    mostGiven,
  });
  return ({ range, bytes, lineEnds, isLast, capacity }) => {
    const log = createProblemLog(capacity.cap, capacity.keeps);
    const batch = compiler.compileRange({ bytes: asBuffer(bytes), lineEnds, isLast }, log);
    return { range, batch, text: bytes, mayDiffer: batch.isUnsure || (batch.seen?.events?.length ?? 0) > 0 };
  };
}
