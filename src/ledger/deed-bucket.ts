/** Deeds that are about to be written, in key order: a random insert a row costs six times an append. */

import { CONTENT_BYTES, DEED_BYTES, DEED_WORDS, IDENTITY_BYTES } from "./block.ts";
import type { PartWriter } from "./deed-writer.ts";
import { inKeyOrder, sortNeighbours } from "./key-order.ts";
import type { Ledger } from "./ledger.ts";
import { arrayText } from "./postgres/array-text.ts";

/** What is said of a deed beside what identifies it. */
export interface DeedFacts {
  readonly seq: number;
  readonly isTaken: boolean;
  /** Of an accepted sale; 0 for none. */
  readonly eventNo: number;
}

/** Words of a record: the digests, then these; behind them the buyer's id, in UTF-8. */
const [SEQ, EVENT, TAKEN, HOLDER_BYTES, HEAD_WORDS] = [0, 1, 2, 3, 4].map((at) => DEED_WORDS + at) as [
  number,
  number,
  number,
  number,
  number,
]; // five of five
/** Stands for no buyer's id at all. */
const NONE = 0xffff_ffff;

/** Of most records. */
const USUAL_WORDS = HEAD_WORDS + 4;

/** One memory of records, since as many objects would keep the garbage collector busy, and columns the processor's caches. */
export class DeedBucket {
  readonly #alike: number;
  #words: Uint32Array<ArrayBuffer>;
  #bytes: Buffer;
  #view: DataView;
  /** In words. */
  #starts: Uint32Array<ArrayBuffer>;
  #size = 0;
  #end = 0;
  #areAllTaken = true;

  /**
   * @param capacity in deeds: there is more room when they need it.
   * @param alike how many of the first bits are the same in all of their identities.
   */
  constructor(capacity: number, alike: number) {
    this.#alike = alike;
    this.#words = new Uint32Array(capacity * USUAL_WORDS);
    this.#bytes = Buffer.from(this.#words.buffer);
    this.#view = new DataView(this.#words.buffer);
    this.#starts = new Uint32Array(capacity);
  }

