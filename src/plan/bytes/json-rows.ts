/**
 * The fast path of rows of JSON: `{action, data}` items and flat rows, as long as their keys stand in an order that the
 * reference has read before.
 */

import { acceptedFields, isActionName } from "../../actions/actions.ts";
import { isJsonObject } from "../../actions/exact-number.ts";
import { type FieldName, fieldSpec, isFieldName } from "../../actions/fields.ts";
import type { PlainColumns, PlainObjects } from "../../mapping/create-mapper.ts";
import type { PlainAmount } from "../../mapping/mapper.ts";
import type { Row } from "../../mapping/row.ts";
import { unlessFull } from "../candidates/row-memory.ts";
import { type AttributesLeaf, createAttributesLeaf } from "./attributes.ts";
import { ActionDraft, type MutableCandidate, NO_FINDINGS, newCandidate } from "./draft.ts";
import { JsonCells, type JsonKey, LIST, NOTHING, NUMBER, TEXT, UNUSED } from "./json-cells.ts";
import { askingLeafOf, NOT_PLAIN } from "./leaves.ts";
import { createNamedRows } from "./named-rows.ts";
import type { PlainRows, PlainRowsOptions } from "./plain-rows.ts";
import { compileAction, type PlainAction, type PlainField, type RowProgram } from "./program.ts";
import { scratchIn, type Table } from "./table.ts";
import { writeExact } from "./values.ts";
import { RangeWindow } from "./window.ts";

export interface JsonRowsOptions
  extends Pick<
    PlainRowsOptions,
    "input" | "now" | "notesEvents" | "severityOf" | "writer" | "publicValues" | "mapper"
  > {
  readonly objects: PlainObjects;
}

/** Rows with the same keys in the same order. */
interface Form {
  readonly cells: JsonCells;
  readonly program: RowProgram;
  readonly draft: ActionDraft;
  readonly isItem: boolean;
}

/** Rows that show new orders of keys are read twice, so that after so many there are no more forms. */
const MOST_LEARNT = 64;
const OPEN = 0x7b;
const LF = 0x0a;
const CR = 0x0d;
const ONLY = [0];
const NO_QUOTE = -1;
const NO_CELLS = new Int32Array(0);

/** Undefined where no row can be plain. */
export const createJsonRows = (options: JsonRowsOptions): PlainRows | undefined =>
  unlessFull(() => new JsonRows(options));

