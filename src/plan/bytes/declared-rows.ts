/** Rows of a table that the rules of a source read. */

import type { FieldName } from "../../actions/fields.ts";
import { fieldSpec } from "../../actions/fields.ts";
import { judgeItem } from "../../checks/shape.ts";
import type { PlainSeen } from "../../mapping/mapper.ts";
import { nthOfName } from "../../mapping/open-actions.ts";
import type { PlainSource, PlainSourceAction, PlainValue } from "../../mapping/plain-source.ts";
import type { PlainWriter } from "../candidates/candidate-writer.ts";
import type { PublicValuesSeen } from "../candidates/public-values.ts";
import { type AttributesContent, createAttributesLeaf } from "./attributes.ts";
import { ByteMap } from "./byte-map.ts";
import { CellKey } from "./cell-key.ts";
import { leafOf, MOST_TEXT_BYTES, NOT_PLAIN, wordsLeaf } from "./leaves.ts";
import { type ActionParts, compileAction, type PlainAction, type RowOutcome, type RowProgram } from "./program.ts";
import { RowClasses } from "./row-classes.ts";
import type { Table } from "./table.ts";
import { createRowText } from "./texts.ts";
import { createTraitsWriter } from "./traits.ts";
import { rowTextOf, type ValueWriter, writeText, writeValue } from "./values.ts";

export interface DeclaredRowsOptions extends Pick<ActionParts, "severityOf"> {
  readonly source: PlainSource;
  readonly table: Table;
  readonly writer: PlainWriter;
  readonly publicValues: PublicValuesSeen;
  /** Whether an earlier row has given the event. */
  readonly hasGiven: (eventId: string) => boolean;
  readonly seePlain: (seen: PlainSeen) => void;
  /** The events that rows name for actions which carry none are noted, by the reference. */
  readonly notesEvents: boolean;
}

/** Undefined where no row can be plain. */
export function createDeclaredRows(options: DeclaredRowsOptions): RowProgram | undefined {
  const { source } = options;
  const actions = source.actions.map((action) => (action.isOnce ? undefined : compileDeclared(action, options)));
  return actions.some((action) => action !== undefined) ? new DeclaredRows(options, actions) : undefined;
}

const NO_ATTRIBUTES: AttributesContent = { contentFrom: 0, contentBytes: 0 };

function compileDeclared({ action, fields }: PlainSourceAction, options: DeclaredRowsOptions): PlainAction | undefined {
  const { source, table, severityOf } = options;
  let attributesContent = NO_ATTRIBUTES;
  const written: { readonly name: FieldName; readonly write: ValueWriter }[] = [];
  for (const value of fields) {
    if (fieldSpec(value.field).kind !== "metadata") {
      written.push({
        name: value.field,
        write: writeValue(value, leafOf(value.field, options.table.leafOptions), options.table),
      });
      continue;
    }
    const attributes = writeAttributes(value, options);
    if (attributes === undefined) return undefined;
    attributesContent = attributes;
    written.push({ name: value.field, write: attributes.write });
  }
  const { memory } = table;
  const key =
    source.key === undefined
      ? undefined
      : createRowText(source.key, table, { scratch: memory.allot(MOST_TEXT_BYTES), needsAll: true, partOf: undefined });
  return compileAction({ memory, action, fields: written, key, attributesContent, severityOf });
}

/** Undefined where only the reference knows the attributes. */
function writeAttributes(
  { field, recipe, columns }: PlainValue,
  { table, writer, publicValues }: DeclaredRowsOptions,
): (AttributesContent & { readonly write: ValueWriter }) | undefined {
  const isNewTrait = (trait: string): boolean => publicValues.wantsTrait(trait);
  if (recipe.kind === "text" && columns.length > 0) {
    const leaf = createAttributesLeaf(table.memory, isNewTrait);
    const write = writeText(rowTextOf(recipe.templates, field, table), leaf.write);
    return {
      write,
      contentFrom: leaf.contentFrom,
      get contentBytes() {
        return leaf.contentBytes;
      },
    };
  }
  if (recipe.kind !== "traits") return undefined;
  const words = wordsLeaf(table.leafOptions);
  const traits = recipe.traits.map(({ trait, value }) => ({ trait, write: writeValue(value, words, table) }));
  return recipe.traits.every(({ trait }) => isPlainTrait(trait))
    ? createTraitsWriter(writer, traits, isNewTrait)
    : undefined;
}

/** Whether nothing is to be said of the name of a trait. */
function isPlainTrait(trait: string): boolean {
  const metadataAttributes = [{ trait_type: trait, value: "A" }];
  const findings = judgeItem({ action: "updateTicket", data: { ticketId: "A1", metadataAttributes } });
  return findings.length === 0;
}

/** What rows of a class give. */
interface Outcome extends RowOutcome {
  /** The cells that conditions look at. */
  readonly texts: readonly string[];
  readonly bySkip: boolean;
  readonly once: readonly EventOfRow[];
  /** No action names its event, so that the source's own rule for it is read. */
  readonly readsEvent: boolean;
}

