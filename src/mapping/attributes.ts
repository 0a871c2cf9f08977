/** `metadataAttributes` from a map of trait names to rules; traits that are empty are left out. */

import { readDecimal } from "../actions/exact-number.ts";
import type { MetadataAttribute } from "../actions/fields.ts";
import { MappingError } from "../map/mapping-error.ts";
import type { MappingRule } from "../map/rules.ts";
import type { TraitRules } from "../map/source.ts";
import type { Scope } from "./names.ts";
import { compileValue, isSteps, type ValueContext } from "./value.ts";

export function compileAttributes(
  traits: TraitRules,
  context: ValueContext,
): (scope: Scope) => readonly MetadataAttribute[] | undefined {
  const compiled = Object.entries(traits).flatMap(([trait, rule]) => {
    if (rule === undefined) return [];
    const path = [...context.path, trait];
    const display = isSteps(rule) ? rule.display : undefined;
    if (display === "") throw new MappingError([...path, "display"], "is empty");
    const read = compileValue(rule, {
      ...context,
      label: trait,
      parsing: "either",
      emptyWhen: "all columns are",
      displays: true,
      path,
    });
    return [{ trait, display, read }];
  });
  if (compiled.length === 0) throw new MappingError(context.path, "names no trait");
  return (scope) => {
    const attributes: MetadataAttribute[] = [];
    for (const { trait, display, read } of compiled) {
      const value = read(scope);
      if (value === "") continue;
      if (value === context.clearWord) {
        scope.findings.push({
          rule: "not-clearable" satisfies MappingRule,
          field: trait,
          value,
          message: "A trait can't be cleared: an update replaces all traits.",
          hint: "Leave the cell empty; the trait is then left out.",
        });
        continue;
      }
      if (display === undefined) {
        attributes.push({ trait_type: trait, value });
        continue;
      }
      const number = readDecimal(value);
      if (number === undefined) {
        scope.findings.push({
          rule: "metadata-invalid",
          field: trait,
          value,
          message: `${trait} is not a number, which display: ${display} needs.`,
          hint: "Declare decimal or format, or leave display out.",
        });
        continue;
      }
      attributes.push({ trait_type: trait, value: number, display_type: display });
    }
    return attributes.length === 0 ? undefined : attributes;
  };
}
