/** The bytes of an input → its text in UTF-8, block by block. */

import { REJECTS_COLUMNS } from "../actions/rejects-columns.ts";
import { Failure } from "../failure.ts";
import type { ByteSource } from "./bytes.ts";
import { bomEncoding, toUtf8 } from "./encoding.ts";
import type { InputFile } from "./input-file.ts";
import { shownName } from "./names.ts";
import { EMPTY, type RowParser } from "./row-parser.ts";
import { type AsUtf8, type Utf8Watch, watchUtf8 } from "./utf8-watch.ts";

export class InputText {
  /** Canonical name of the encoding it is read in. */
  readonly encoding: string;
  readonly hasBom: boolean;
  /** Who counts its lines; undefined before there is a parser. */
  parser: Pick<RowParser, "lineEnds"> | undefined;
  readonly #blocks: AsyncGenerator<Buffer, void>;
  readonly #utf8Watch: Utf8Watch | undefined;
  #lastByte: number | undefined;

  /** @param wanted what it is read in unless its beginning says better. */
  private constructor(file: InputFile, head: Buffer, rest: AsyncGenerator<Buffer, void>, wanted: string) {
    const ofBom = bomEncoding(head);
    const isRejects = showsRejects(head);
    // An editor may have saved them without their byte order mark.
    this.encoding = ofBom ?? (isRejects ? "utf-8" : wanted);
    this.hasBom = ofBom !== undefined;
    const lineEnds = (): number => this.lineEnds;
    const stored = rejoin(head, rest);
    this.#utf8Watch = this.encoding === "utf-8" ? undefined : watchUtf8();
    this.#blocks = toUtf8(this.#utf8Watch === undefined ? stored : watched(stored, this.#utf8Watch, lineEnds), {
      encoding: this.encoding,
      name: shownName(file),
      lineEnds,
      isRejects,
    });
  }

  /** Throws a usage failure for anything but text. */
  static async open(file: InputFile, source: ByteSource, wanted: string): Promise<InputText> {
    const blocks = source.blocks();
    const first = await blocks.next();
    const head = first.done === true ? EMPTY : first.value;
    refuseBinary(file, head);
    return new InputText(file, head, blocks, wanted);
  }

  /** What its bytes so far would be as UTF-8, where they are read in another encoding. */
  get asUtf8(): AsUtf8 | undefined {
    return this.#utf8Watch?.seen;
  }

  get lineEnds(): number {
    return this.parser?.lineEnds ?? 0;
  }

  /** Whether the text read so far ends without a line end. */
  get isUnended(): boolean {
    return this.#lastByte !== undefined && !LINE_ENDS.includes(this.#lastByte);
  }

  /** The next block; undefined behind the last. */
  async next(): Promise<Buffer | undefined> {
    const next = await this.#blocks.next();
    if (next.done === true) return undefined;
    if (next.value.length > 0) this.#lastByte = next.value.at(-1);
    return next.value;
  }

  async close(): Promise<void> {
    await this.#blocks.return();
  }
}

const LINE_ENDS: readonly number[] = [10, 13];

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
