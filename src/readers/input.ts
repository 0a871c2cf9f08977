import { setImmediate } from "node:timers/promises";
import { Failure } from "../failure.ts";
import { REJECTS_COLUMNS } from "../mapping/open-actions.ts";
import type { Row } from "../mapping/row.ts";
import { type ByteSource, type BytesOptions, openBytes } from "./bytes.ts";
import { type CsvOptions, type CsvStart, csvParser } from "./csv.ts";
import { bomEncoding, resolveEncoding, toUtf8 } from "./encoding.ts";
import { FORMATS, isTable } from "./formats.ts";
import type { InputFile, InputFormat } from "./input-file.ts";
import { shownName } from "./names.ts";
import { ndjsonParser } from "./ndjson.ts";
import { createRangeCutter, type Range } from "./ranges.ts";
import { EMPTY, type RowParser } from "./row-parser.ts";
import { type AsUtf8, type Utf8Watch, watchUtf8 } from "./utf8-watch.ts";

const ROWS_PER_BATCH = 1000;

export interface OpenInputOptions extends BytesOptions {
  /** `--encoding` or the source's: any label of the WHATWG Encoding Standard (utf-8). A byte order mark wins over it; rejects are UTF-8. */
  readonly encoding?: string | undefined;
  readonly csv?: CsvOptions | undefined;
}

/** An opened input: what is known of it from its first bytes, and its rows. */
export interface Input extends AsyncDisposable {
  readonly file: InputFile;
  readonly format: InputFormat;
  /** CSV and TSV: the cells of the header as written; undefined when there is none, as in an empty file. */
  readonly header: readonly string[] | undefined;
  /** Physical line of the header. */
  readonly headerLine: number | undefined;
  readonly delimiter: string | undefined;
  /** Canonical name of the encoding it is read in. */
  readonly encoding: string;
  /** It begins with a byte order mark, which wins over any encoding that is declared. */
  readonly hasBom: boolean;
  /** What its bytes so far would be as UTF-8, where they are read in another encoding. */
  readonly asUtf8: AsUtf8 | undefined;
  /**
   * The rows in their order, up to 1000 at a time; may be called once. The event loop gets its turn between batches. A
   * malformed row whose borders are not known is the last one. Throws a usage failure where the input can't be read on.
   */
  batches(): AsyncGenerator<readonly Row[], void>;
  /**
   * The same as `batches`, may be called instead: what was read already and what can't be cut comes as rows, all else as
   * ranges of about `rangeBytes`, to be read by `rangeParser` in any order. When a row of a range is the last that can be
   * read, no more is to be asked for, and `drain` called.
   */
  parts(rangeBytes: number): AsyncGenerator<Part, void>;
  /** How the ranges of `parts` are read; undefined where there are none. */
  readonly ranged: RangeFormat | undefined;
  /** Reads to the end, for size and SHA-256 only. */
  drain(): Promise<void>;
  /** There is nothing in it, or nothing but blanks. */
  readonly isEmpty: boolean;
  /** The last line, where it lacks its line end; known when the batches have ended. */
  readonly unendedLine: number | undefined;
  /** Size of the file as stored, before it is read; 0 where that is not known. */
  readonly storedBytes: number;
  /** Size of the input as stored (compressed, if it is). Final when the batches have ended. */
  readonly bytesRead: number;
  /** Hex SHA-256 of the input as stored. Throws before the batches have ended. */
  readonly sha256: string;
  /** Hex SHA-256 of the input decompressed; undefined where not all of it was read. */
  readonly contentSha256: string | undefined;
}

type Part = { readonly kind: "rows"; readonly rows: readonly Row[] } | ({ readonly kind: "range" } & Range);

/** How the ranges of an input are read. Plain data. */
export type RangeFormat =
  | { readonly format: "csv"; readonly quote: string | undefined; readonly start: Omit<CsvStart, "lineEnds"> }
  | { readonly format: "ndjson" };

/** A parser for what stands behind so many line ends of an input. */
export function rangeParser(how: RangeFormat, lineEnds: number): RowParser {
  return how.format === "csv"
    ? csvParser({ quote: how.quote, after: { ...how.start, lineEnds } })
    : ndjsonParser({ after: { lineEnds } });
}

