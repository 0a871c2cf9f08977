/** What the checks across actions find in one row: its findings, and whether one of them holds the row back. */

import { about, type Finding, type Severity, type SourceLine } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import type { CrossActionRule } from "./rules.ts";

/** A finding with its severity, which may differ from case to case of one rule; findings that are off are not given. */
export interface CrossActionFinding extends Finding {
  readonly rule: CrossActionRule;
  readonly severity: Exclude<Severity, "off">;
}

/** One object for all rows; `begin` makes it that of the next. */
export class RowFindings {
  /** Whether one of the findings is an error. */
  isInvalid = false;
  /** The row on which this one depends, where that is not sent. */
  cause: SourceLine | undefined;
  readonly #severityOf: (rule: string) => Severity;
  #found: CrossActionFinding[] | undefined;

  constructor(severityOf: (rule: string) => Severity) {
    this.#severityOf = severityOf;
  }

  begin(): void {
    this.isInvalid = false;
    this.cause = undefined;
    this.#found = undefined;
  }

  /** What was found since the last time; undefined when there is nothing. */
  take(): readonly CrossActionFinding[] | undefined {
    const found = this.#found;
    this.#found = undefined;
    return found;
  }

  /**
   * Returns the severity that it has here.
   *
   * @param finding asked for where the rule is not off.
   */
  report(rule: CrossActionRule, finding: () => Omit<Finding, "rule">, gravest: Severity = "error"): Severity {
    return this.#report(rule, finding, gravest, undefined);
  }

  #report(
    rule: CrossActionRule,
    finding: () => Omit<Finding, "rule">,
    gravest: Severity,
    cause: SourceLine | undefined,
  ): Severity {
    const configured = this.#severityOf(rule);
    const severity = configured === "error" ? gravest : configured;
    if (severity === "off") return severity;
    if (severity === "error") this.isInvalid = true;
    this.#found ??= [];
    this.#found.push({ rule, severity, ...finding(), ...(cause && { cause }) });
    return severity;
  }

  dependsOn(cause: SourceLine | undefined, field: string, value: string): void {
    this.cause ??= cause;
    this.#report("depends-on-invalid", () => ({ ...about(field, value), ...dependsOnInvalid(cause) }), "error", cause);
  }
}

/** The finding about a row that depends on an invalid one. */
export function dependsOnInvalid(cause: SourceLine | undefined) {
  const row = cause === undefined ? "an earlier row" : placeText(cause);
  const message = `It depends on ${row}, which is invalid and not sent.`;
  return { message, hint: "Mend that row.", ...(cause && { cause }) };
}

/** The finding about a sale of a ticket that another row of the input sells. */
export function soldTwice(ticketId: string, other: SourceLine | undefined) {
  return {
    rule: "ticket-sold-twice",
    ...about("ticketId", ticketId),
    message: `Ticket ${quoted(ticketId)} is already sold${other === undefined ? "" : ` at ${placeText(other)}`}.`,
    hint: "A later sale of it is a resoldTicket. If the id is that of an order, make one id per ticket in the mapping.",
  } as const;
}

export const quoted = (id: string): string => `"${cleanText(id, 60)}"`;

export const placeText = ({ source, line }: SourceLine): string => `${cleanText(source, 200)}:${line}`;
