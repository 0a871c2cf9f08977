/** What of a file becomes public, by example: a column that holds names is seen before it is written to a blockchain. */

import type { Draft } from "../actions/draft.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, isFieldName, isPublic } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";

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
