/** `tickets plan --preview`: the first rows of each file, as far as they can be read, beside the actions they give. */

import type { Action } from "../actions/actions.ts";
import { itemOf } from "../actions/draft.ts";
import { isPersonal } from "../actions/fields.ts";
import type { PlacedProblem } from "../actions/problem.ts";
import { leafAt, withExactNumbers } from "../map/json-rows.ts";
import type { Mapped } from "../map/mapper.ts";
import type { EachConfig } from "../map/source.ts";
import type { MappedFile, OnRow } from "../plan/reading.ts";
import { placeText } from "../read/file-names.ts";
import type { Row } from "../read/row.ts";
import type { CheckedInput } from "../run/context.ts";
import { cleanText, number } from "../text.ts";
import { describeBack, textOf } from "./describe.ts";
import { type Fact, inPairs, wrapLines } from "./layout.ts";
import { shownIf } from "./problems.ts";

/** Watches the rows on their way through the mapping. */
export function createPreview(rowsPerFile: number) {
  const seen = new Map<MappedFile, number>();
  const rows: { readonly file: MappedFile; readonly row: Row; readonly mapped: Mapped }[] = [];
  const see: OnRow = (file, row, mapped) => {
    const before = seen.get(file) ?? 0;
    seen.set(file, before + 1);
    if (before < rowsPerFile) rows.push({ file, row, mapped });
  };
  const result = (problems: readonly PlacedProblem[]) => ({
    rows: rows.map(({ file, row, mapped }) => previewRow(file, row, mapped, problems)),
  });
  return { see, result };
}

/** As `--json` has it. */
export type PreviewDocument = ReturnType<ReturnType<typeof createPreview>["result"]>;

function previewRow(from: MappedFile, row: Row, mapped: Mapped, problems: readonly PlacedProblem[]) {
  const source = from.file.name;
  return {
    source,
    line: row.line,
    cells: row.kind === "object" ? valuesOf(row, from) : cellsOf(row, from),
    actions: mapped.kind === "actions" ? mapped.drafts.map(itemOf) : [],
    /** Why the row gives no action. */
    ...(mapped.kind === "skipped" && { skipped: mapped.reason }),
    problems: problems.filter((problem) => problem.source === source && problem.line === row.line),
  };
}

interface Cell {
  readonly column: string;
  readonly value: string;
}

/** The keys that are used and not empty; of the items of a list, what each of them holds. */
function valuesOf(row: Extract<Row, { kind: "object" }>, { source, mapper }: MappedFile): readonly Cell[] {
  const exact = withExactNumbers(row);
  const outer = itemsAt(exact, pathOf(source?.each)).map((item) => ({ item, outer: item }));
  const ofActions = (source?.actions ?? []).flatMap((entry) =>
    Object.values(entry).map((action) => pathOf(action?.each)),
  );
  const inner = [...new Set(ofActions)].flatMap((path) =>
    [exact, ...outer].flatMap((around) => itemsAt(around, path).map((item) => ({ item }))),
  );
  return mapper.understanding.used.flatMap((column) => {
    const texts = [[exact], inner, outer].map((holders) => holders.flatMap((holder) => textAt(holder, column)));
    const [found] = texts.filter(({ length }) => length > 0);
    return found === undefined ? [] : [{ column, value: found.join(", ") }];
  });
}

const pathOf = (each: EachConfig | undefined): string => (each !== undefined && "path" in each ? each.path : "");

function itemsAt(value: unknown, path: string): readonly unknown[] {
  const list = leafAt(value, path);
  return Array.isArray(list) ? list : [];
}

function textAt(value: unknown, path: string): readonly string[] {
  const leaf = leafAt(value, path) ?? undefined;
  return leaf === undefined ? [] : [textOf(leaf)];
}

/** The columns that are used and not empty. */
function cellsOf(row: Row, { header, mapper }: MappedFile): readonly Cell[] {
  if (row.kind !== "cells" || header === undefined) return [];
  const used = new Set(mapper.understanding.used);
  return header.flatMap((name, at) => {
    const value = row.cells[at]?.trim() ?? "";
    if (!used.has(name) || value === "") return [];
    const nth = header.slice(0, at).filter((other) => other === name).length + 1;
    const isTwice = header.indexOf(name) !== header.lastIndexOf(name);
    return [{ column: isTwice ? `${name}#${nth}` : name, value }];
  });
}

interface Shown {
  readonly verbose: boolean;
  /** Of the terminal. */
  readonly columns: number;
}

/** The preview for people. Values that name persons are masked unless `verbose`. */
export function describePreview(
  { rows }: PreviewDocument,
  { plan, namesPerson }: Pick<CheckedInput, "plan" | "namesPerson">,
  shown: Shown,
): string {
  const lines = rows.flatMap((row) => [...describeRow(row, namesPerson, shown), ""]);
  if (rows.length === 0) lines.push("The input has no rows.", "");
  const kinds = Object.entries(plan.byAction).map(([action, times]) => `${number(times).padStart(9)}  ${action}`);
  lines.push("Actions", ...(kinds.length === 0 ? ["  none"] : kinds));
  const back = describeBack(plan.actions);
  if (back !== "") lines.push(`  ${back}: left out`);
  return `${lines.join("\n")}\n`;
}

/** The row's cells, and below them what they give. */
function describeRow(
  { source, line, cells, actions, skipped, problems }: PreviewDocument["rows"][number],
  namesPerson: CheckedInput["namesPerson"],
  { verbose, columns }: Shown,
): readonly string[] {
  const persons = new Set(
    actions.flatMap(({ data }) => Object.entries(data).flatMap(([field, value]) => (isPersonal(field) ? [value] : []))),
  );
  const shown = cells.map(({ column, value }): Fact => {
    const isOfPerson = namesPerson({ source, field: column }) || persons.has(value) || /^\S+@\S+$/.test(value);
    return [cleanText(column, 40), shownIf(isOfPerson, value, verbose)];
  });
  const found = problems.map((problem) => {
    const { severity, value, message, rule } = problem;
    const what = value === undefined ? "" : `${JSON.stringify(shownIf(namesPerson(problem), value, verbose))} `;
    return wrapLines(
      `  → ${severity === "warn" ? "warning" : "error"}: ${what}${cleanText(message, 300)} [${rule}]`,
      columns,
    );
  });
  return [
    placeText({ source, line }),
    ...inPairs(shown, columns, "  "),
    ...actions.flatMap((action) => describeAction(action, { verbose, columns })),
    ...(skipped === undefined ? [] : [wrapLines(`  → skipped: ${cleanText(skipped, 200)}`, columns)]),
    ...found,
  ];
}

function describeAction({ action, data }: Action, { verbose, columns }: Shown): readonly string[] {
  const { metadataAttributes: traits, ...fields } = data;
  const pairs = Object.entries(fields).map(([field, value]): Fact => {
    return [field, `${shownIf(isPersonal(field), textOf(value), verbose)}${instantText(field, value)}`];
  });
  const ofTraits = Array.isArray(traits)
    ? traits.map(({ trait_type, value }): Fact => [cleanText(String(trait_type)), cleanText(String(value))])
    : [];
  return [
    `  → ${action}`,
    ...inPairs(pairs, columns, "      "),
    ...(traits == null ? [] : ["      metadataAttributes", ...inPairs(ofTraits, columns, "        ")]),
  ];
}

/** Unix seconds say nothing to people; the same in UTC shows a wrong zone or a swapped day and month. */
function instantText(field: string, value: unknown): string {
  if (!field.endsWith("Time") || typeof value !== "number" || value === 0 || value > 8.64e12) return "";
  return ` ${new Date(value * 1000).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
