/** Candidates as the bytes of their files. */

import type { Action } from "../../actions/actions.ts";
import { DIGEST_BYTES, digestHex, identityText, ownKeyText, textsOf } from "../../actions/identity.ts";
import type { SpareMemory } from "../../readers/spare-memory.ts";
import { CONTENT_BYTES, RECORD_BYTES, writeOrigin, writePlainOrigin } from "../files/index-file.ts";
import { createDigests, DIGESTS_BYTES, type Digests } from "./digests.ts";
import { type CandidateBytes, FACTS_BYTES, type PlainFacts, writeFacts, writePlainFacts, writeSizes } from "./facts.ts";
import { Area, RowMemory } from "./row-memory.ts";

/** Where an action comes from. */
interface Origin {
  readonly input: number;
  readonly line: number;
  readonly row: number;
  /** See `IndexRecord`. */
  readonly nth: number;
}

/** A candidate that stands in the writer's memory. One object may be all candidates in turn. */
export interface PlainCandidate extends PlainFacts, Origin {
  /** A key of the source, which is the same for all actions of the row, says which deed it is. */
  readonly keyed: boolean;
  /** Of its action. */
  readonly code: number;
  /** Where its line ends, newline included, which begins at the end of the writer's `lines`. */
  readonly lineTo: number;
  /** Where the texts of its identity and its content stand. */
  readonly identityFrom: number;
  readonly identityTo: number;
  readonly contentFrom: number;
  readonly contentTo: number;
}

/** Collects candidates as the bytes of their files, in memory that is used again. */
export interface CandidateWriter {
  /** @param key of the source itself, which says which deed it is. */
  add(action: Action, origin: Origin, key: string | undefined): void;
  readonly count: number;
  /** Of what was added. */
  readonly lineBytes: number;
  /** Gives everything and begins anew. */
  take(): CandidateBytes;
}

/** The same for rows that are plain, which are written where the candidates stand. */
export interface PlainWriter extends CandidateWriter {
  readonly memory: RowMemory;
  /** Behind its end the line of the next plain candidate is written. */
  readonly lines: Area;
  /** Where the lines of a row may be written, with half of the area for them. */
  roomForLines(): number;
  /** Where the texts of an identity and a content may be written, with room for `size` bytes, at most `MOST_MESSAGE_BYTES` (digests.ts). */
  roomForMessages(size: number): number;
  /** Adds an action that was written there. */
  addPlain(candidate: PlainCandidate): void;
}

/** Bytes of what candidates are written into: what comes of a range, and of a few rows. */
const FOR_RANGES = { lines: 2 * 1024 * 1024, index: 256 * 1024, facts: 256 * 1024, texts: 256 * 1024 };
const FOR_ROWS = { lines: 128 * 1024, index: 32 * 1024, facts: 32 * 1024, texts: 32 * 1024 };
/** What the rows of a file stand in, and what is written of them again and again. */
const FOR_READING = 4 * 1024 * 1024;
/** The areas begin on borders of blocks. */
const BETWEEN = 4 * 64;

const sizeOf = ({ lines, index, facts, texts }: typeof FOR_ROWS): number => lines + index + facts + texts + BETWEEN;

/**
 * @param keeps - from where `take` has memory of its own for all that it gives, which can be handed to another thread; without
 *   it, it gives what is written over by the next candidates.
 */
export const createCandidateWriter = (keeps?: SpareMemory): CandidateWriter =>
  new MemoryWriter(new RowMemory(sizeOf(FOR_ROWS), false), FOR_ROWS, keeps);

/** The same for a file whose rows may be plain. */
export const createPlainWriter = (keeps?: SpareMemory): PlainWriter => {
  const memory = new RowMemory(sizeOf(FOR_RANGES) + DIGESTS_BYTES + FOR_READING, keeps !== undefined);
  return new MemoryWriter(memory, FOR_RANGES, keeps);
};

class MemoryWriter implements PlainWriter {
  readonly memory: RowMemory;
  readonly lines: Area;
  count = 0;
  readonly #keeps: SpareMemory | undefined;
  readonly #index: Area;
  readonly #facts: Area;
  readonly #texts: Area;
  /** Made for the first plain candidate: most files have none. */
  #made: Digests | undefined;
  /** Identities of the row's actions that have a key. */
  readonly #ofRow = { row: 0, identities: new Set<string>() };

  constructor(memory: RowMemory, { lines, index, facts, texts }: typeof FOR_ROWS, keeps: SpareMemory | undefined) {
    this.memory = memory;
    this.#keeps = keeps;
    this.lines = new Area(memory, lines);
    this.#index = new Area(memory, index);
    this.#facts = new Area(memory, facts);
    this.#texts = new Area(memory, texts);
  }