/** An id takes less; what is put together may be longer, and is none then. */
const EVENT_BYTES = 2 * MOST_TEXT_BYTES + 2;

class DeclaredRows implements RowProgram {
  readonly #options: DeclaredRowsOptions;
  readonly #classes: RowClasses<Outcome | "unclear">;
  readonly #once: readonly (EventOfRow | undefined)[];
  readonly #event: ValueWriter | undefined;
  readonly #seen: { -readonly [K in keyof PlainSeen]: PlainSeen[K] } = {
    line: 0,
    row: () => ({ kind: "cells", line: 0, cells: [] }),
    cells: [],
    once: [],
    isSkipped: false,
    gave: false,
  };
  readonly #eventAt: number;

  constructor(options: DeclaredRowsOptions, actions: readonly (PlainAction | undefined)[]) {
    const { source, table } = options;
    this.#options = options;
    this.#eventAt = table.memory.allot(EVENT_BYTES);
    this.#once = source.actions.map((action, at) => (action.isOnce ? new EventOfRow(action, at, table) : undefined));
    this.#event =
      source.event === undefined ? undefined : writeValue(source.event, leafOf("eventId", table.leafOptions), table);
    this.#classes = new RowClasses(source.looked, table, (texts) => this.#outcomeBy(texts, actions) ?? "unclear");
  }

  outcomeOf(): RowOutcome | undefined {
    const outcome = this.#classes.find();
    if (outcome === undefined || outcome === "unclear") return undefined;
    for (let number = 0; number < outcome.once.length; number += 1) {
      const eventId = outcome.once[number]?.read();
      if (eventId === undefined || !this.#options.hasGiven(eventId)) return undefined;
    }
    if (outcome.readsEvent && this.#event?.(this.#eventAt) === NOT_PLAIN) return undefined;
    return outcome;
  }

  /** Undefined for rows that are the reference's to judge. */
  #outcomeBy(texts: readonly string[], actions: readonly (PlainAction | undefined)[]): Outcome | undefined {
    const decision = this.#options.source.decide(texts);
    if (decision === undefined) return undefined;
    if (decision.kind === "skipped") {
      const { reason, bySkip } = decision;
      return { skipped: reason, texts, bySkip, actions: [], nths: [], once: [], readsEvent: false };
    }
    const once = decision.actions.flatMap((at) => this.#once[at] ?? []);
    const others = decision.actions.filter((at) => this.#once[at] === undefined);
    const given = others.flatMap((at) => actions[at] ?? []);
    if (given.length < others.length || given.length === 0) return undefined;
    const name = (action: PlainAction): boolean => action.fields.some((field) => field.name === "eventId");
    if (this.#options.notesEvents && !given.every(name)) return undefined;
    const nths = nthOfName(given.map(({ action }) => ({ action, data: {} })));
    return { skipped: undefined, texts, bySkip: false, actions: given, nths, once, readsEvent: !given.some(name) };
  }

  note(given: RowOutcome, line: number, cells: () => readonly string[]): void {
    const outcome = given as Outcome; // one of its own
    const seen = this.#seen;
    seen.line = line;
    seen.row = () => ({ kind: "cells", line, cells: cells() });
    seen.cells = outcome.texts;
    seen.once = outcome.once;
    seen.isSkipped = outcome.bySkip;
    seen.gave = outcome.skipped === undefined;
    this.#options.seePlain(seen);
  }
}

/** Events of which the cells are kept. */
const MOST_EVENTS = 1024;

interface KnownEvent {
  /** Undefined where it is not plain. */
  readonly eventId: string | undefined;
  readonly cells: readonly string[];
}

/** The event of the row in hand, for an action that is given once for each. */
class EventOfRow {
  /** Number of the rule. */
  readonly rule: number;
  /** The cells that the rule reads, each at its place, of the row that was read last. */
  cells: readonly string[] = [];
  readonly #key: CellKey;
  readonly #known: ByteMap<KnownEvent>;
  readonly #ask: PlainValue["ask"];

  constructor({ fields }: PlainSourceAction, rule: number, table: Table) {
    const value = fields.find(({ field }) => field === "eventId");
    if (value === undefined) throw new Error("an action that is given once for each event has its eventId");
    this.rule = rule;
    this.#ask = value.ask;
    this.#known = new ByteMap<KnownEvent>(table.memory.bytes, MOST_EVENTS);
    this.#key = new CellKey([...new Set(fields.flatMap(({ columns }) => columns))], table);
  }

  read(): string | undefined {
    const key = this.#key;
    const end = key.write();
    if (end === -1) return undefined;
    let known = this.#known.get(key.from, end);
    if (known === undefined) {
      const cells = [...key.texts()];
      const eventId = this.#ask(cells);
      known = { eventId: typeof eventId === "string" && eventId !== "" ? eventId : undefined, cells };
      this.#known.set(key.from, end, known);
    }
    this.cells = known.cells;
    return known.eventId;
  }
}
