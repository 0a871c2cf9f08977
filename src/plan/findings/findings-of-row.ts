/** What is wrong with a row by itself. */

import type { Action } from "../../actions/actions.ts";
import { isFieldName } from "../../actions/fields.ts";
import type { Finding, Severity } from "../../actions/problem.ts";
import { checkAction } from "../../checks/shape.ts";
import type { Mapped } from "../../mapping/mapper.ts";
import type { Row } from "../../mapping/row.ts";
import type { InputFile } from "../../readers/input-file.ts";
import type { ProblemLog } from "./problem-log.ts";
import { markOfRow } from "./told-warnings.ts";

/** Notes the findings that are not turned off; true when one of them is an error. */
export function reportFindings(
  log: ProblemLog,
  file: Pick<InputFile, "name" | "format">,
  severityOf: (rule: string) => Severity,
  row: Row,
  at: number,
  findings: readonly Finding[],
): boolean {
  let isError = false;
  // Only what is kept is known again.
  const isMarked = log.capacity.keeps === "all";
  for (const finding of findings) {
    const severity = severityOf(finding.rule);
    if (severity === "off") continue;
    if (severity === "error") isError = true;
    const { pointer: inItem, mark: ofRows, ...rest } = finding;
    const pointer =
      inItem === undefined || row.kind !== "object" ? undefined : `${file.format === "json" ? `/${at}` : ""}${inItem}`;
    const mark = isMarked && severity === "warn" ? (ofRows ?? markOfRow(row)) : undefined;
    log.add({
      source: file.name,
      line: row.line,
      severity,
      ...rest,
      ...(pointer !== undefined && { pointer }),
      ...(mark !== undefined && { mark }),
    });
  }
  return isError;
}

export function findingsOfMapped(mapped: Exclude<Mapped, { kind: "skipped" }>, now: number): readonly Finding[] {
  const likely = mapped.likely ?? [];
  if (mapped.kind === "actions") return [...likely, ...findingsOf(mapped.actions, now)];
  const further = mapped.isGuess === true ? [] : furtherFindings(mapped.findings, mapped.attempted, now);
  return [...mapped.findings, ...likely, ...further];
}

export function findingsOf(actions: readonly Action[], now: number): readonly Finding[] {
  const [only] = actions;
  return actions.length === 1 ? checkAction(only, now) : actions.flatMap((action) => checkAction(action, now));
}

/** What a field that could not be read also leads to; telling it would only confuse. */
const FOLLOWS: ReadonlySet<string> = new Set([
  "field-required",
  "sold-ticket-without-user",
  "ticket-reference-missing",
  "claim-recipient-missing",
  "order-time-missing",
]);

/** What is wrong with the fields that could be read, so that all problems of a row are told at once. */
function furtherFindings(findings: readonly Finding[], attempted: readonly Action[], now: number): readonly Finding[] {
  const told = new Set(findings.map(({ field }) => field));
  // Findings of a declared source name columns, so which field each left empty is not known.
  const ofColumns = findings.some(({ field }) => field === undefined || !isFieldName(field));
  return attempted
    .flatMap((action) => checkAction(action, now))
    .filter(
      ({ field, rule }) =>
        (field === undefined || !told.has(field)) &&
        !(ofColumns && FOLLOWS.has(rule)) &&
        // What could not be read may be the change.
        rule !== "update-without-change",
    );
}

export function reasonOf(findings: readonly Finding[], severityOf: (rule: string) => Severity): string {
  const errors = findings.filter(({ rule }) => severityOf(rule) === "error");
  const told = (errors.length > 0 ? errors : findings).map(({ rule, message }) => `${rule}: ${message}`);
  // Several actions of a row may all lack the same.
  return [...new Set(told)].join(" ");
}
