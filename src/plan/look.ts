/** One file: read → map → check → identify. What it gives is plain data, so that a thread may do it. */

import { type Action, type ActionName, actionSpec } from "../actions/actions.ts";
import { type Draft, itemOf } from "../actions/draft.ts";
import { isFieldName } from "../actions/fields.ts";
import { identityOf } from "../actions/identity.ts";
import { withoutNul } from "../actions/marks.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import { checkDraft } from "../check/check-draft.ts";
import type { Mapped, Mapper, Understanding } from "../map/mapper.ts";
import { createRowDigester, type RowDigester } from "../map/row-digest.ts";
import { problemsOfContent } from "../read/content.ts";
import type { Input } from "../read/input.ts";
import { parseRowKey, REASON_COLUMN, ROW_COLUMN, type RowKey } from "../read/rejects-columns.ts";
import { keptText, type Row } from "../read/row.ts";
import { type Severity, severityIn } from "../rules.ts";
import { PublicValues } from "./public-values.ts";

/** What the rows of a file are looked at with. */
export interface Rules {
  /** The source, or the action; "" where the rows say it themselves. */
  readonly readAs: string;
  readonly severities: ReadonlyMap<string, Severity>;
  /** In Unix seconds. */
  readonly now: number;
  /** So many rows are looked at. */
  readonly limit: number;
  /** Take a file of 0 bytes for an input without rows. */
  readonly allowEmpty: boolean;
}

/**
 * An action of a row, or a row that is bad or has something reported: its number in its file, from 0, and its text as it is kept;
 * null beside another action than its first. One list and no objects: of so many, a thread says these for a third of the work.
 */
export type Looked = readonly [index: number, line: number, text: string | null, ...action: LookedAction | []];

/**
 * An action as it is stored. Its event is also the one that the row names, where the action does not take an eventId. What is only
 * known to be bad, or to be accepted, has no JSON.
 */
export type LookedAction = readonly [
  ...[
    json: string | null,
    kind: ActionName,
    subject: string,
    mark: string | null,
    content: string | null,
    time: number | null,
  ],
  ...[event: string | null, owner: string | null, decimals: number | null],
];

/** Of a row that is bad, of which something is reported, or that is from rejects. */
export interface Unusual {
  readonly problems: readonly Problem[];
  readonly isBad: boolean;
  /** What a bad row would have given. */
  readonly attempted: readonly Action[];
  /** Of a bad row, or of the bad one that it corrects. */
  readonly digest: string | undefined;
  readonly own: RowKey | undefined;
  /** It was unclear when it was put into its rejects, and stands there as it was. */
  readonly isLeft: boolean;
}

/** What some rows came to. */
export interface Batch {
  readonly looked: Looked[];
  /** By the row's index. */
  readonly unusual: Map<number, Unusual>;
  readonly rows: number;
  /** Of the file so far, as it is stored. */
  readonly bytes: number;
  readonly skipReasons: Map<string, number>;
  /** The first row of the file that is from rejects, and the first that is not, where JSON rows show it. */
  readonly kinds: { readonly isRejects: boolean; readonly line: number }[];
  /** Rows beyond the limit were left out. */
  readonly isCut: boolean;
  /** Part of the file can't be read as rows. */
  isUnfit: boolean;
}

/** How a file was understood, as far as it was read. */
export interface Understood {
  readonly understanding: Understanding;
  readonly input: Pick<Input, "format" | "header" | "headerLine" | "delimiter" | "encoding" | "bytesRead">;
  /** Examples of what will be public. */
  readonly values: Pick<PublicValues, "fields" | "texts" | "traits">;
}

/** What is known once all was read. */
export interface Whole {
  readonly sha256: string;
  readonly ofContent: readonly FileProblem[];
  readonly ofRows: readonly FileProblem[];
}

type Invalid = Extract<Mapped, { kind: "invalid" }>;

export class Look {
  readonly #input: Input;
  readonly #mapper: Mapper;
  readonly #rules: Rules;
  readonly #severityOf: (rule: string) => Severity;
  readonly #onRow: ((row: Row, mapped: Mapped) => void) | undefined;
  readonly #values = new PublicValues();
  readonly #digester: RowDigester;
  readonly #kinds = new Set<boolean>();
  /** Index of the cell that rejects keep digest and position in; -1 where there is none. */
  readonly #own: number;
  #rows = 0;

  /** @param onRow sees every row that can be read. */
  constructor(input: Input, mapper: Mapper, rules: Rules, onRow?: (row: Row, mapped: Mapped) => void) {
    this.#input = input;
    this.#mapper = mapper;
    this.#rules = rules;
    this.#onRow = onRow;
    this.#severityOf = severityIn(rules.severities);
    this.#digester = createRowDigester(input.header, rules.readAs);
    this.#own = input.header?.findIndex((name) => name.trim() === ROW_COLUMN) ?? -1;
  }

