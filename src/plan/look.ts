/** One row of a file: map → check. What the file shows as a whole is noted beside. */

import type { Draft } from "../actions/draft.ts";
import { isFieldName } from "../actions/fields.ts";
import type { Problem } from "../actions/problem.ts";
import { checkDraft } from "../check/check-draft.ts";
import type { Mapped } from "../map/mapper.ts";
import { createRowDigester, type RowDigester } from "../map/row-digest.ts";
import { parseRowKey, ROW_COLUMN, type RowKey } from "../read/rejects-columns.ts";
import type { Row } from "../read/row.ts";
import type { Severity } from "../rules.ts";
import { PublicValues } from "./public-values.ts";
import type { Reading } from "./reading.ts";

/** A row that was looked at. */
export interface Looked {
  readonly row: Row;
  readonly problems: readonly Problem[];
  /** Why it gives nothing, where it is skipped. */
  readonly skipped: string | undefined;
  readonly isBad: boolean;
  /** What it gives; of a bad row, what it would have given. */
  readonly drafts: readonly Draft[];
  /** The event that it names, also where its actions do not take an eventId. */
  readonly eventId: string | undefined;
  /** Where rejects say that it was first read. */
  readonly own: RowKey | undefined;
  /** Of a bad row, or of the bad one that it corrects. */
  readonly digest: string | undefined;
  /** It was unclear when it was put into its rejects, and stands there as it was. */
  readonly isLeft: boolean;
}

type Invalid = Extract<Mapped, { kind: "invalid" }>;

export class Look {
  /** Examples of what will be public. */
  readonly values = new PublicValues();
  readonly #reading: Reading;
  readonly #severityOf: (rule: string) => Severity;
  /** In Unix seconds. */
  readonly #now: number;
  readonly #digester: RowDigester;
  /** Index of the cell that rejects keep digest and position in; -1 where there is none. */
  readonly #own: number;

  constructor(
    reading: Reading,
    header: readonly string[] | undefined,
    severityOf: (rule: string) => Severity,
    now: number,
  ) {
    this.#reading = reading;
    this.#severityOf = severityOf;
    this.#now = now;
    this.#digester = createRowDigester(header, reading.readAs);
    this.#own = header?.findIndex((name) => name.trim() === ROW_COLUMN) ?? -1;
  }

  look(row: Row): Looked {
    const { mapper, onRow } = this.#reading;
    const mapped = mapper.map(row);
    if (row.kind !== "malformed") onRow?.(row, mapped);
    const problems = this.#problemsOf(row, mapped);
    const isError = this.#isError(problems);
    const skipped = mapped.kind === "skipped" && !isError ? mapped.reason : undefined;
    const isBad = skipped === undefined && (isError || row.kind === "malformed" || mapped.kind === "invalid");
    if (mapped.kind === "actions") {
      if (isBad) mapper.retract?.();
      this.values.see(mapped.drafts, row.kind === "object");
    }
    const key = row.kind === "object" ? row.value[ROW_COLUMN] : row.cells?.[this.#own];
    const own = key === undefined ? undefined : parseRowKey(key);
    return {
      row,
      problems,
      skipped,
      isBad,
      own,
      drafts: draftsOf(mapped),
      eventId: mapped.kind === "actions" ? mapped.eventId : undefined,
      digest: isBad || own !== undefined ? this.#digestOf(row, own, isBad) : undefined,
      isLeft: own?.isUnclear === true && own.digest === this.#digester(row),
    };
  }

  #digestOf(row: Row, own: RowKey | undefined, isBad: boolean): string | undefined {
    if (own?.digest !== undefined && own.isUnclear !== true) return own.digest;
    // Undefined where it is not known what the row takes from others: the same text may mean another ticket.
    const beside = isBad ? this.#reading.mapper.beside() : undefined;
    return beside && this.#digester(row, beside);
  }

  #problemsOf(row: Row, mapped: Mapped): readonly Problem[] {
    if (mapped.kind === "invalid") return this.#problemsOfInvalid(mapped);
    const { likely = [] } = mapped;
    if (mapped.kind === "skipped") return likely;
    const { drafts } = mapped;
    const [only, ...others] = drafts;
    const ofRow = row.kind === "malformed" ? row.problems : [];
    const found = only === undefined ? [] : checkDraft(only, this.#now);
    if (others.length === 0 && likely.length === 0 && ofRow.length === 0) return found;
    return [...ofRow, ...likely, ...found, ...others.flatMap((draft) => checkDraft(draft, this.#now))];
  }

  /** With what is wrong with the fields that could be read, so that all problems of a row are reported at once. */
  #problemsOfInvalid({ problems, likely = [], attempted, isGuess }: Invalid): readonly Problem[] {
    if (isGuess === true) return [...problems, ...likely];
    const known = new Set(problems.map(({ field }) => field));
    // Problems of a declared source name columns, so which field each left empty is not known.
    const ofColumns = problems.some(({ field }) => field === undefined || !isFieldName(field));
    const further = attempted
      .flatMap((draft) => checkDraft(draft, this.#now))
      .filter(({ field }) => field === undefined || !known.has(field))
      .filter(({ rule }) => !(ofColumns && FOLLOWS.has(rule)))
      // What could not be read may be the change.
      .filter(({ rule }) => rule !== "update-without-change");
    return [...problems, ...likely, ...further];
  }

  #isError(problems: readonly Problem[]): boolean {
    return problems.some(({ rule }) => this.#severityOf(rule) === "error");
  }
}

/** What a field that could not be read also leads to; reporting it would only confuse. */
const FOLLOWS: ReadonlySet<string> = new Set([
  "field-required",
  "sold-ticket-without-user",
  "ticket-reference-missing",
  "claim-recipient-missing",
  "order-time-missing",
]);

function draftsOf(mapped: Mapped): readonly Draft[] {
  if (mapped.kind === "skipped") return [];
  return mapped.kind === "actions" ? mapped.drafts : mapped.attempted;
}