  get lineBytes(): number {
    return this.lines.size;
  }

  get #digests(): Digests {
    this.#made ??= createDigests(this.memory);
    return this.#made;
  }

  #recordAt(): number {
    if (this.#index.to - this.#index.end < RECORD_BYTES) {
      this.#made?.flush();
      this.#index.moveOut();
    }
    return this.#index.reserve(RECORD_BYTES);
  }

  #factsAt(): number {
    if (this.#facts.to - this.#facts.end < FACTS_BYTES) this.#facts.moveOut();
    return this.#facts.reserve(FACTS_BYTES);
  }

  add(action: Action, { input, line, row, nth }: Origin, key: string | undefined): void {
    const { bytes, view } = this.memory;
    const recordAt = this.#recordAt();
    const keyed = key !== undefined;
    const identity = digestHex(keyed ? ownKeyText(action, key) : identityText(action));
    writeOrigin(bytes, recordAt, {
      input,
      line,
      row,
      nth,
      action: action.action,
      untimed: action.data.orderTime == null,
      keyed,
      further: keyed && nth > 0 && this.#isFurther(row, identity),
    });
    bytes.write(identity, recordAt + IDENTITY, DIGEST_BYTES, "hex");
    const { json, content } = textsOf(action);
    bytes.write(digestHex(content), recordAt + CONTENT, CONTENT_BYTES, "hex");
    const factsAt = this.#factsAt();
    const textBytes = this.#texts.add(writeFacts(bytes, factsAt, action));
    writeSizes(view, factsAt, this.lines.add(`${json}\n`), textBytes);
    this.count += 1;
  }

  #isFurther(row: number, identity: string): boolean {
    const ofRow = this.#ofRow;
    if (ofRow.row !== row) {
      ofRow.row = row;
      ofRow.identities.clear();
    }
    const isKnown = ofRow.identities.has(identity);
    ofRow.identities.add(identity);
    return isKnown;
  }

  roomForLines(): number {
    const { lines } = this;
    if (lines.to - lines.end < (lines.to - lines.from) / 2) lines.moveOut();
    return lines.end;
  }

  roomForMessages(size: number): number {
    return this.#digests.room(size);
  }

  addPlain(candidate: PlainCandidate): void {
    const { memory, lines } = this;
    const texts = this.#texts;
    const { lineTo, identityFrom, identityTo, contentFrom, contentTo } = candidate;
    const lineBytes = lineTo - lines.end;
    const recordAt = this.#recordAt();
    // Another action of its kind has the same key.
    writePlainOrigin(
      memory.view,
      recordAt,
      candidate,
      candidate.time === undefined,
      candidate.keyed && candidate.nth > 1,
    );
    const digests = this.#digests;
    digests.add(identityFrom, identityTo, recordAt + IDENTITY, DIGEST_BYTES);
    digests.add(contentFrom, contentTo, recordAt + CONTENT, CONTENT_BYTES);
    const factsAt = this.#factsAt();
    // Its texts stand in its line.
    if (texts.to - texts.end < lineBytes) texts.moveOut();
    const textsFrom = texts.end;
    texts.end = writePlainFacts(memory, factsAt, candidate, textsFrom);
    writeSizes(memory.view, factsAt, lineBytes, texts.end - textsFrom);
    lines.end = lineTo;
    this.count += 1;
  }

  take(): CandidateBytes {
    this.#made?.flush();
    this.count = 0;
    this.#ofRow.row = 0;
    const areas = { lines: this.lines, index: this.#index, facts: this.#facts, texts: this.#texts };
    const taken = this.#keeps === undefined ? viewsOf(areas) : copiesOf(areas, this.#keeps);
    for (const area of Object.values(areas)) area.clear();
    return taken;
  }
}

type Areas = Readonly<Record<keyof CandidateBytes, Area>>;

const viewsOf = ({ lines, index, facts, texts }: Areas): CandidateBytes => ({
  lines: lines.view(),
  index: index.view(),
  facts: facts.view(),
  texts: texts.view(),
});

/** All in one memory. */
function copiesOf(areas: Areas, keeps: SpareMemory): CandidateBytes {
  const memory = keeps.take(Object.values(areas).reduce((sum, { size }) => sum + size, 0));
  let end = 0;
  const copyOf = (area: Area): Buffer => {
    const from = end;
    end = area.copyTo(memory, from);
    return memory.subarray(from, end);
  };
  const { lines, index, facts, texts } = areas;
  return { lines: copyOf(lines), index: copyOf(index), facts: copyOf(facts), texts: copyOf(texts) };
}

/** Where the digests stand in a record. */
const IDENTITY = RECORD_BYTES - CONTENT_BYTES - DIGEST_BYTES;
const CONTENT = RECORD_BYTES - CONTENT_BYTES;
