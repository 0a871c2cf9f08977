/** `tickets plan --preview`: the first rows that can be read beside the actions they give, and what each value of a deciding column gives. */

import { type Action, actionsThat, registersEvent } from "../actions/actions.ts";
import { itemOf } from "../actions/draft.ts";
import { isPersonal } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import { type Problem, placeText } from "../actions/problem.ts";
import { withExactNumbers } from "../map/exact-numbers.ts";
import { leafAt } from "../map/json-keys.ts";
import type { DecidingColumn, Mapped } from "../map/mapper.ts";
import type { Row } from "../read/row.ts";
import type { MappedFile, OnRow } from "../run/mappers.ts";
import type { CheckedInput } from "../run/progress.ts";
import { cleanText, number, textWidth } from "../text.ts";
import { shownIf } from "./problems.ts";
import { describeBack } from "./summary.ts";
import { foldWords, padded } from "./table.ts";

/** Values beyond this many are counted together: a column with so many different values is not a status. */
const MOST_KEPT = 10_000;
const OTHERS = "(others)";

/** What the values of a column that `when` compares lead to. */
interface Values {
  readonly source: string;
  readonly column: DecidingColumn;
  /** By value: how many rows, and kinds of actions that they give; none for a value that no rule takes. */
  readonly counts: Map<string, { rows: number; readonly actions: Set<string> }>;
}

interface SeenFile {
  seen: number;
  readonly isOfRow: (action: string) => boolean;
  readonly values: readonly Values[];
}

/** Watches the rows on their way through the mapping. Its memory does not grow with the input. */
export function createPreview(rowsPerFile: number) {
  const rows: { readonly file: MappedFile; readonly row: Row; readonly mapped: Mapped }[] = [];
  const files = new Map<MappedFile, SeenFile>();
  const see: OnRow = (file, row, mapped) => {
    const state = files.get(file) ?? firstSeen(file);
    files.set(file, state);
    state.seen += 1;
    if (state.seen <= rowsPerFile) rows.push({ file, row, mapped });
    const drafts = mapped.kind === "actions" ? mapped.drafts : [];
    const own = mapped.kind === "invalid" ? ["(invalid)"] : drafts.map(({ action }) => action).filter(state.isOfRow);
    for (const { column, counts } of state.values) {
      const value = column.text();
      const key = counts.has(value) || counts.size < MOST_KEPT ? value : OTHERS;
      const known = counts.get(key) ?? { rows: 0, actions: new Set<string>() };
      known.rows += 1;
      for (const action of own) known.actions.add(action);
      counts.set(key, known);
    }
  };
  const result = (problems: readonly Problem[]) => ({
    rows: rows.map(({ file, row, mapped }) => previewRow(file, row, mapped, problems)),
    values: [...files.values()].flatMap(({ values }) =>
      values.map(({ source, column, counts }) => ({
        source,
        column: column.label,
        values: [...counts]
          .map(([value, { rows, actions }]) => ({ value, rows, actions: [...actions] }))
          .sort((one, other) => other.rows - one.rows),
      })),
    ),
  });
  return { see, result };
}

/** As `--json` has it. */
type PreviewDocument = ReturnType<ReturnType<typeof createPreview>["result"]>;

function firstSeen({ file, source, mapper }: MappedFile): SeenFile {
  const conditional = (source?.actions ?? []).some((entry) =>
    actionsThat("register-event").some((name) => entry[name]?.when !== undefined),
  );
  return {
    seen: 0,
    // An event without conditions comes with whichever row is first, so it says nothing about the row's value.
    isOfRow: (action) => conditional || !registersEvent(action),
    values: (mapper.deciding ?? []).map((column) => ({ source: file.name, column, counts: new Map() })),
  };
}

function previewRow({ file, header, mapper }: MappedFile, row: Row, mapped: Mapped, problems: readonly Problem[]) {
  const source = file.name;
  return {
    source,
    line: row.line,
    cells: cellsOf(row, header, new Set(mapper.understanding.used)),
    actions: mapped.kind === "actions" ? mapped.drafts.map(itemOf) : [],
    /** Why the row gives no action. */
    ...(mapped.kind === "skipped" && { skipped: mapped.reason }),
    problems: problems.filter((problem) => problem.source === source && problem.line === row.line),
  };
}

/** The columns that are used and not empty. */
function cellsOf(
  row: Row,
  header: readonly string[] | undefined,
  used: ReadonlySet<string>,
): readonly { readonly column: string; readonly value: string }[] {
  if (row.kind === "object") {
    const exact = withExactNumbers(row);
    return [...used].flatMap((column) => {
      const value = leafAt(exact, column);
      if (value === undefined || value === null) return [];
      return [{ column, value: typeof value === "string" ? value : stringifyJson(value) }];
    });
  }
  if (row.kind !== "cells" || header === undefined) return [];
  const { cells } = row;
  return header.flatMap((name, at) => {
    const value = cells[at]?.trim() ?? "";
    if (!used.has(name) || value === "") return [];
    const nth = header.slice(0, at).filter((other) => other === name).length + 1;
    const isTwice = header.indexOf(name) !== header.lastIndexOf(name);
    return [{ column: isTwice ? `${name}#${nth}` : name, value }];
  });
}

