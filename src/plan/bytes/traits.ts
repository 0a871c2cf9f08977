/** metadataAttributes of which each trait has a value of its own in the row. */

import type { Area, RowMemory } from "../candidates/row-memory.ts";
import { type AttributesContent, MOST_CONTENT_BYTES } from "./attributes.ts";
import { ABSENT, MOST_TEXT_BYTES, NOT_PLAIN } from "./leaves.ts";
import type { ValueWriter } from "./values.ts";

const [COMMA, OPEN_LIST, CLOSE_LIST, CLOSE] = Buffer.from(",[]}") as unknown as readonly [
  number,
  number,
  number,
  number,
];

/** A trait whose value `write` gives as JSON. */
export interface Trait {
  readonly trait: string;
  readonly write: ValueWriter;
}

export interface TraitsWriter extends AttributesContent {
  readonly write: ValueWriter;
}

/** A value, and what stands around it beside the name. */
const MOST_VALUE_BYTES = 2 * MOST_TEXT_BYTES + 16;

export interface TraitsPlace {
  readonly memory: RowMemory;
  /** In which they are written. */
  readonly lines: Area;
}

/** @param isNewTrait whether nobody has seen the trait, so that the reference is to be asked. */
export function createTraitsWriter(
  { memory, lines }: TraitsPlace,
  traits: readonly Trait[],
  isNewTrait: (trait: string) => boolean,
): TraitsWriter {
  const { bytes } = memory;
  const known = traits.map(({ trait, write }) => ({
    trait,
    write,
    isNew: true,
    line: memory.keep(`{"trait_type":${JSON.stringify(trait)},"value":`),
    content: memory.keep(`[["trait_type",${JSON.stringify(trait)}],["value",`),
  }));
  const contentFrom = memory.allot(MOST_CONTENT_BYTES);
  let contentBytes = 0;

  const write: ValueWriter = (start) => {
    let at = start;
    let end = contentFrom;
    bytes[at++] = OPEN_LIST;
    bytes[end++] = OPEN_LIST;
    let isFirst = true;
    for (let number = 0; number < known.length; number += 1) {
      const each = known[number] as (typeof known)[number]; // within its length
      const most = each.content.length + MOST_VALUE_BYTES;
      if (at + most > lines.to || end + most > contentFrom + MOST_CONTENT_BYTES) return NOT_PLAIN;
      let begun = at;
      if (!isFirst) bytes[begun++] = COMMA;
      begun = memory.copy(begun, each.line.from, each.line.length);
      const written = each.write(begun);
      if (written === ABSENT) continue;
      if (written === NOT_PLAIN) return NOT_PLAIN;
      if (each.isNew && isNewTrait(each.trait)) return NOT_PLAIN;
      each.isNew = false;
      bytes[written] = CLOSE;
      at = written + 1;
      if (!isFirst) bytes[end++] = COMMA;
      end = memory.copy(end, each.content.from, each.content.length);
      end = memory.copy(end, begun, written - begun);
      bytes[end++] = CLOSE_LIST;
      bytes[end++] = CLOSE_LIST;
      isFirst = false;
    }
    if (isFirst) return ABSENT;
    bytes[at++] = CLOSE_LIST;
    bytes[end++] = CLOSE_LIST;
    contentBytes = end - contentFrom;
    return at;
  };
  return {
    write,
    contentFrom,
    get contentBytes() {
      return contentBytes;
    },
  };
}
