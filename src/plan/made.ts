/** How a source makes ids, times and keys: their rules in the config, and what the names in these stand for. */

import { basename } from "node:path";
import { ACTION_NAMES, type ActionName, acceptedFields, actionSpec, isActionName } from "../actions/actions.ts";
import type { FieldName } from "../actions/fields.ts";
import {
  type ActionConfig,
  type EachConfig,
  isList,
  type SourceConfig,
  type TraitRules,
  type ValueRule,
} from "../map/source.ts";
import { namesIn, templatesOf } from "../map/template.ts";

/** How a source makes its actions of one kind: a list of ways each, as JSON. */
export interface Made {
  readonly kind: ActionName;
  readonly made: Readonly<Record<"ids" | "times" | "key", string>>;
}

const IDS = { event: ["eventId"], ticket: ["ticketId", "nftId"] } as const;

/**
 * What the config says of a source: of each kind of action, each way in which its ids, times and keys are made.
 *
 * @param action of `--action`, which sets the rules aside and leaves the zone.
 */
export function madeBy(source: SourceConfig, action?: ActionName): readonly Made[] {
  if (action !== undefined && source.zone === undefined) return [];
  const config: SourceConfig = action === undefined ? source : { action, zone: source.zone, csv: source.csv };
  const { key, zone } = config;
  const kinds = Map.groupBy(rulesOf(config), ({ kind }) => kind);
  return [...kinds].map(([kind, rules]) => {
    const waysOf = (field: FieldName): readonly string[] =>
      rules.flatMap(({ fields, each }) => {
        const rule = fields?.[field] ?? config.fields?.[field];
        return rule === undefined ? [] : [wayOf(field, rule, config, each)];
      });
    const times = acceptedFields(kind).includes("orderTime") ? waysOf("orderTime") : [];
    const keys = key === undefined ? [] : rules.map(({ each }) => wayOf("key", key, config, each));
    const made = {
      ids: IDS[actionSpec(kind).about].flatMap(waysOf),
      times: times.map((way) => (zone === undefined ? way : `${way}, zone ${zone}`)),
      key: [...new Set(keys)],
    };
    return { kind, made: { ids: stable(made.ids), times: stable(made.times), key: stable(made.key) } };
  });
}

type KindRules = ActionConfig & { readonly kind: ActionName };

/** Without `actions`, columns are named like fields. */
function rulesOf({ actions, action }: SourceConfig): readonly KindRules[] {
  if (actions === undefined)
    return (action === undefined ? ACTION_NAMES : [action]).map((kind) => ({ kind, ...NAMED }));
  return actions
    .flatMap((entry) => Object.entries(entry))
    .flatMap(([kind, rules]) => (isActionName(kind) ? [{ kind, ...rules }] : []));
}

const NAMED = {
  fields: { eventId: "{eventId}", ticketId: "{ticketId}", nftId: "{nftId}", orderTime: "{orderTime}" },
} as const satisfies ActionConfig;

/** `ticketId "{No}-{n}", each {"count":"{Quantity}"}`: a rule, and what the names in it stand for. */
function wayOf(what: string, rule: ValueRule | TraitRules, config: SourceConfig, each: EachConfig | undefined): string {
  const used = new Set<string>();
  const see = (templates: readonly string[]): void => {
    for (const name of templates.flatMap((template) => (template.includes("{") ? namesIn(template, []) : []))) {
      if (config.csv?.guards === "strip") used.add("guards strip");
      for (const [says, through] of meaningsOf(name, config, each)) {
        if (used.has(says)) continue;
        used.add(says);
        see(through);
      }
    }
  };
  see(templatesOf(rule));
  return [`${what} ${stable(rule)}`, ...used].join(", ");
}

/** What the source says about a name in a template, each with the templates that it uses itself; nothing of a column that is called so. */
function* meaningsOf(
  name: string,
  { columns, fillDown, lookup, each: ofSource }: SourceConfig,
  each: EachConfig | undefined,
): Generator<readonly [says: string, through: readonly string[]]> {
  const column = ownOf(columns, name);
  if (column !== undefined) yield [`${name} is ${stable(column)}`, []];
  const labels = [name, column ?? []].flat();
  for (const label of [fillDown ?? []].flat()) if (labels.includes(label)) yield [`fillDown ${label}`, []];
  const [head = ""] = name.split(".");
  const joined = ownOf(lookup, head);
  if (joined !== undefined) {
    const { file, where, csv } = joined;
    yield [`${head} is ${stable({ file: basename(file), where, guards: csv?.guards })}`, Object.values(where)];
  }
  if (head !== "n" && head !== "item" && head !== "outer") return;
  // A pattern's braces hold no names, and a path has none.
  for (const one of [each, ofSource])
    if (one !== undefined) yield [`each ${stable(one)}`, "match" in one ? [one.in] : Object.values(one)];
}

const ownOf = <Value>(map: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;

/** JSON with the keys of its objects in order. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !isList(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
