import { setImmediate } from "node:timers/promises";
import { Failure } from "../failure.ts";
import { type ByteSource, type BytesOptions, openBytes } from "./bytes.ts";
import type { CsvOptions, CsvParser } from "./csv.ts";
import { resolveEncoding } from "./encoding.ts";
import { FORMATS, formatOf, isTable } from "./formats.ts";
import type { InputFile, InputFormat } from "./input-file.ts";
import { InputText } from "./input-text.ts";
import { shownName } from "./names.ts";
import type { Row } from "./row.ts";
import { EMPTY, type RowParser } from "./row-parser.ts";
import type { AsUtf8 } from "./utf8-watch.ts";

const ROWS_PER_BATCH = 1000;

export interface OpenInputOptions extends BytesOptions {
  /** `--encoding` or the source's: any label of the WHATWG Encoding Standard (utf-8). A byte order mark wins over it; rejects are UTF-8. */
  readonly encoding?: string | undefined;
  readonly csv?: CsvOptions | undefined;
}

/** Opens an input and reads as far as its header. Throws a usage failure when it can't be used as a whole. */
export async function openInput(file: InputFile, options: OpenInputOptions = {}): Promise<Input> {
  const wanted = options.encoding === undefined ? "utf-8" : resolveEncoding(options.encoding);
  const source = await openBytes(file, options);
  try {
    return await Input.open(file, source, wanted, options);
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

/** An opened input: what is known of it from its first bytes, and its rows. */
export class Input implements AsyncDisposable {
  readonly file: InputFile;
  readonly format: InputFormat;
  /** There is nothing in it, or nothing but blanks. */
  isEmpty = false;
  /** The last line, where it lacks its line end; known when the batches have ended. */
  unendedLine: number | undefined;
  readonly #source: ByteSource;
  readonly #text: InputText;
  readonly #options: OpenInputOptions;
  readonly #csv: CsvParser | undefined;
  readonly #parser: RowParser;
  /** Rows that were read and not given yet. */
  #rows: Row[] = [];
  #hasEnded = false;
  #sha256: string | undefined;

  private constructor(
    file: InputFile,
    source: ByteSource,
    text: InputText,
    format: InputFormat,
    options: OpenInputOptions,
  ) {
    this.file = file;
    this.format = format;
    this.#source = source;
    this.#text = text;
    this.#options = options;
    const parser = FORMATS[format].parser(options.csv ?? {});
    this.#csv = isTable(parser) ? parser : undefined;
    this.#parser = parser;
    text.parser = parser;
  }

  static async open(file: InputFile, source: ByteSource, wanted: string, options: OpenInputOptions): Promise<Input> {
    const text = await InputText.open(file, source, wanted);
    const beginning = await text.next();
    const format = file.format === "detect" ? formatOf(beginning ?? EMPTY) : file.format;
    const input = new Input(file, source, text, format, options);
    await input.#readHeader(beginning);
    return input;
  }

  /** CSV and TSV: the cells of the header as written; undefined when there is none, as in an empty file. */
  get header(): readonly string[] | undefined {
    return this.#csv?.header;
  }

  /** Physical line of the header. */
  get headerLine(): number | undefined {
    return this.#csv?.headerLine;
  }

  get delimiter(): string | undefined {
    return this.#csv?.delimiter;
  }

  /** Which columns become cells from now on; all where it is undefined. */
  set wanted(columns: readonly boolean[] | undefined) {
    if (this.#csv !== undefined) this.#csv.wanted = columns;
  }

  /** Canonical name of the encoding it is read in. */
  get encoding(): string {
    return this.#text.encoding;
  }

  /** It begins with a byte order mark, which wins over any encoding that is declared. */
  get hasBom(): boolean {
    return this.#text.hasBom;
  }

  /** What its bytes so far would be as UTF-8, where they are read in another encoding. */
  get asUtf8(): AsUtf8 | undefined {
    return this.#text.asUtf8;
  }

  /** Size of the input as stored (compressed, if it is). Final when the batches have ended. */
  get bytesRead(): number {
    return this.#source.bytesRead;
  }

  /** Hex SHA-256 of the input as stored. Throws before the batches have ended. */
  get sha256(): string {
    if (this.#sha256 === undefined)
      throw new Failure("internal", `${shownName(this.file)} has not been read to its end.`);
    return this.#sha256;
  }

  /** Hex SHA-256 of the input decompressed; undefined where not all of it was read. */
  get contentSha256(): string | undefined {
    return this.#source.contentSha256;
  }

  /** Reads until the header is known, from the first block on. */
  async #readHeader(beginning: Buffer | undefined): Promise<void> {
    // Blanks beyond the first block are read as any text.
    const isBlank = beginning === undefined || beginning.every((byte) => byte <= 0x20);
    const after = isBlank && beginning !== undefined ? await this.#text.next() : undefined;
    this.isEmpty = isBlank && after === undefined;
    this.#hasEnded = this.isEmpty;
    if (beginning !== undefined && !this.isEmpty) this.#rows = this.#parser.take(beginning);
    if (after !== undefined) this.#rows.push(...this.#parser.take(after));
    while (this.#csv !== undefined && this.#csv.header === undefined && !this.#csv.stopped && !this.#hasEnded)
      await this.#advance();
    if (this.#hasEnded && !this.isEmpty) this.#rows = this.#parser.end();
    const headerLine = this.#options.csv?.headerLine;
    if (this.#csv !== undefined && this.#csv.header === undefined && headerLine !== undefined && this.#csv.lineEnds > 0)
      throw new Failure("usage", `${shownName(this.file)} has no header in line ${headerLine}: it ends before that.`, {
        hint: "Is csv.header of its source the right line?",
      });
  }

  async #advance(): Promise<void> {
    const block = await this.#text.next();
    this.#hasEnded = block === undefined;
    this.#rows = block === undefined ? [] : this.#parser.take(block);
  }

  /**
   * The rows in their order, up to 1000 at a time; may be called once. The event loop gets its turn between batches. A
   * malformed row whose borders are not known is the last one. Throws a usage failure where the input can't be read on.
   */
  async *batches(): AsyncGenerator<readonly Row[], void> {
    for (;;) {
      const rows = this.#rows;
      for (let at = 0; at < rows.length; at += ROWS_PER_BATCH) {
        yield rows.length <= ROWS_PER_BATCH ? rows : rows.slice(at, at + ROWS_PER_BATCH);
        await setImmediate();
        this.#options.signal?.throwIfAborted();
      }
      if (this.#hasEnded || this.#parser.stopped) break;
      await this.#advance();
      if (this.#hasEnded) this.#rows = this.#parser.end();
    }
    // A JSON array ends with its bracket and needs no line end.
    if (this.#hasEnded && !this.#parser.stopped && FORMATS[this.format].isOfLines && this.#text.isUnended) {
      await this.#source.believeEnd();
      this.unendedLine = this.#text.lineEnds + 1;
    }
    await this.drain();
  }

  /** Reads to the end, for size and SHA-256 only. */
  async drain(): Promise<void> {
    await this.#text.close();
    await this.#source.drain();
    this.#sha256 = this.#source.sha256;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#text.close();
    await this.#source[Symbol.asyncDispose]();
  }
}
