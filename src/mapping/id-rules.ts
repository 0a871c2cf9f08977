/**
 * How a source makes the ids that tell its deeds apart. Made otherwise, what was accepted looks new: the ledger keeps this
 * text, so that a later config can be compared with it.
 */

import { ACTION_NAMES, type ActionName, actionSpec, isActionName } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import type { EachConfig, SourceConfig } from "./source.ts";
import { templateParts } from "./template.ts";

/** Of one kind of action of a source. */
export interface IdRule {
  readonly action: ActionName;
  /** Each way in which its actions name their ticket or event, such as `ticketId "{Order}-{Position}"`. */
  readonly ways: readonly string[];
}

/** The fields that name what an action is about. */
const IDS = { event: ["eventId"], ticket: ["ticketId", "nftId"] } as const satisfies Record<
  string,
  readonly FieldName[]
>;

/** @throws `MappingError` for templates that can't be read. */
export function idRulesOf(source: SourceConfig): readonly IdRule[] {
  const ways = new Map<ActionName, Set<string>>();
  const note = (action: ActionName, way: string): void => {
    ways.set(action, (ways.get(action) ?? new Set()).add(way));
  };
  for (const entry of source.actions ?? []) {
    for (const [action, rule] of Object.entries(entry)) {
      if (!isActionName(action)) continue;
      for (const field of IDS[actionSpec(action).about]) {
        const how = rule?.fields?.[field] ?? source.fields?.[field];
        if (how !== undefined) note(action, `${field} ${wayOf(how, source, rule?.each)}`);
      }
    }
  }
  // Columns are used by their names.
  if (source.actions === undefined)
    for (const action of ACTION_NAMES.filter((name) => source.action === undefined || source.action === name))
      for (const field of IDS[actionSpec(action).about]) note(action, `${field} ${wayOf(`{${field}}`, source)}`);
  return [...ways].map(([action, of]) => ({ action, ways: [...of] }));
}

/** Whether one of the ways of then is no more, and another is new. What was only added or taken out makes no id otherwise. */
export function areMadeOtherwise(then: readonly string[], now: readonly string[]): boolean {
  return then.some((way) => !now.includes(way)) && now.some((way) => !then.includes(way));
}

/** A rule as text, with what the names in it stand for; the same for rules that are only written otherwise. */
function wayOf(rule: unknown, source: SourceConfig, each?: EachConfig): string {
  const names = new Set<string>();
  const plain = plainRule(rule, (template) => plainTemplate(template, source, names));
  const heads = new Set([...names].map((name) => name.split(".")[0] ?? ""));
  const lookups = Object.entries(source.lookup ?? {}).filter(([name]) => heads.has(name));
  const repeats = ["n", "item", "outer"].some((name) => heads.has(name)) ? [source.each, each] : [];
  return [
    JSON.stringify(plain),
    ...lookups.map(([name, { where }]) => `${name} where ${JSON.stringify(sorted(where))}`),
    ...repeats.flatMap((repeat) => (repeat === undefined ? [] : `each ${JSON.stringify(sorted(repeat))}`)),
    ...(source.csv?.guards === "strip" ? ["guards strip"] : []),
  ].join(", ");
}

/** A list of one is what it holds, and so are steps that have nothing but `from`. */
function plainRule(rule: unknown, plain: (template: string) => string): unknown {
  if (typeof rule === "string") return plain(rule);
  if (Array.isArray(rule)) {
    const choices = rule.map((choice) => plainRule(choice, plain));
    return choices.length === 1 ? choices[0] : choices;
  }
  if (typeof rule !== "object" || rule === null) return rule;
  const given = Object.entries(sorted(rule)).map(([name, value]) => [name, plainRule(value, plain)] as const);
  const [first] = given;
  return given.length === 1 && first?.[0] === "from" ? first[1] : Object.fromEntries(given);
}

/** `{{` stays; a name of the source's own is what it stands for: `{Ticket ID or Barcode}`, `{#3}`. */
function plainTemplate(template: string, { columns = {} }: SourceConfig, names: Set<string>): string {
  const parts = templateParts(template, []).map((part) => {
    if (typeof part === "string") return part.replaceAll(/[{}]/g, "$&$&");
    names.add(part.name);
    const own = Object.hasOwn(columns, part.name) ? columns[part.name] : undefined;
    const isPosition = typeof own === "object" && !Array.isArray(own) && "at" in own;
    return `{${own === undefined ? part.name : isPosition ? `#${own.at}` : [own].flat().join(" or ")}}`;
  });
  return parts.join("").trim();
}

/** Plain data with its keys in order. */
function sorted(value: object): object {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, typeof each === "object" && !Array.isArray(each) ? sorted(each) : each]),
  );
}
