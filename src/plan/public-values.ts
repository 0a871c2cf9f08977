/** What of a file becomes public, by example: a column that holds names is seen before it is written to a blockchain. */

import { createHash } from "node:crypto";
import type { Draft } from "../actions/draft.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, isFieldName, isPublic } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import type { Understanding } from "../map/mapper.ts";
import { publicName } from "../map/named-columns.ts";

/** Fields of free text that become public. */
const PUBLIC_TEXTS = FIELD_NAMES.filter((name) => fieldSpec(name).kind === "text" && isPublic(name));
const MOST_TRAITS = 8;
/** What stands before the name of a trait. */
const TRAIT = '"trait_type":"';

/** Looks at the rows of one file until each kind of value was seen. */
export class PublicValues {
  /** Public fields of `{action, data}` rows, whose keys no header names. */
  readonly fields = new Set<FieldName>();
  /** The first value of each public field of free text. */
  readonly texts = new Map<FieldName, string>();
  /** The first value of each trait. */
  readonly traits = new Map<string, string>();

  see(drafts: readonly Draft[], isItem: boolean): void {
    for (const draft of drafts) {
      for (const name of PUBLIC_TEXTS) {
        const text = draft.text(name);
        if (text !== undefined && !this.texts.has(name) && text.trim() !== "") this.texts.set(name, text);
      }
      if (this.traits.size < MOST_TRAITS && draft.get("metadataAttributes") !== undefined)
        this.#seeTraits(draft.json("metadataAttributes"));
      if (!isItem) continue;
      for (const { name } of draft.given) if (isFieldName(name) && isPublic(name)) this.fields.add(name);
    }
  }

  #seeTraits(json: string): void {
    if (this.#knowsAll(json)) return;
    const attributes = parseJson(json);
    if (!Array.isArray(attributes)) return;
    for (const attribute of attributes) {
      const { trait_type: trait, value } = Object(attribute);
      if (typeof trait !== "string" || this.traits.size >= MOST_TRAITS || this.traits.has(trait)) continue;
      this.traits.set(trait, String(value));
    }
  }

  /** Whether the names of all traits were seen, by the look of them: a name with escapes is not looked at so. */
  #knowsAll(json: string): boolean {
    for (let at = json.indexOf(TRAIT); at !== -1; at = json.indexOf(TRAIT, at)) {
      at += TRAIT.length;
      if (!this.traits.has(json.slice(at, json.indexOf('"', at)))) return false;
    }
    return true;
  }
}

/** What is known of a file once its rows are read. */
interface Seen {
  readonly understanding: Understanding;
  readonly values: Pick<PublicValues, "fields" | "traits">;
}

/** What of a file becomes public, such as `price` and `ticketId (hashed)`. */
export function publicOf({ understanding, values }: Seen): readonly string[] {
  const ofItems = [...values.fields].flatMap((field) => publicName(field) ?? []);
  return [...new Set([...understanding.publicFields, ...ofItems])];
}

/** By these a later run knows that it shows nothing new: one for each column, and one for all that becomes public. */
export function marksOf(seen: Seen) {
  const { how, action = "", used, unused } = seen.understanding;
  const mark = (...parts: readonly string[]): string =>
    createHash("sha256")
      .update(JSON.stringify([how, action, ...parts]))
      .digest("hex")
      .slice(0, 32);
  const traits = [...seen.values.traits.keys()];
  return {
    columns: new Map([...used, ...unused].map((column) => [column, mark("column", column)])),
    published: mark("public", ...publicOf(seen).toSorted(), ...traits.toSorted()),
  };
}

/** All marks of all inputs. */
export const allMarksOf = (inputs: readonly Seen[]): readonly string[] =>
  inputs.map(marksOf).flatMap(({ columns, published }) => [...columns.values(), published]);
