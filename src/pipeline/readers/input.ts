import { setImmediate } from "node:timers/promises";
import { Failure } from "../../failure.ts";
import type { Row } from "../../mapping/row.ts";
import { type ByteSource, type BytesOptions, openBytes, shownName } from "./bytes.ts";
import { type CsvOptions, csvParser } from "./csv.ts";
import { bomEncoding, resolveEncoding, toUtf8 } from "./encoding.ts";
import type { InputFile, InputFormat } from "./inputs.ts";
import { jsonArrayParser } from "./json-array.ts";
import { ndjsonParser } from "./ndjson.ts";
import { EMPTY, type RowParser } from "./row-parser.ts";

const ROWS_PER_BATCH = 1000;

export interface OpenInputOptions extends BytesOptions {
  /** `--encoding` or the source's: any label of the WHATWG Encoding Standard (utf-8). A byte order mark wins over it. */
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
  /**
   * The rows in their order, up to 1000 at a time; may be called once. The event loop gets its turn between batches. A
   * malformed row whose borders are not known is the last one. Throws a usage failure where the input can't be read on.
   */
  batches(): AsyncGenerator<readonly Row[], void>;
  /** Size of the input as stored (compressed, if it is). Final when the batches have ended. */
  readonly bytesRead: number;
  /** Hex SHA-256 of the input as stored. Throws before the batches have ended. */
  readonly sha256: string;
}

const PARSERS = {
  csv: csvParser,
  tsv: (options: CsvOptions) => csvParser({ ...options, delimiter: options.delimiter ?? "\t" }),
  ndjson: ndjsonParser,
  json: jsonArrayParser,
} satisfies Record<InputFormat, (options: CsvOptions) => RowParser>;

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
  const encoding = bomEncoding(head) ?? wanted;
  let parser: RowParser | undefined;
  const text = toUtf8(rejoin(head, blocks), { encoding, name: shownName(file), lineEnds: () => parser?.lineEnds ?? 0 });

  const beginning = await text.next();
  const format = file.format === "detect" ? formatOf(beginning.done === true ? EMPTY : beginning.value) : file.format;
  const csv = format === "csv" || format === "tsv" ? PARSERS[format](options.csv ?? {}) : undefined;
  const reading = csv ?? PARSERS[format === "json" ? "json" : "ndjson"]();
  parser = reading;

  let ended = beginning.done === true;
  let rows = beginning.done === true ? [] : reading.take(beginning.value);
  async function advance(): Promise<void> {
    const next = await text.next();
    ended = next.done === true;
    rows = next.done === true ? [] : reading.take(next.value);
  }
  while (csv !== undefined && csv.header === undefined && !csv.stopped && !ended) await advance();
  if (ended) rows = reading.end();

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
    await text.return();
    await source.drain();
    sha256 = source.sha256;
  }

  return {
    file,
    format,
    header: csv?.header,
    headerLine: csv?.headerLine,
    delimiter: csv?.delimiter,
    encoding,
    batches,
    get bytesRead() {
      return source.bytesRead;
    },
    get sha256() {
      if (sha256 === undefined) throw new Failure("internal", `${shownName(file)} has not been read to its end.`);
      return sha256;
    },
    async [Symbol.asyncDispose]() {
      await text.return();
      await source[Symbol.asyncDispose]();
    },
  };
}

async function* rejoin(head: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  yield head;
  yield* rest;
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
