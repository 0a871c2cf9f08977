/** Candidates as the bytes of their files. */

import type { Action } from "../../actions/actions.ts";
import { DIGEST_BYTES, digestHex, identityText, ownKeyText, textsOf } from "../../actions/identity.ts";
import { CONTENT_BYTES, RECORD_BYTES, writeOrigin, writePlainOrigin } from "../files/index-file.ts";
import { createDigests, type Digests } from "./digests.ts";
import { type CandidateBytes, FACTS_BYTES, type PlainFacts, writeFacts, writePlainFacts, writeSizes } from "./facts.ts";

/** Where an action comes from. */
interface Origin {
  readonly input: number;
  readonly line: number;
  readonly row: number;
  /** See `IndexRecord`. */
  readonly nth: number;
}

/** A candidate as bytes. The writer copies them, so one object may be all candidates in turn. */
export interface PlainCandidate extends PlainFacts {
  readonly input: number;
  readonly line: number;
  readonly row: number;
  /** See `IndexRecord`. */
  readonly nth: number;
  /** A key of the source, which is the same for all actions of the row, says which deed it is. */
  readonly keyed: boolean;
  /** Of its action. */
  readonly code: number;
  /** It begins with the line of the candidate, `textBytes` with its newline. */
  readonly text: Buffer;
  readonly textBytes: number;
  /** Where the texts of its identity and its content stand in the writer's `messages`. */
  readonly identityFrom: number;
  readonly identityTo: number;
  readonly contentFrom: number;
  readonly contentTo: number;
}

/** Collects candidates as the bytes of their files, in buffers that are used again. */
export interface CandidateWriter {
  /** @param key of the source itself, which says which deed it is. */
  add(action: Action, origin: Origin, key: string | undefined): void;
  /** Memory for the texts of a plain candidate's identity and content. */
  readonly messages: Buffer;
  /** Where they may be written, with room for `size` bytes, at most `MOST_MESSAGE_BYTES` (digests.ts). */
  roomForMessages(size: number): number;
  /** Adds an action that was written already. */
  addPlain(candidate: PlainCandidate): void;
  readonly count: number;
  /** Gives everything and begins anew. */
  take(): CandidateBytes;
}

/**
 * @param keeps - `take` gives memory of its own, which can be handed to another thread; else it gives what is written
 *   over by the next candidates.
 */
export function createCandidateWriter(keeps: boolean): CandidateWriter {
  const lines = growing(256 * 1024, keeps);
  const index = growing(64 * 1024, keeps);
  const facts = growing(64 * 1024, keeps);
  const texts = growing(64 * 1024, keeps);
  /** Made for the first plain candidate: most files have none. */
  let made: Digests | undefined;
  const digests = (): Digests => {
    made ??= createDigests(keeps);
    return made;
  };
  let count = 0;
  /** Identities of the row's actions that have a key. */
  const ofRow = { row: 0, identities: new Set<string>() };
  const isFurther = (row: number, identity: string): boolean => {
    if (ofRow.row !== row) {
      ofRow.row = row;
      ofRow.identities.clear();
    }
    const isKnown = ofRow.identities.has(identity);
    ofRow.identities.add(identity);
    return isKnown;
  };
  return {
    add(action, { input, line, row, nth }, key) {
      const recordAt = index.reserve(RECORD_BYTES);
      const buffer = index.buffer();
      const keyed = key !== undefined;
      const identity = digestHex(keyed ? ownKeyText(action, key) : identityText(action));
      writeOrigin(buffer, recordAt, {
        input,
        line,
        row,
        nth,
        action: action.action,
        untimed: action.data.orderTime == null,
        keyed,
        further: keyed && nth > 0 && isFurther(row, identity),
      });
      buffer.write(identity, recordAt + RECORD_BYTES - CONTENT_BYTES - DIGEST_BYTES, DIGEST_BYTES, "hex");
      const { json, content } = textsOf(action);
      buffer.write(digestHex(content), recordAt + RECORD_BYTES - CONTENT_BYTES, CONTENT_BYTES, "hex");
      const factsAt = facts.reserve(FACTS_BYTES);
      const textBytes = texts.text(writeFacts(facts.buffer(), factsAt, action));
      writeSizes(facts.buffer(), factsAt, lines.text(`${json}\n`), textBytes);
      count += 1;
    },
    addPlain(candidate) {
      const recordAt = index.reserve(RECORD_BYTES);
      const buffer = index.buffer();
      const isUntimed = candidate.time === undefined;
      // Another action of its kind has the same key.
      writePlainOrigin(buffer, recordAt, candidate, isUntimed, candidate.keyed && candidate.nth > 1);
      const { identityFrom, identityTo, contentFrom, contentTo } = candidate;
      const identityAt = recordAt + RECORD_BYTES - CONTENT_BYTES - DIGEST_BYTES;
      digests().add(identityFrom, identityTo, identityAt, DIGEST_BYTES, buffer);
      digests().add(contentFrom, contentTo, recordAt + RECORD_BYTES - CONTENT_BYTES, CONTENT_BYTES, buffer);
      const factsAt = facts.reserve(FACTS_BYTES);
      const textBytes = writePlainFacts(facts.buffer(), factsAt, candidate, texts.few);
      writeSizes(facts.buffer(), factsAt, lines.bytes(candidate.text, 0, candidate.textBytes), textBytes);
      count += 1;
    },
    get messages() {
      return digests().memory;
    },
    roomForMessages: (size) => digests().room(size, index.buffer()),
    get count() {
      return count;
    },
    take() {
      made?.flush(index.buffer());
      count = 0;
      ofRow.row = 0;
      return { lines: lines.take(), index: index.take(), facts: facts.take(), texts: texts.take() };
    },
  };
}

function growing(first: number, keeps: boolean) {
  let bytes = Buffer.allocUnsafe(first);
  let used = 0;
  const need = (size: number): void => {
    if (used + size <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, used + size));
    bytes.copy(larger, 0, 0, used);
    bytes = larger;
  };
  return {
    buffer: () => bytes,
    /** Makes room for so many bytes; where they begin. */
    reserve(size: number): number {
      need(size);
      used += size;
      return used - size;
    },
    text(text: string): number {
      // A UTF-16 code unit takes three bytes of UTF-8 at the most.
      need(text.length * 3);
      const size = bytes.write(text, used, "utf8");
      used += size;
      return size;
    },
    bytes(from: Buffer, start: number, end: number): number {
      need(end - start);
      from.copy(bytes, used, start, end);
      used += end - start;
      return end - start;
    },
    /** The same of a few bytes, for which it costs more to ask Node. */
    few(from: Buffer, start: number, end: number): number {
      need(end - start);
      for (let at = start; at < end; at += 1, used += 1) bytes[used] = from[at] as number; // within its length
      return end - start;
    },
    take(): Buffer {
      const taken = keeps ? Buffer.allocUnsafeSlow(used) : bytes.subarray(0, used);
      if (keeps) bytes.copy(taken, 0, 0, used);
      used = 0;
      return taken;
    },
  };
}
