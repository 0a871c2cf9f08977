/** Lines of a log, judged by the schema that is published. */

import { readFileSync } from "node:fs";
import { expect } from "vitest";

export type Line = Readonly<Record<string, unknown>> & { readonly event: string };

type Fields = Readonly<Record<string, { readonly type?: string; readonly const?: string }>>;
const { properties, required, oneOf } = JSON.parse(
  readFileSync(new URL("../../docs/schema/log.schema.json", import.meta.url), "utf8"),
) as {
  readonly properties: Fields;
  readonly required: readonly string[];
  readonly oneOf: { readonly properties: Fields }[];
}; // a file of ours

const CONSTRUCTORS = { string: String, integer: Number, boolean: Boolean, object: Object } as const;

/** Each line a JSON object with the fields of its event and no others; throws otherwise. */
export function linesOf(log: string): readonly Line[] {
  return log
    .replace(/\n$/, "")
    .split("\n")
    .map((text) => {
      const line = JSON.parse(text) as Line; // judged below
      const own = oneOf.find((each) => each.properties.event?.const === line.event)?.properties;
      if (own === undefined) throw new Error(`an event that is not in the schema: ${text}`);
      const fields: Fields = { ...properties, ...own };
      expect(Object.keys(line).filter((field) => !(field in fields))).toEqual([]);
      expect(Object.keys(line)).toEqual(expect.arrayContaining([...required]));
      for (const [field, value] of Object.entries(line)) {
        const type = fields[field]?.type;
        if (type !== undefined)
          expect(value, field).toEqual(expect.any(CONSTRUCTORS[type as keyof typeof CONSTRUCTORS])); // the schema names only such
      }
      return line;
    });
}
