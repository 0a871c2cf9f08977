/** How the inputs were understood: what of that is new, and where the config decides a field. */

import { createHash } from "node:crypto";
import { ACTION_NAMES, acceptedFields } from "../actions/actions.ts";
import { isFieldName, isPersonal } from "../actions/fields.ts";
import type { PlacedProblem } from "../actions/problem.ts";
import { type Config, originOf } from "../config/config.ts";
import { displayOrigin } from "../config/declared.ts";
import { publicName } from "../map/named-columns.ts";
import { personalColumns } from "../map/names.ts";
import type { Understood } from "../plan/look.ts";
import type { InputFile } from "../read/input-file.ts";

/** How an input file was read. */
export interface UnderstoodInput extends Understood {
  readonly file: InputFile;
  readonly rows: number;
  /** Name of the source whose rules were used. */
  readonly source: string | undefined;
}

/** What of a file becomes public, such as `price` and `ticketId (hashed)`. */
export function publicOf({ understanding, values }: Pick<Understood, "understanding" | "values">): readonly string[] {
  const ofItems = [...values.fields].flatMap((field) => publicName(field) ?? []);
  return [...new Set([...understanding.publicFields, ...ofItems])];
}

/** By these a later run knows that it shows nothing new: one for each column, and one for all that becomes public. */
export function marksOf(input: UnderstoodInput) {
  const { how, action = "", used, unused } = input.understanding;
  const mark = (...parts: readonly string[]): string =>
    createHash("sha256")
      .update(JSON.stringify([how, action, ...parts]))
      .digest("hex")
      .slice(0, 32);
  const traits = [...input.values.traits.keys()];
  return {
    columns: new Map([...used, ...unused].map((column) => [column, mark("column", column)])),
    published: mark("public", ...publicOf(input).toSorted(), ...traits.toSorted()),
  };
}

/** All marks of all inputs. */
export const allMarksOf = (inputs: readonly UnderstoodInput[]): readonly string[] =>
  inputs.map(marksOf).flatMap(({ columns, published }) => [...columns.values(), published]);

/** Whether a field names a person, or a column of a file of which its source makes such a field. */
export function namingPersons(config: Config, inputs: readonly UnderstoodInput[]) {
  const columns = new Map(
    inputs.flatMap(({ file, source, input }) => {
      const rules = source === undefined ? undefined : config.sources[source];
      return rules === undefined ? [] : [[file.name, personalColumns(rules, input.header)] as const];
    }),
  );
  return ({ source: file, field }: Pick<PlacedProblem, "source" | "field">): boolean =>
    field !== undefined && (isPersonal(field) || columns.get(file)?.has(field) === true);
}

/**
 * Where the config decides about the field of a problem, as `tickets.config.yaml:14`; of one that names no action, in each
 * action that takes the field. A constant is checked with the config, so it is named only where there is nothing else.
 */
export function decidingPlaces(config: Config, inputs: readonly UnderstoodInput[], cwd: string) {
  const sources = new Map(inputs.map(({ file, source }) => [file.name, source]));
  return ({ source: file, field, action }: Pick<PlacedProblem, "source" | "field" | "action">): readonly string[] => {
    const source = sources.get(file);
    if (source === undefined || field === undefined || !isFieldName(field)) return [];
    const { actions = [], fields } = config.sources[source] ?? {};
    const found = actions.flatMap((entry, at) =>
      ACTION_NAMES.flatMap((name) => {
        const isMeant = action === undefined ? acceptedFields(name).includes(field) : name === action;
        if (!isMeant || !Object.hasOwn(entry, name)) return [];
        const own = entry[name]?.fields?.[field];
        const rule = own ?? fields?.[field];
        const path = own === undefined ? ["fields", field] : ["actions", at, name, "fields", field];
        const origin = originOf(config, ["sources", source, ...path]);
        return origin === undefined ? [] : [{ origin, isConstant: typeof rule === "string" && !rule.includes("{") }];
      }),
    );
    const varying = found.filter(({ isConstant }) => !isConstant);
    const origins = (varying.length > 0 ? varying : found).map(({ origin }) => displayOrigin(origin, cwd));
    return [...new Set(origins)];
  };
}
