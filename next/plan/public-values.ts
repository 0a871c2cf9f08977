/** What of a file becomes public, by example: a column that holds names is seen before it is written to a blockchain. */

import type { Action } from "../../src/actions/actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, isFieldName } from "../../src/actions/fields.ts";

/** Fields of free text that become public. */
const PUBLIC_TEXTS: readonly FieldName[] = FIELD_NAMES.filter((name) => {
  const { kind, onChain } = fieldSpec(name);
  return kind === "text" && onChain !== false;
});
const MOST_TRAITS = 8;

/** Looks at the rows of one file until each kind of value was seen. */
export class PublicValues {
  /** Public fields of `{action, data}` rows, whose keys no header tells. */
  readonly fields = new Set<FieldName>();
  /** The first value of each public field of free text. */
  readonly texts = new Map<FieldName, string>();
  /** The first value of each trait. */
  readonly traits = new Map<string, string>();

  see(actions: readonly Action[], isItem: boolean): void {
    for (const { data } of actions) {
      for (const name of PUBLIC_TEXTS) {
        const value = data[name];
        if (typeof value === "string" && value.trim() !== "" && !this.texts.has(name)) this.texts.set(name, value);
      }
      if (this.traits.size < MOST_TRAITS) this.#seeTraits(data.metadataAttributes);
      if (!isItem) continue;
      for (const name of Object.keys(data))
        if (isFieldName(name) && fieldSpec(name).onChain !== false) this.fields.add(name);
    }
  }

  #seeTraits(attributes: unknown): void {
    if (!Array.isArray(attributes)) return;
    for (const attribute of attributes) {
      const { trait_type: trait, value } = Object(attribute);
      if (typeof trait !== "string" || this.traits.size >= MOST_TRAITS || this.traits.has(trait)) continue;
      this.traits.set(trait, String(value));
    }
  }
}
