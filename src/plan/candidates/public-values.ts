/** What of a file becomes public, by example: a column that holds names is seen before it is written to a blockchain. */

import type { Action } from "../../actions/actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, isFieldName } from "../../actions/fields.ts";

export interface PublicValues {
  /** Public fields of `{action, data}` rows, whose keys no header tells. */
  readonly fields: ReadonlySet<FieldName>;
  /** The first value of each public field of free text. */
  readonly texts: ReadonlyMap<FieldName, string>;
  /** The first value of each trait. */
  readonly traits: ReadonlyMap<string, string>;
}

/** Fields of free text that become public. */
const PUBLIC_TEXTS: readonly FieldName[] = FIELD_NAMES.filter((name) => {
  const { kind, onChain } = fieldSpec(name);
  return kind === "text" && onChain !== false;
});
const MOST_TRAITS = 8;

/** Collects them from the actions of a file. */
export class PublicValuesSeen implements PublicValues {
  readonly fields = new Set<FieldName>();
  readonly texts = new Map<FieldName, string>();
  readonly traits = new Map<string, string>();

  see(actions: readonly Action[], isItem: boolean): void {
    for (const { data } of actions) {
      for (const name of PUBLIC_TEXTS) {
        const value = data[name];
        if (!this.texts.has(name) && typeof value === "string" && value.trim() !== "") this.texts.set(name, value);
      }
      if (data.metadataAttributes != null) this.#seeTraits(data.metadataAttributes);
      if (!isItem) continue;
      for (const name of Object.keys(data))
        if (isFieldName(name) && fieldSpec(name).onChain !== false) this.fields.add(name);
    }
  }

  #seeTraits(attributes: unknown): void {
    if (!Array.isArray(attributes)) return;
    for (const attribute of attributes) {
      if (this.traits.size >= MOST_TRAITS) return;
      const { trait_type: trait, value } = Object(attribute);
      if (typeof trait === "string" && !this.traits.has(trait)) this.traits.set(trait, String(value));
    }
  }
}
