/** What of a file becomes public, by example: a column that holds names is seen before it is written to a blockchain. */

import type { Action } from "../../actions/actions.ts";
import { FIELD_NAMES, type FieldName, fieldSpec, isFieldName } from "../../actions/fields.ts";

/** Plain data, so that those who read parts of a file can put it together. */
export interface PublicValues {
  /** Public fields of `{action, data}` rows, whose keys no header tells. */
  readonly fields: ReadonlySet<FieldName>;
  /** The first value of each public field of free text. */
  readonly texts: ReadonlyMap<FieldName, string>;
  /** The first value of each trait. */
  readonly traits: ReadonlyMap<string, string>;
}

/** Collects what is new since the last look. */
export interface PublicValuesSeen {
  see(actions: readonly Action[], isItem: boolean): void;
  take(): PublicValues;
  /** Whether an object that has the field is still to be seen. */
  wantsField(name: FieldName): boolean;
  /** Whether the field's first value, or the trait, is still to be seen. */
  wantsText(name: FieldName): boolean;
  wantsTrait(trait: string): boolean;
}

/** Fields of free text that become public. */
export const PUBLIC_TEXTS: readonly FieldName[] = FIELD_NAMES.filter((name) => {
  const { kind, onChain } = fieldSpec(name);
  return kind === "text" && onChain !== false;
});
const MOST_TRAITS = 8;

export function seePublicValues(): PublicValuesSeen {
  const known = { fields: new Set<string>(), texts: new Set<FieldName>(), traits: new Set<string>() };
  const nothing = () => ({
    fields: new Set<FieldName>(),
    texts: new Map<FieldName, string>(),
    traits: new Map<string, string>(),
  });
  let fresh = nothing();
  const seeTraits = (attributes: unknown): void => {
    if (!Array.isArray(attributes)) return;
    for (const attribute of attributes) {
      const { trait_type: trait, value } = Object(attribute);
      if (typeof trait !== "string" || known.traits.size >= MOST_TRAITS || known.traits.has(trait)) continue;
      known.traits.add(trait);
      fresh.traits.set(trait, String(value));
    }
  };
  return {
    see(actions, isItem) {
      for (const { data } of actions) {
        for (const name of PUBLIC_TEXTS) {
          if (known.texts.has(name)) continue;
          const value = data[name];
          if (typeof value !== "string" || value.trim() === "") continue;
          known.texts.add(name);
          fresh.texts.set(name, value);
        }
        if (data.metadataAttributes != null && known.traits.size < MOST_TRAITS) seeTraits(data.metadataAttributes);
        if (!isItem) continue;
        for (const name of Object.keys(data)) {
          if (known.fields.has(name)) continue;
          known.fields.add(name);
          if (isFieldName(name) && fieldSpec(name).onChain !== false) fresh.fields.add(name);
        }
      }
    },
    take() {
      const taken = fresh;
      fresh = nothing();
      return taken;
    },
    wantsField: (name) => !known.fields.has(name),
    wantsText: (name) => !known.texts.has(name),
    wantsTrait: (trait) => known.traits.size < MOST_TRAITS && !known.traits.has(trait),
  };
}

/** Puts together what rows showed, in the order of the file. */
export function joinPublicValues(): { readonly all: PublicValues; add(values: PublicValues): void } {
  const fields = new Set<FieldName>();
  const texts = new Map<FieldName, string>();
  const traits = new Map<string, string>();
  return {
    all: { fields, texts, traits },
    add(values) {
      for (const field of values.fields) fields.add(field);
      for (const [field, text] of values.texts) if (!texts.has(field)) texts.set(field, text);
      for (const [trait, text] of values.traits)
        if (traits.size < MOST_TRAITS && !traits.has(trait)) traits.set(trait, text);
    },
  };
}
