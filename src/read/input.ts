/** An opened input: what is known of it from its first bytes, and its rows. */

import { setImmediate } from "node:timers/promises";
import { Failure } from "../failure.ts";
import { type CsvOptions, CsvParser } from "./csv.ts";
import { bomEncoding, decodeForMessage, EMPTY, resolveEncoding, toUtf8, Utf8Watch } from "./encoding.ts";
import type { InputFormat } from "./file-names.ts";
import { type ByteSource, type BytesOptions, type InputFile, openBytes, shownName } from "./input-file.ts";
import { JsonArrayParser } from "./json-array.ts";
import { NdjsonParser } from "./ndjson.ts";
import { refuseOther, refuseStrangeHeader } from "./refused.ts";
import { firstNames, showRejects } from "./rejects-columns.ts";
import { type Row, type RowParser, RowReader, type UnevenRows } from "./row.ts";

/** Few, so that what a row leaves is garbage before V8 looks: what still lives then is copied. */
const ROWS_PER_BATCH = 200;

export interface OpenInputOptions extends BytesOptions {
  /** `--encoding` or the source's: any label of the WHATWG Encoding Standard (utf-8). A byte order mark wins over it; rejects are UTF-8. */
  readonly encoding?: string | undefined;
  readonly csv?: CsvOptions | undefined;
  /** The path of the list of rows in a JSON object. */
  readonly rows?: string | undefined;
}