  async *batches(): AsyncGenerator<Batch> {
    for await (const rows of this.#input.batches()) {
      // What lies beyond the limit is read all the same: the plan notes the SHA-256 of the whole input.
      const room = Math.min(rows.length, this.#rules.limit - this.#rows);
      const batch: Batch = {
        looked: [],
        unusual: new Map(),
        rows: room,
        bytes: this.#input.bytesRead,
        skipReasons: new Map(),
        kinds: [],
        isCut: room < rows.length,
        isUnfit: false,
      };
      for (let at = 0; at < room; at += 1) this.#look(rows[at] as Row, batch); // within its length
      yield batch;
    }
  }

  get understood(): Understood {
    const { format, header, headerLine, delimiter, encoding, bytesRead } = this.#input;
    const { fields, texts, traits } = this.#values;
    return {
      understanding: this.#mapper.understanding,
      input: { format, header, headerLine, delimiter, encoding, bytesRead },
      values: { fields, texts, traits },
    };
  }

  /** After the last batch. */
  get whole(): Whole {
    const { sha256 } = this.#input;
    const ofContent = problemsOfContent(this.#input, this.#rows, this.#rules.allowEmpty);
    return { sha256, ofContent, ofRows: this.#mapper.problemsOfFile?.() ?? [] };
  }

  #look(row: Row, batch: Batch): void {
    const index = this.#rows;
    this.#rows += 1;
    if (row.kind === "object") this.#seeKind(row, batch);
    const mapped = this.#mapper.map(row);
    if (row.kind !== "malformed") this.#onRow?.(row, mapped);
    if (mapped.kind === "skipped" && !this.#isError(mapped.likely ?? [])) {
      batch.skipReasons.set(mapped.reason, (batch.skipReasons.get(mapped.reason) ?? 0) + 1);
      if (mapped.likely === undefined) return;
    }
    const problems = this.#problemsOf(row, mapped);
    const isBad = row.kind === "malformed" || mapped.kind === "invalid" || this.#isError(problems);
    if (row.kind === "malformed" && !row.bordersKnown) batch.isUnfit = true;
    if (mapped.kind === "actions") {
      if (isBad) this.#mapper.retract?.();
      this.#values.see(mapped.drafts, row.kind === "object");
    }
    const key = row.kind === "object" ? row.value[ROW_COLUMN] : row.cells?.[this.#own];
    const own = key === undefined ? undefined : parseRowKey(key);
    if (isBad || own !== undefined || problems.length > 0)
      batch.unusual.set(index, this.#unusual(row, mapped, { problems, isBad, own }));
    const text = keptText(row);
    if (isBad || mapped.kind !== "actions") batch.looked.push([index, row.line, text]);
    else
      for (const [at, draft] of mapped.drafts.entries())
        batch.looked.push([index, row.line, at === 0 ? text : null, ...identified(draft, mapped.eventId)]);
  }

  #unusual(row: Row, mapped: Mapped, of: Pick<Unusual, "problems" | "isBad" | "own">): Unusual {
    const { isBad, own } = of;
    const corrects = own?.isUnclear === true ? undefined : own?.digest;
    // Undefined where it is not known what the row takes from others: the same text may mean another ticket.
    const beside = isBad ? this.#mapper.beside() : undefined;
    return {
      ...of,
      attempted: isBad ? attemptedOf(mapped).map(itemOf) : [],
      digest: corrects ?? (beside && this.#digester(row, beside)),
      isLeft: own?.isUnclear === true && own.digest === this.#digester(row),
    };
  }

  #seeKind({ value, line }: Extract<Row, { kind: "object" }>, batch: Batch): void {
    const isRejects = ROW_COLUMN in value || REASON_COLUMN in value;
    if (this.#kinds.has(isRejects)) return;
    this.#kinds.add(isRejects);
    batch.kinds.push({ isRejects, line });
  }

  #problemsOf(row: Row, mapped: Mapped): readonly Problem[] {
    if (mapped.kind === "invalid") return this.#problemsOfInvalid(mapped);
    const { likely = [] } = mapped;
    if (mapped.kind === "skipped") return likely;
    const { drafts } = mapped;
    const [only, ...others] = drafts;
    const ofRow = row.kind === "malformed" ? row.problems : [];
    const found = only === undefined ? [] : checkDraft(only, this.#rules.now);
    if (others.length === 0 && likely.length === 0 && ofRow.length === 0) return found;
    return [...ofRow, ...likely, ...found, ...others.flatMap((draft) => checkDraft(draft, this.#rules.now))];
  }

  /** With what is wrong with the fields that could be read, so that all problems of a row are reported at once. */
  #problemsOfInvalid({ problems, likely = [], attempted, isGuess }: Invalid): readonly Problem[] {
    if (isGuess === true) return [...problems, ...likely];
    const known = new Set(problems.map(({ field }) => field));
    // Problems of a declared source name columns, so which field each left empty is not known.
    const ofColumns = problems.some(({ field }) => field === undefined || !isFieldName(field));
    const further = attempted
      .flatMap((draft) => checkDraft(draft, this.#rules.now))
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

/** @param eventId of the row. */
function identified(draft: Draft, eventId: string | undefined): LookedAction {
  const { action } = draft;
  const { json, subject, mark, content, time, event = eventId, owner, decimals } = identityOf(draft);
  const ofTicket = actionSpec(action).about === "ticket" ? event : undefined;
  return [json, action, subject, mark, content, time ?? null, textOf(ofTicket), textOf(owner), decimals ?? null];
}

const textOf = (text: string | undefined): string | null => (text === undefined ? null : withoutNul(text));

function attemptedOf(mapped: Mapped) {
  if (mapped.kind === "actions") return mapped.drafts;
  return mapped.kind === "invalid" ? mapped.attempted : [];
}
