/** metadataAttributes of which each trait has a value of its own in the row. */

import type { AttributesContent } from "./attributes.ts";
import { ABSENT, copyBytes, NOT_PLAIN } from "./leaves.ts";
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

/** @param isNewTrait whether nobody has seen the trait, so that the reference is to be asked. */
export function createTraitsWriter(traits: readonly Trait[], isNewTrait: (trait: string) => boolean): TraitsWriter {
  const known = traits.map(({ trait, write }) => ({
    trait,
    write,
    isNew: true,
    line: Buffer.from(`{"trait_type":${JSON.stringify(trait)},"value":`),
    content: Buffer.from(`[["trait_type",${JSON.stringify(trait)}],["value",`),
  }));
  const room = known.reduce((sum, { content }) => sum + content.length + 8, 64);
  let content = Buffer.allocUnsafe(4096);
  let contentBytes = 0;

  const write: ValueWriter = (out, start, bytes) => {
    let at = start;
    let end = 0;
    out[at++] = OPEN_LIST;
    content[end++] = OPEN_LIST;
    for (let number = 0; number < known.length; number += 1) {
      const each = known[number] as (typeof known)[number]; // within its length
      let begun = at;
      if (end > 1) out[begun++] = COMMA;
      begun = copyBytes(out, begun, each.line, 0, each.line.length);
      const written = each.write(out, begun, bytes);
      if (written === ABSENT) continue;
      if (written === NOT_PLAIN) return NOT_PLAIN;
      if (each.isNew && isNewTrait(each.trait)) return NOT_PLAIN;
      each.isNew = false;
      out[written] = CLOSE;
      at = written + 1;
      if (content.length < end + room + written - begun) {
        const larger = Buffer.allocUnsafe(2 * (end + room + written - begun));
        larger.set(content);
        content = larger;
      }
      if (end > 1) content[end++] = COMMA;
      end = copyBytes(content, end, each.content, 0, each.content.length);
      end = copyBytes(content, end, out, begun, written);
      content[end++] = CLOSE_LIST;
      content[end++] = CLOSE_LIST;
    }
    if (end === 1) return ABSENT;
    out[at++] = CLOSE_LIST;
    content[end++] = CLOSE_LIST;
    contentBytes = end;
    return at;
  };
  return {
    write,
    get content() {
      return content;
    },
    get contentBytes() {
      return contentBytes;
    },
  };
}