/** Opens an input and reads as far as its header. Throws a usage failure when it can't be used as a whole. */
export async function openInput(file: InputFile, options: OpenInputOptions = {}): Promise<Input> {
  const encoding = resolveEncoding(options.encoding ?? "utf-8");
  const source = await openBytes(file, options);
  try {
    const stored = source.blocks();
    const first = await stored.next();
    const head = first.done === true ? EMPTY : first.value;
    refuseOther(file, head);
    const input = new Input(file, source, head, stored, { ...options, encoding });
    await input.readHeader();
    return input;
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

export class Input implements AsyncDisposable {
  readonly file: InputFile;
  readonly format: InputFormat;
  /** Canonical name of the encoding it is read in. */
  readonly encoding: string;
  /** As far as it was read, there is nothing in it but blanks. */
  isEmpty = true;
  /** The last line, where it lacks its line end; known when the batches have ended. */
  unendedLine: number | undefined;
  /** What its bytes so far would be as UTF-8, where they are read in another encoding. */
  readonly asUtf8: Utf8Watch | undefined;
  readonly #source: ByteSource;
  readonly #options: OpenInputOptions;
  readonly #parser: RowParser;
  readonly #reader: RowReader;
  /** The text in UTF-8. */
  readonly #blocks: AsyncGenerator<Buffer, void>;
  #lastByte: number | undefined;
  /** Rows that were read and not given yet. */
  #rows: Row[] = [];
  #hasEnded = false;

  /** @param head its first bytes, before the rest of them. */
  constructor(
    file: InputFile,
    source: ByteSource,
    head: Buffer,
    rest: AsyncGenerator<Buffer, void>,
    options: OpenInputOptions & { readonly encoding: string },
  ) {
    this.file = file;
    this.#source = source;
    this.#options = options;
    // Rejects are UTF-8 and RFC 4180, whatever a source or a flag says of what they come from, and without a byte order mark too.
    const isRejects = showRejects(firstNames(head.toString("latin1")));
    const csv = isRejects ? { delimiter: options.csv?.delimiter } : options.csv;
    this.encoding = bomEncoding(head) ?? (isRejects ? "utf-8" : options.encoding);
    const { encoding } = this;
    this.format = file.format === "detect" ? formatOf(decodeForMessage(head, encoding)) : file.format;
    const name = shownName(file);
    this.#parser = parserOf(this.format, name, csv, options.rows);
    this.#reader = new RowReader(this.#parser);
    const lineEnds = (): number => this.#reader.lineEnds;
    if (encoding !== "utf-8") this.asUtf8 = new Utf8Watch(() => lineEnds() + 1);
    this.#blocks = toUtf8(behind(head, rest), { encoding, name, lineEnds, isRejects, watch: this.asUtf8 });
  }

  /** CSV and TSV: the cells of the header as written; undefined when there is none, as in an empty file. */
  get header(): readonly string[] | undefined {
    return this.#parser.header;
  }

  /** Physical line of the header. */
  get headerLine(): number | undefined {
    return this.#parser.headerLine;
  }

  get delimiter(): string | undefined {
    return this.#parser.delimiter;
  }

  get unevenRows(): readonly UnevenRows[] {
    return this.#parser.unevenRows ?? [];
  }

  /** Size of the input as stored (compressed, if it is). Final when the batches have ended. */
  get bytesRead(): number {
    return this.#source.bytesRead;
  }

  /** Hex SHA-256 of the input as stored. Final when the batches have ended. */
  get sha256(): string {
    return this.#source.sha256;
  }

  /** Reads until the header is known, or where the list of rows begins. Called once, before the batches. */
  async readHeader(): Promise<void> {
    const parser = this.#parser;
    do await this.#advance();
    while (!parser.hasBegun && !this.#reader.stopped && !this.#hasEnded);
    const { headerLine, delimiter } = this.#options.csv ?? {};
    const { header, headerLine: line = 1 } = parser;
    if (header !== undefined && headerLine === undefined && !showRejects(header))
      refuseStrangeHeader(this.file, { header, line, isSplitAsDeclared: delimiter !== undefined }, this.#rows[0]);
    const isTable = this.format === "csv" || this.format === "tsv";
    if (isTable && !parser.hasBegun && typeof headerLine === "number" && this.#reader.lineEnds > 0)
      throw new Failure("usage", `${shownName(this.file)} has no header in line ${headerLine}: it ends before that.`, {
        hint: "Is csv.header of its source the right line?",
      });
  }

  async #advance(): Promise<void> {
    const { value: block } = await this.#blocks.next();
    this.#hasEnded = block === undefined;
    this.#rows = this.#reader.take(block ?? undefined);
    if (block === undefined) return;
    this.isEmpty &&= block.every((byte) => byte <= BLANK);
    this.#lastByte = block.at(-1);
  }

  /**
   * The rows in their order, up to 200 at a time; may be called once. The event loop gets its turn between batches. A
   * malformed row whose borders are not known is the last one. Throws a usage failure where the input can't be read on.
   */
  async *batches(): AsyncGenerator<readonly Row[], void> {
    for (;;) {
      while (this.#rows.length > 0) {
        yield this.#rows.splice(0, ROWS_PER_BATCH);
        await setImmediate();
        this.#options.signal?.throwIfAborted();
      }
      if (this.#hasEnded || this.#reader.stopped) break;
      await this.#advance();
    }
    const isUnended = this.#lastByte !== undefined && !LINE_ENDS.includes(this.#lastByte);
    // A JSON array ends with its bracket and needs no line end.
    if (this.#hasEnded && !this.#reader.stopped && this.format !== "json" && isUnended)
      this.unendedLine = this.#reader.lineEnds + 1;
    if (this.#reader.stopped) await this.#source.drain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#blocks.return();
    await this.#source[Symbol.asyncDispose]();
  }
}

/** What standard input holds, by its first character; a table where that tells nothing. */
function formatOf(beginning: string): InputFormat {
  const first = beginning.trimStart().charAt(0);
  if (first === "{") return "ndjson";
  return first === "[" ? "json" : "csv";
}

function parserOf(format: InputFormat, name: string, csv: CsvOptions = {}, rows: string | undefined): RowParser {
  switch (format) {
    case "csv":
      return new CsvParser(csv);
    case "tsv":
      return new CsvParser({ ...csv, delimiter: csv.delimiter ?? "\t" });
    case "ndjson":
      return new NdjsonParser(name);
    case "json":
      return new JsonArrayParser({ name, rows });
  }
}

const BLANK = 0x20;
const LINE_ENDS: readonly number[] = [10, 13];

async function* behind(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield head;
  yield* rest;
}