class JsonRows implements PlainRows {
  next = 0;
  nextLine = 0;
  readonly isBlank = false;
  readonly skipped = undefined;
  findings = NO_FINDINGS;
  readonly #options: JsonRowsOptions;
  readonly #window: RangeWindow;
  readonly #scratch: ReturnType<typeof scratchIn>;
  readonly #attributes: AttributesLeaf;
  readonly #forms: Form[] = [];
  readonly #learnt = new Set<string>();
  readonly #candidate: MutableCandidate;
  readonly #amount: { -readonly [K in keyof PlainAmount]: PlainAmount[K] };
  /** By action, the places of the fields that no object has shown to be used. */
  readonly #unseen = new Map<PlainAction, number[]>();
  /** The row that was taken last. */
  readonly #last: { at: number; line: number; form: Form | undefined } = {
    at: 0,
    line: 0,
    form: undefined,
  };

  constructor(options: JsonRowsOptions) {
    const { publicValues, input, writer } = options;
    this.#options = options;
    this.#window = new RangeWindow(writer.memory);
    this.#scratch = scratchIn(writer.memory);
    this.#attributes = createAttributesLeaf(writer.memory, (trait) => publicValues.wantsTrait(trait));
    this.#candidate = newCandidate(input);
    this.#amount = { line: 0, amount: 0, cells: 0, filled: NO_CELLS, read: () => this.#readAgain() };
  }

  begin(range: Buffer): void {
    this.#window.begin(range);
  }

  take(at: number, line: number, row: number): boolean {
    const window = this.#window;
    const start = window.placeOf(at);
    if (this.#options.writer.memory.bytes[start] !== OPEN) return false;
    /** The form that the row is most like, of those that it is not of. */
    let like: JsonCells | undefined;
    for (let number = 0; number < this.#forms.length; number += 1) {
      const form = this.#forms[number] as Form; // within its length
      const { cells } = form;
      const isFound =
        like === undefined ? cells.scan(start, window.end, line) : cells.scanAfter(like, start, window.end, line);
      if (isFound) {
        // The rows that follow are likely of the same form.
        this.#forms[number] = this.#forms[0] as Form;
        this.#forms[0] = form;
        return this.#takeAs(form, at, line, row);
      }
      if (cells.isOfForm) return false;
      if (like === undefined || cells.taken > like.taken) like = cells;
    }
    this.#learn(start, line);
    return false;
  }

  #takeAs(form: Form, at: number, line: number, row: number): boolean {
    const { cells, program, draft } = form;
    const { writer, mapper } = this.#options;
    const { shift } = this.#window;
    const action = program.outcomeOf()?.actions[0];
    if (action === undefined) return false;
    const end = draft.write(action, writer.roomForLines(), cells.next - at - shift);
    if (end === NOT_PLAIN || this.#showsFields(draft)) return false;
    const candidate = this.#candidate;
    candidate.line = line;
    candidate.row = row;
    candidate.nth = 0;
    draft.fill(candidate, writer);
    writer.addPlain(candidate);
    this.findings = draft.withLacking(NO_FINDINGS);
    const amount = this.#amount;
    amount.line = line;
    amount.amount = draft.amount;
    const last = this.#last;
    last.at = at;
    last.line = line;
    last.form = form;
    mapper.seeAmount?.(amount);
    if (form.isItem) mapper.seeItem?.();
    this.next = cells.next - shift;
    this.nextLine = cells.nextLine;
    return true;
  }

  rowAt(line: number, isWhole: boolean): Row {
    return { kind: "object", line, value: {}, text: isWhole ? this.#textOfLast() : "" };
  }

  /** Their keys may stand twice, and their numbers be written in any way. */
  cellsOfOther(): undefined {}

  /** Whether it gives a field that no object has given before, which the reference notes. */
  #showsFields(draft: ActionDraft): boolean {
    const { action } = draft;
    let unseen = this.#unseen.get(action);
    if (unseen === undefined) {
      unseen = [...action.fields.keys()];
      this.#unseen.set(action, unseen);
    }
    for (let number = unseen.length - 1; number >= 0; number -= 1) {
      const place = unseen[number] as number; // within its length
      if (!draft.has(place)) continue;
      if (this.#options.publicValues.wantsField((action.fields[place] as PlainField).name)) return true;
      unseen.splice(number, 1);
    }
    return false;
  }

  #readAgain(): ReturnType<PlainAmount["read"]> {
    const { form, at, line } = this.#last;
    if (form === undefined) throw new Error("no row was taken");
    const start = this.#window.placeOf(at);
    form.cells.scan(start, this.#window.end, line);
    const action = form.program.outcomeOf()?.actions[0];
    if (action === undefined) throw new Error("the row is another one");
    form.draft.write(action, this.#options.writer.roomForLines(), form.cells.next - start);
    return { price: form.draft.price, cells: undefined };
  }

  #textOfLast(): string {
    const { memory } = this.#options.writer;
    const start = this.#window.placeOf(this.#last.at);
    const lineEnd = memory.bytes.indexOf(LF, start);
    return memory.text(start, memory.bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd);
  }

  /** Makes a form of a row's keys, for those that follow it. */
  #learn(start: number, line: number): void {
    if (this.#learnt.size >= MOST_LEARNT) return;
    const { memory } = this.#options.writer;
    const end = memory.bytes.indexOf(LF, start);
    const row = end === -1 || end >= this.#window.end ? undefined : objectIn(memory.text(start, end));
    if (row === undefined) return;
    const { action, data } = row;
    const isItem = typeof action === "string" && isJsonObject(data) && Object.keys(row).join() === "action,data";
    const keys = Object.keys(isItem ? data : row);
    const signature = JSON.stringify([isItem ? action : null, ...keys]);
    if (this.#learnt.has(signature)) return;
    this.#learnt.add(signature);
    const form = unlessFull(() => (isItem ? this.#formOfItem(action, keys) : this.#formOfFlat(keys)));
    // Keys that JavaScript puts in another order are never found again.
    form?.cells.scan(start, this.#window.end, line);
    if (form?.cells.isOfForm === true) this.#forms.unshift(form);
  }

  #formOfItem(action: string, keys: readonly string[]): Form | undefined {
    if (!isActionName(action)) return undefined;
    const accepted = acceptedFields(action);
    const names = keys.filter((key): key is FieldName => isFieldName(key) && accepted.includes(key));
    if (names.length !== keys.length) return undefined;
    const table = this.#tableOf(
      new JsonCells(
        this.#scratch.memory,
        names.map((name) => ({ name, takes: takenOfItem(name) })),
        action,
      ),
    );
    const compiled = compileAction({
      memory: table.memory,
      action,
      fields: names.map((name, column) => ({ name, write: writeExact(column, this.#leafOf(name, table), table) })),
      attributesContent: this.#attributes,
      severityOf: this.#options.severityOf,
    });
    if (compiled === undefined) return undefined;
    const outcome = { skipped: undefined, actions: [compiled], nths: ONLY };
    return this.#formOf(table, { outcomeOf: () => outcome }, true);
  }

  #formOfFlat(keys: readonly string[]): Form | undefined {
    const { objects, notesEvents, severityOf } = this.#options;
    const columns = objects.columnsOf(keys);
    if (columns === undefined) return undefined;
    const table = this.#tableOf(new JsonCells(this.#scratch.memory, keysOf(columns)));
    const program = createNamedRows({
      ...{ columns, table, attributes: this.#attributes, notesEvents, severityOf },
    });
    return program && this.#formOf(table, program, false);
  }

  #leafOf(name: FieldName, { leafOptions }: Table) {
    return fieldSpec(name).kind === "metadata" ? this.#attributes.write : askingLeafOf(name, leafOptions);
  }

  #tableOf(cells: JsonCells): Table & { readonly cells: JsonCells } {
    const { now, objects } = this.#options;
    const { memory } = this.#scratch;
    const leafOptions = { memory, quote: NO_QUOTE, now, clearWord: objects.clearWord };
    return { ...this.#scratch, cells, leafOptions, stripsGuards: false };
  }

  #formOf(table: Table & { readonly cells: JsonCells }, program: RowProgram, isItem: boolean): Form {
    const { writer, publicValues } = this.#options;
    return { cells: table.cells, program, draft: new ActionDraft(table.cells, writer, publicValues), isItem };
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An item is taken as it is: its texts are texts, and its numbers numbers. */
function takenOfItem(name: FieldName): number {
  const { kind } = fieldSpec(name);
  if (kind === "metadata") return LIST;
  return kind === "u64" ? NUMBER : TEXT;
}

/** A flat row may give the numbers of fields as numbers or as texts. */
function takenOfFlat(name: FieldName): number {
  const { kind } = fieldSpec(name);
  if (kind === "metadata") return LIST | NOTHING;
  return kind === "u64" || kind === "price" ? TEXT | NUMBER | NOTHING : TEXT | NOTHING;
}

function keysOf({ columns, header }: PlainColumns): readonly JsonKey[] {
  const takes = new Map<number, number>([...columns.fields].map(([field, index]) => [index, takenOfFlat(field)]));
  if (columns.action !== undefined) takes.set(columns.action, TEXT);
  return header.map((name, index) => ({ name, takes: takes.get(index) ?? UNUSED }));
}