const MOST_VALUES_SHOWN = 20;

/** Widths of the two sides; with what parts them they fit a terminal of 80 columns. */
const LEFT = 35;
const RIGHT = 42;

/** The preview for people. Values that name persons are masked unless `verbose`. */
export function describePreview(
  { rows, values }: PreviewDocument,
  { plan, namesPerson }: Pick<CheckedInput, "plan" | "namesPerson">,
  verbose: boolean,
): string {
  const lines: string[] = [];
  for (const row of rows) lines.push(...describeRow(row, namesPerson, verbose), "");
  if (rows.length === 0) lines.push("The input has no rows.", "");
  const kinds = Object.entries(plan.byAction).map(([action, times]) => `${number(times).padStart(9)}  ${action}`);
  lines.push("Actions", ...(kinds.length === 0 ? ["  none"] : kinds));
  const back = describeBack(plan.actions);
  if (back !== "") lines.push(`  ${back}: left out`);
  for (const { source, column, values: counted } of values) {
    lines.push(`${cleanText(column, 40)} in ${cleanText(source, 30)}: rows by value`);
    const isOfPerson = namesPerson({ source, field: column });
    const most = counted
      .slice(0, MOST_VALUES_SHOWN)
      .map((each) => ({ ...each, shown: shownIf(isOfPerson, valueText(each.value), verbose) }));
    const width = Math.max(...most.map(({ shown }) => textWidth(shown)), 0);
    for (const { shown, rows: times, actions } of most)
      lines.push(
        `${number(times).padStart(9)}  ${padded(shown, width)}  ${actions.length === 0 ? "nothing" : `→ ${actions.join(", ")}`}`,
      );
    if (counted.length > most.length) lines.push(`           and ${number(counted.length - most.length)} more values`);
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

function valueText(value: string): string {
  return value === "" ? "(empty)" : cleanText(value, 30);
}

function describeRow(
  { source, line, cells, actions, skipped, problems }: PreviewDocument["rows"][number],
  namesPerson: CheckedInput["namesPerson"],
  verbose: boolean,
): readonly string[] {
  const persons = new Set(
    actions.flatMap(({ data }) => Object.entries(data).flatMap(([field, value]) => (isPersonal(field) ? [value] : []))),
  );
  const left = cells.map(({ column, value }) => {
    const isOfPerson = namesPerson({ source, field: column }) || persons.has(value) || /^\S+@\S+$/.test(value);
    return `${padded(cut(cleanText(column), 14), 14)} ${cut(shownIf(isOfPerson, value, verbose), LEFT - 15)}`;
  });
  const right = actions.flatMap((action) => describeAction(action, verbose));
  if (skipped !== undefined) right.push(...wrap(`skipped: ${cleanText(skipped, 200)}`));
  for (const problem of problems) {
    const { severity, value, message, rule } = problem;
    const what = value === undefined ? "" : `${JSON.stringify(shownIf(namesPerson(problem), value, verbose))} `;
    right.push(...wrap(`${severity === "warn" ? "warning" : "error"}: ${what}${cleanText(message, 300)} [${rule}]`));
  }
  const height = Math.max(left.length, right.length);
  return [
    placeText({ source, line }, 60),
    ...Array.from({ length: height }, (_, at) => `${padded(left[at] ?? "", LEFT)} │ ${right[at] ?? ""}`.trimEnd()),
  ];
}

function describeAction({ action, data }: Action, verbose: boolean): readonly string[] {
  const lines: string[] = [action];
  for (const [field, value] of Object.entries(data)) {
    if (field === "metadataAttributes" && Array.isArray(value)) {
      lines.push("  metadataAttributes");
      for (const { trait_type, value: trait } of value)
        lines.push(cut(`    ${cleanText(String(trait_type))}: ${cleanText(String(trait))}`, RIGHT));
    } else {
      const text = typeof value === "string" ? value : stringifyJson(value);
      lines.push(
        cut(`  ${padded(field, 9)} ${shownIf(isPersonal(field), text, verbose)}${instantText(field, value)}`, RIGHT),
      );
    }
  }
  return lines;
}

/** Unix seconds say nothing to people; the same in UTC shows a wrong zone or a swapped day and month. */
function instantText(field: string, value: unknown): string {
  if (!field.endsWith("Time") || typeof value !== "number" || value === 0 || value > 8.64e12) return "";
  return ` ${new Date(value * 1000).toISOString().slice(0, 16).replace("T", " ")}Z`;
}

function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (textWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

const wrap = (text: string): readonly string[] => foldWords(text, RIGHT, "  ").map((line) => cut(line, RIGHT));