/** Opens an input and reads as far as its header. Throws a usage failure when it can't be used as a whole. */
export async function openInput(file: InputFile, options: OpenInputOptions = {}): Promise<Input> {
  const wanted = options.encoding === undefined ? "utf-8" : resolveEncoding(options.encoding);
  const source = await openBytes(file, options);
  try {
    return await startReading(file, source, wanted, options);
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

async function startReading(
  file: InputFile,
  source: ByteSource,
  wanted: string,
  options: OpenInputOptions,
): Promise<Input> {
  const blocks = source.blocks();
  const first = await blocks.next();
  const head = first.done === true ? EMPTY : first.value;
  refuseBinary(file, head);
  const ofBom = bomEncoding(head);
  const isRejects = showsRejects(head);
  // An editor may have saved them without their byte order mark.
  const encoding = ofBom ?? (isRejects ? "utf-8" : wanted);
  let parser: Pick<RowParser, "lineEnds"> | undefined;
  const lineEnds = (): number => parser?.lineEnds ?? 0;
  const stored = rejoin(head, blocks);
  const utf8Watch = encoding === "utf-8" ? undefined : watchUtf8();
  const decoded = toUtf8(utf8Watch === undefined ? stored : watched(stored, utf8Watch, lineEnds), {
    encoding,
    name: shownName(file),
    lineEnds,
    isRejects,
  });

  let lastByte: number | undefined;
  const text = notingLastByte(decoded, (byte) => {
    lastByte = byte;
  });

  const beginning = await text.next();
  const format = file.format === "detect" ? formatOf(beginning.done === true ? EMPTY : beginning.value) : file.format;
  const { parser: parserOf, isOfLines } = FORMATS[format];
  const opened = parserOf(options.csv ?? {});
  const csv = isTable(opened) ? opened : undefined;
  let reading: RowParser = opened;
  parser = reading;

  // Blanks beyond the first block are read as any text.
  const isBlank = beginning.done === true || beginning.value.every((byte) => byte <= 0x20);
  const after = isBlank && beginning.done !== true ? await text.next() : undefined;
  const isEmpty = isBlank && (after === undefined || after.done === true);
  let ended = isEmpty;
  let rows = beginning.done === true || isEmpty ? [] : reading.take(beginning.value);
  if (after?.done === false) rows.push(...reading.take(after.value));
  async function advance(): Promise<void> {
    const next = await text.next();
    ended = next.done === true;
    rows = next.done === true ? [] : reading.take(next.value);
  }
  while (csv !== undefined && csv.header === undefined && !csv.stopped && !ended) await advance();
  if (ended && !isEmpty) rows = reading.end();
  const headerLine = options.csv?.headerLine;
  if (csv !== undefined && csv.header === undefined && headerLine !== undefined && csv.lineEnds > 0)
    throw new Failure("usage", `${shownName(file)} has no header in line ${headerLine}: it ends before.`, {
      hint: "Is csv.header of its source the right line?",
    });

  let unendedLine: number | undefined;
  let sha256: string | undefined;
  async function* batches(): AsyncGenerator<readonly Row[], void> {
    for (;;) {
      for (let at = 0; at < rows.length; at += ROWS_PER_BATCH) {
        yield rows.length <= ROWS_PER_BATCH ? rows : rows.slice(at, at + ROWS_PER_BATCH);
        await setImmediate();
        options.signal?.throwIfAborted();
      }
      if (ended || reading.stopped) break;
      await advance();
      if (ended) rows = reading.end();
    }
    // What ends in a bracket needs no line end.
    if (ended && !reading.stopped && isOfLines && lastByte !== undefined && !LINE_ENDS.includes(lastByte)) {
      await source.believeEnd();
      unendedLine = (parser?.lineEnds ?? 0) + 1;
    }
    await drain();
  }

  async function drain(): Promise<void> {
    await text.return();
    await source.drain();
    sha256 = source.sha256;
  }

  const ranged = (): RangeFormat | undefined => {
    if (csv === undefined) return format === "ndjson" ? { format } : undefined;
    const { header, headerLine, delimiter } = csv;
    if (header === undefined || headerLine === undefined || delimiter === undefined) return undefined;
    return { format: "csv", quote: options.csv?.quote, start: { header, headerLine, delimiter } };
  };

  async function* parts(rangeBytes: number): AsyncGenerator<Part, void> {
    const how = ranged();
    const start = ended || how === undefined ? undefined : reading.leave?.();
    if (start !== undefined && how !== undefined) {
      if (rows.length > 0) yield { kind: "rows", rows };
      const cutter = createRangeCutter(start, rangeBytes);
      parser = cutter;
      while (!ended && !cutter.isLost) {
        let failure: { readonly cause: unknown } | undefined;
        const next = await text.next().catch((cause: unknown) => {
          failure = { cause };
        });
        if (next === undefined) {
          // A row before the fault may be one behind which nothing is read; then the fault is never met.
          const whole = cutter.whole();
          if (whole !== undefined) yield { kind: "range", ...whole };
          throw failure?.cause;
        }
        ended = next.done === true;
        const range = next.done === true ? cutter.end() : cutter.take(next.value);
        if (range !== undefined) yield { kind: "range", ...range };
      }
      reading = rangeParser(how, cutter.lineEndsGiven);
      parser = reading;
      rows = [];
      for (const block of cutter.pending) if (!reading.stopped) rows.push(...reading.take(block));
    }
    for await (const batch of batches()) yield { kind: "rows", rows: batch };
  }

  return {
    file,
    format,
    header: csv?.header,
    headerLine: csv?.headerLine,
    delimiter: csv?.delimiter,
    encoding,
    hasBom: ofBom !== undefined,
    get asUtf8() {
      return utf8Watch?.seen;
    },
    batches,
    parts,
    drain,
    get ranged() {
      return ranged();
    },
    isEmpty,
    get unendedLine() {
      return unendedLine;
    },
    storedBytes: source.storedBytes,
    get bytesRead() {
      return source.bytesRead;
    },
    get sha256() {
      if (sha256 === undefined) throw new Failure("internal", `${shownName(file)} has not been read to its end.`);
      return sha256;
    },
    get contentSha256() {
      return source.contentSha256;
    },
    async [Symbol.asyncDispose]() {
      await text.return();
      await source[Symbol.asyncDispose]();
    },
  };
}

const LINE_ENDS: readonly number[] = [10, 13];

async function* notingLastByte(
  text: AsyncGenerator<Buffer, void>,
  note: (byte: number | undefined) => void,
): AsyncGenerator<Buffer, void> {
  for await (const block of text) {
    if (block.length > 0) note(block.at(-1));
    yield block;
  }
}

async function* rejoin(head: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  yield head;
  yield* rest;
}

async function* watched(
  blocks: AsyncGenerator<Buffer, void>,
  watch: Utf8Watch,
  lineEnds: () => number,
): AsyncGenerator<Buffer, void> {
  for await (const block of blocks) {
    watch.take(block, () => lineEnds() + 1);
    yield block;
  }
  watch.end();
}

const OWN_COLUMN = new RegExp(`(?:^|["\\s,;|])(?:${REJECTS_COLUMNS.join("|")})(?:["\\s,;|]|$)`);

/** Whether the first line is that of rejects: they are UTF-8, whatever a source or a flag says of what they come from. */
function showsRejects(head: Buffer): boolean {
  const end = head.findIndex((byte) => LINE_ENDS.includes(byte));
  return OWN_COLUMN.test(head.toString("latin1", 0, end === -1 ? head.length : end));
}

/** What standard input holds, by its first character. */
function formatOf(beginning: Buffer): InputFormat {
  const first = beginning.find((byte) => byte > 0x20);
  return first === 0x5b ? "json" : first === 0x7b ? "ndjson" : "csv";
}

const BINARY_KINDS: readonly { readonly magic: string; readonly is: string; readonly hint: string }[] = [
  {
    magic: "PK\x03\x04",
    is: "an Excel workbook or another zip archive",
    hint: 'Save the workbook as "CSV UTF-8", or unpack the archive.',
  },
  { magic: "\xd0\xcf\x11\xe0", is: "an old Excel workbook", hint: 'Save it as "CSV UTF-8".' },
  { magic: "\x1f\x8b", is: "gzip-compressed", hint: "End its name in .gz, or unpack it first (gunzip -c)." },
  {
    magic: "\x28\xb5\x2f\xfd",
    is: "Zstandard-compressed",
    hint: "End its name in .zst, or unpack it first (zstd -dc).",
  },
  { magic: "%PDF-", is: "a PDF document", hint: "Export the data as CSV." },
  { magic: "SQLite format 3", is: "an SQLite database", hint: "Export the data as CSV." },
  { magic: "PAR1", is: "a Parquet file", hint: "Export the data as CSV or NDJSON." },
];

function refuseBinary(file: InputFile, head: Buffer): void {
  const kind = BINARY_KINDS.find(({ magic }) => head.toString("latin1", 0, magic.length) === magic);
  if (kind === undefined) return;
  throw new Failure("usage", `${shownName(file)} is ${kind.is}, not text.`, { hint: kind.hint });
}