  /**
   * @param digests has identity and content, from a word on.
   * @param holder has the buyer's id of an accepted sale, from a byte to before another.
   */
  add(
    { seq, isTaken, eventNo }: DeedFacts,
    digests: Uint32Array,
    digestsFrom: number,
    holder: Uint8Array | undefined,
    from = 0,
    to = 0,
  ): void {
    const holderBytes = to - from;
    const start = this.#makeRoom(HEAD_WORDS + Math.ceil(holderBytes / 4));
    const [words, bytes] = [this.#words, this.#bytes];
    for (let at = 0; at < DEED_WORDS; at += 1) words[start + at] = digests[digestsFrom + at] ?? 0;
    words[start + SEQ] = seq;
    words[start + EVENT] = eventNo;
    words[start + TAKEN] = isTaken ? 1 : 0;
    words[start + HOLDER_BYTES] = holder === undefined ? NONE : holderBytes;
    if (holder !== undefined) {
      const behind = (start + HEAD_WORDS) * 4;
      for (let at = 0; at < holderBytes; at += 1) bytes[behind + at] = holder[from + at] as number; // within its length
    }
    this.#areAllTaken &&= isTaken;
  }

  /** Where the next record begins. */
  #makeRoom(words: number): number {
    const start = this.#end;
    if (start + words > this.#words.length) {
      this.#words = widened(this.#words, words);
      this.#bytes = Buffer.from(this.#words.buffer);
      this.#view = new DataView(this.#words.buffer);
    }
    if (this.#size === this.#starts.length) this.#starts = widened(this.#starts, 1);
    this.#starts[this.#size] = start;
    this.#size += 1;
    this.#end = start + words;
    return start;
  }

  /** Part of a transaction: adds them to a part of a file's deeds. The bucket is empty after it. */
  writeTo(part: PartWriter, runNo: number): void {
    const [words, bytes] = [this.#words, this.#bytes];
    for (const place of this.#inExactOrder()) {
      const start = this.#starts[place] ?? 0;
      const deed = {
        runNo,
        seq: words[start + SEQ] ?? 0,
        isTaken: words[start + TAKEN] === 1,
        eventNo: words[start + EVENT] ?? 0,
      };
      const [holderBytes, from] = [words[start + HOLDER_BYTES] ?? NONE, (start + HEAD_WORDS) * 4];
      if (holderBytes === NONE) part.add(deed, words, start, undefined);
      else part.add(deed, words, start, bytes, from, from + holderBytes);
    }
    this.#empty();
  }

  /** Part of a transaction: writes each as a row. The bucket is empty after it. */
  writeRows(ledger: Ledger, runNo: number): void {
    const order = inKeyOrder(this.#keys());
    const isTaken = (at: number): boolean => this.#words[(this.#starts[at] ?? 0) + TAKEN] === 1;
    if (this.#areAllTaken) this.#write(ledger, [runNo, 1], order);
    else {
      this.#write(ledger, [runNo, 1], order.filter(isTaken));
      this.#write(
        ledger,
        [runNo, 0],
        order.filter((at) => !isTaken(at)),
      );
    }
    this.#empty();
  }

  #empty(): void {
    this.#size = 0;
    this.#end = 0;
    this.#areAllTaken = true;
  }

  /** @param ofAll the number of the run, and whether they were taken. */
  #write(ledger: Ledger, ofAll: readonly [number, number], places: Uint32Array): void {
    if (ledger.kind === "postgres") {
      for (let from = 0; from < places.length; from += ROWS_OF_SERVER)
        this.#putInServer(ledger, ofAll, places.subarray(from, from + ROWS_OF_SERVER));
      return;
    }
    const many = places.length - (places.length % ROWS);
    this.#put(ledger, ofAll, ROWS, places.subarray(0, many));
    this.#put(ledger, ofAll, 1, places.subarray(many));
  }

  /** @param rows of a statement. */
  #put(ledger: Ledger, ofAll: readonly [number, number], rows: number, places: Uint32Array): void {
    const sql = putRows(rows);
    const { digests, values } = statementOf(rows, ofAll);
    const [words, starts] = [this.#words, this.#starts];
    for (let from = 0; from < places.length; from += rows) {
      for (let row = 0; row < rows; row += 1) {
        const start = starts[places[from + row] ?? 0] ?? 0;
        for (let word = 0; word < DEED_WORDS; word += 1) digests[row * DEED_WORDS + word] = words[start + word] ?? 0;
        const value = ofAll.length + row * COLUMNS;
        values[value] = words[start + SEQ] ?? 0;
        values[value + 1] = words[start + EVENT] || null;
        values[value + 2] = this.#holderAt(start);
      }
      ledger.run(sql, ...values);
    }
  }

  /** A column is one value: the digests as they follow each other, the others as the text of an array. */
  #putInServer(ledger: Ledger, ofAll: readonly [number, number], places: Uint32Array): void {
    const [words, starts] = [this.#words, this.#starts];
    const digests = new Uint32Array(places.length * DEED_WORDS);
    const columns = { seqs: [] as number[], events: [] as (number | null)[], holders: [] as (string | null)[] };
    for (const [row, place] of places.entries()) {
      const start = starts[place] ?? 0;
      digests.set(words.subarray(start, start + DEED_WORDS), row * DEED_WORDS);
      columns.seqs.push(words[start + SEQ] ?? 0);
      columns.events.push(words[start + EVENT] || null);
      columns.holders.push(this.#holderAt(start));
    }
    const { seqs, events, holders } = columns;
    const arrays = [seqs, events, holders].map((column) => arrayText(column));
    ledger.run(PUT_IN_SERVER, ...ofAll, new Uint8Array(digests.buffer), ...arrays);
  }

  /** @param start of the record. */
  #holderAt(start: number): string | null {
    const bytes = this.#words[start + HOLDER_BYTES] ?? NONE;
    if (bytes === NONE) return null;
    const from = (start + HEAD_WORDS) * 4;
    return this.#bytes.toString("utf8", from, from + bytes);
  }

  /** The first 32 bits of each, of which those that are alike are gone: places are told by the bits that come first. */
  #keys(): Uint32Array {
    const keys = new Uint32Array(this.#size);
    for (let at = 0; at < keys.length; at += 1)
      keys[at] = this.#view.getUint32((this.#starts[at] ?? 0) * 4) << this.#alike;
    return keys;
  }

  /** By all of the identity, and by the number of the action. */
  #inExactOrder(): Uint32Array {
    const keys = this.#keys();
    const compare = (one: number, other: number): number => {
      const first = (keys[one] ?? 0) - (keys[other] ?? 0);
      if (first !== 0) return first;
      const [from, otherFrom] = [(this.#starts[one] ?? 0) * 4, (this.#starts[other] ?? 0) * 4];
      for (let at = 4; at < IDENTITY_BYTES; at += 4) {
        const order = this.#view.getUint32(from + at) - this.#view.getUint32(otherFrom + at);
        if (order !== 0) return order;
      }
      return (this.#words[from / 4 + SEQ] ?? 0) - (this.#words[otherFrom / 4 + SEQ] ?? 0);
    };
    return sortNeighbours(inKeyOrder(keys), compare);
  }
}

/** With room for half as many again, and some more. */
function widened(words: Uint32Array<ArrayBuffer>, more: number): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(Math.ceil(1.5 * words.length) + more);
  wider.set(words);
  return wider;
}

/** Deeds per statement: a call costs as much as the work itself. */
const ROWS = 50;
const COLUMNS = 5;

/** Without a function, which would have SQLite keep each page as it was before the statement. */
const putRows = (rows: number): string => `INSERT OR IGNORE INTO loose_deeds
  (run_no, taken, seq, event_no, holder, identity, content)
  SELECT CAST(? AS INTEGER), CAST(? AS INTEGER), column1, column2, column3, column4, column5
  FROM (VALUES ${[TYPED_ROW, ...Array(rows - 1).fill(`(${Array(COLUMNS).fill("?").join(", ")})`)].join(", ")}) AS put`;

/** Likewise of a server, where a call goes over a network. */
const ROWS_OF_SERVER = 4096;

const PUT_IN_SERVER = `INSERT OR IGNORE INTO loose_deeds
  (run_no, taken, seq, event_no, holder, identity, content)
  SELECT CAST(? AS INTEGER), CAST(? AS INTEGER), seq, event_no, holder,
    substr(digests, CAST((number - 1) * ${DEED_BYTES} + 1 AS int), ${IDENTITY_BYTES}),
    substr(digests, CAST((number - 1) * ${DEED_BYTES} + ${IDENTITY_BYTES + 1} AS int), ${CONTENT_BYTES})
  FROM (SELECT CAST(? AS BLOB) AS digests) AS given,
    unnest(CAST(? AS INTEGER[]), CAST(? AS INTEGER[]), CAST(? AS text[])) WITH ORDINALITY
      AS put (seq, event_no, holder, number)`;

/** The first row of values says what they all are. */
const TYPED_ROW = "(CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS TEXT), CAST(? AS BLOB), CAST(? AS BLOB))";

interface Statement {
  /** Of each row: what the values that are its identity and content look at. */
  readonly digests: Uint32Array;
  readonly values: (number | string | Uint8Array | null)[];
}

function statementOf(rows: number, ofAll: readonly [number, number]): Statement {
  const digests = new Uint32Array(rows * DEED_WORDS);
  const bytes = new Uint8Array(digests.buffer);
  const values: Statement["values"] = [...ofAll];
  for (let row = 0; row < rows; row += 1) {
    const [from, middle] = [row * DEED_BYTES, row * DEED_BYTES + IDENTITY_BYTES];
    values.push(0, null, null, bytes.subarray(from, middle), bytes.subarray(middle, middle + CONTENT_BYTES));
  }
  return { digests, values };
}
