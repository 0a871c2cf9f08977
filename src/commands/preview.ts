/** The preview of `tickets plan --preview`, for people. */

import type { Action } from "../actions/actions.ts";
import { isPersonal } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import { placeText } from "../actions/place.ts";
import { cleanText, number, textWidth } from "../actions/text.ts";
import type { PreviewDocument, PreviewRow } from "../run/preview.ts";
import type { CheckedInput } from "../run/progress.ts";
import { shownIf } from "./problems.ts";
import { describeBack } from "./summary.ts";
import { foldWords, padded } from "./table.ts";

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
  { source, line, cells, actions, skipped, problems }: PreviewRow,
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
