/** Sales as the planner writes them, read from their bytes: most actions are such, and no text is made of their line. */

/** A constant piece of a line, as words of four bytes and the bytes that are left. */
interface Piece {
  readonly length: number;
  readonly words: Int32Array;
  readonly rest: Buffer;
}

const WORD = 4;

function pieceOf(text: string): Piece {
  const bytes = Buffer.from(text);
  const words = Int32Array.from({ length: Math.floor(bytes.length / WORD) }, (_, at) => bytes.readInt32LE(at * WORD));
  return { length: bytes.length, words, rest: bytes.subarray(words.length * WORD) };
}

const BEFORE_EVENT = pieceOf('{"action":"soldTicket","data":{"eventId":"');
const BEFORE_TICKET = pieceOf('","ticketId":"');
const BEFORE_USER = pieceOf('","userId":"');

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Reads one sale after the other: an object for each of a million would have to be collected. */
export class PlainSaleReader {
  /** Where the ids of the sale that was read last stand. */
  eventFrom = 0;
  eventTo = 0;
  ticketFrom = 0;
  ticketTo = 0;
  userFrom = 0;
  userTo = 0;
  #lines: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));

  /** The lines. */
  get view(): DataView {
    return this.#view;
  }

  /** Reads in these lines from now on. */
  begin(lines: Uint8Array): void {
    this.#lines = lines;
    this.#view = new DataView(lines.buffer, lines.byteOffset, lines.byteLength);
  }

  /** False for anything but a sale whose ids are of ASCII without an escape, which the reference has to read. */
  read(from: number): boolean {
    if (!this.#isAt(from, BEFORE_EVENT)) return false;
    this.eventFrom = from + BEFORE_EVENT.length;
    this.eventTo = this.#endOfPlain(this.eventFrom);
    if (!this.#isAt(this.eventTo, BEFORE_TICKET)) return false;
    this.ticketFrom = this.eventTo + BEFORE_TICKET.length;
    this.ticketTo = this.#endOfPlain(this.ticketFrom);
    if (!this.#isAt(this.ticketTo, BEFORE_USER)) return false;
    this.userFrom = this.ticketTo + BEFORE_USER.length;
    this.userTo = this.#endOfPlain(this.userFrom);
    return this.#lines[this.userTo] === QUOTE;
  }

  #isAt(from: number, { length, words, rest }: Piece): boolean {
    if (from + length > this.#lines.length) return false;
    let next = from;
    for (let at = 0; at < words.length; at += 1, next += WORD)
      if (this.#view.getInt32(next, true) !== words[at]) return false;
    for (let at = 0; at < rest.length; at += 1, next += 1) if (this.#lines[next] !== rest[at]) return false;
    return true;
  }

  /** From a place to the first byte that is not plain. */
  #endOfPlain(from: number): number {
    for (let end = from; ; end += 1) {
      const byte = this.#lines[end];
      if (byte === undefined || byte < 0x20 || byte > 0x7e || byte === QUOTE || byte === BACKSLASH) return end;
    }
  }
}
