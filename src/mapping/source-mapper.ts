/** Rows by the rules of a source in the config: once these are compiled, a row is a few loops over closures. */

import { type Action, type ActionData, type ActionName, registersEvent } from "../actions/actions.ts";
import type { FieldValue } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import type { Finding } from "../actions/problem.ts";
import { withLooseNumbers } from "../map/exact-numbers.ts";
import type { FileFinding } from "../map/file-finding.ts";
import type { Understanding } from "../map/mapper.ts";
import { bitsOfDigest, createRowDigester, type RowDigester } from "../map/row-digest.ts";
import type { MappingRule } from "../map/rules.ts";
import type { Row } from "../read/row.ts";
import { enter } from "./each.ts";
import { GivenEvents } from "./given-events.ts";
import { strangeCells, totalsCell } from "./id-cells.ts";
import type { Mapped, Mapper } from "./mapper.ts";
import type { IdCell, Read, Scope } from "./names.ts";
import { labelled, reasonOfLooks, uniqueLooks } from "./skip-reason.ts";
import { type ActionRules, compileSource, type SourceRules, type SourceSettings } from "./source-rules.ts";
import { watchEvents } from "./told-events.ts";
import type { Looked } from "./when.ts";

export class SourceMapper implements Mapper {
  readonly #source: SourceRules;
  readonly #hasKey: boolean;
  /** What the conditions look at, for the reason why a row is skipped. */
  readonly #looked: readonly Looked[];
  /** Whether the source gives newEvents without conditions beside other actions. */
  readonly #addsEvents: boolean;
  readonly #events = new GivenEvents();
  readonly #told = watchEvents();
  readonly #row: RowInHand;
  readonly #scope: Scope;
  #idCells: IdCell[] = [];

  /** Throws `MappingError` for rules that can't be carried out with these columns. */
  constructor(settings: SourceSettings) {
    this.#source = compileSource(settings);
    const { rules, watch } = this.#source;
    this.#hasKey = settings.config.key !== undefined;
    this.#looked = uniqueLooks(rules);
    this.#addsEvents =
      rules.some(({ action }) => !registersEvent(action)) &&
      !rules.some(({ action, when }) => registersEvent(action) && when !== undefined);
    this.#row = new RowInHand(createRowDigester(settings.header, settings.name));
    this.#scope = {
      cells: [],
      value: {},
      n: 1,
      item: undefined,
      turn: 0,
      findings: [],
      onElse: (label, known, text) => watch.seeElse(label, known, text, this.#row),
      onIdCell: (cell) => this.#idCells.push(cell),
    };
  }

  get understanding(): Understanding {
    return this.#source.understanding();
  }

  map(row: Row): Mapped {
    const { columns, fillDown, isJson } = this.#source;
    const scope = this.#scope;
    this.#row.begin(row);
    if (this.#idCells.length > 0) this.#idCells = [];
    scope.findings = [];
    scope.turn += 1;
    if (row.kind === "malformed") {
      fillDown?.forget();
      return this.#skippedShort(row) ?? { kind: "invalid", findings: row.findings, attempted: [] };
    }
    if (row.kind === "cells") {
      if (isJson) throw new Error("a row of JSON was expected");
      if (row.isBlank) return { kind: "skipped", reason: "empty row" };
      scope.cells = fillDown === undefined ? row.cells : fillDown.fill(row.cells, scope.findings);
      return this.#mapAndWatch();
    }
    if (!isJson) throw new Error("a row of cells was expected");
    scope.value = withLooseNumbers(row);
    columns.keys?.seeRow(row.value);
    return this.#mapAndWatch();
  }

  retract(actions: readonly Action[]): void {
    this.#events.retract(actions);
  }

  findingsOfFile(): readonly FileFinding[] {
    const { columnFindings, watch, lookupFindings } = this.#source;
    return [...columnFindings(), ...watch.findings(), ...this.#told.findings(), ...lookupFindings()];
  }

  #add(rule: ActionRules, draft: Draft): void {
    const scope = this.#scope;
    scope.turn += 1;
    const findingsBefore = scope.findings.length;
    if (rule.onceBy !== undefined) {
      const eventId = rule.onceBy.read(scope);
      if (typeof eventId === "string") {
        this.#tellEvent(rule, eventId);
        if (this.#events.has(eventId) || draft.newEvents.has(eventId)) {
          if (rule.when !== undefined) draft.whyNothing ??= "the event was given by an earlier row";
          return;
        }
        draft.newEvents.add(eventId);
      }
    }
    const data: Record<string, FieldValue> = {};
    for (const { field, read } of rule.fields) {
      const value = read(scope);
      if (value !== undefined) data[field] = value;
    }
    // Each key is a field's name and each value was read by that field's own coercer.
    const action: Action = { action: rule.action, data: data as ActionData };
    draft.actions.push(action);
    if (rule.key !== undefined) draft.keys.push(this.#readKey(rule.key, rule.action));
    if (scope.findings.length > findingsBefore) draft.faulty.add(action);
  }

  /** Notes what the row says about its event, whichever row gives the newEvent. */
  #tellEvent({ fields, cells }: ActionRules, eventId: string): void {
    const scope = this.#scope;
    if (cells.length === 0) return;
    const { findings } = scope;
    scope.findings = [];
    const text = cells.map((read) => read(scope)).join("\u0000");
    this.#told.see(eventId, this.#row.line, text, () =>
      fields.flatMap(({ field, read }) => {
        const value = read(scope);
        return value === undefined || value === ""
          ? []
          : [[field, typeof value === "string" ? value : stringifyJson(value)]];
      }),
    );
    scope.findings = findings;
  }

  #readKey(read: Read, action: ActionName): string {
    const key = read(this.#scope);
    if (key === "")
      this.#scope.findings.push({
        rule: "key-empty" satisfies MappingRule,
        field: "key",
        message: `The key of the source is empty for its ${action}.`,
        hint: "Leave such rows out with when, or name a column that is always filled.",
      });
    return key;
  }

  #checkExpectations(): void {
    for (const { label, read, allowed: allowedIn } of this.#source.expectations) {
      const text = read(this.#scope);
      const allowed = allowedIn(this.#scope);
      if (allowed.has(text)) continue;
      this.#scope.findings.push({
        rule: "value-unexpected" satisfies MappingRule,
        field: label,
        value: text,
        message: `The source expects ${[...allowed].join(" or ")} in ${label}.`,
        hint: "Does the row belong to another event or source? If not, add its value to expect.",
      });
    }
  }

  #addAll(draft: Draft): void {
    const { each, rules, watch } = this.#source;
    const scope = this.#scope;
    const items = each === undefined ? ONCE : each.items(scope);
    if (items.length === 0) draft.whyNothing = `nothing in ${each?.by}`;
    for (const [at, item] of items.entries()) {
      scope.n = at + 1;
      enter(scope, item, undefined);
      const { item: ownItem, outer: ownOuter } = scope;
      scope.turn += 1;
      const given = draft.actions.length;
      const found = scope.findings.length;
      for (const rule of rules) {
        if (rule.when !== undefined && !rule.when.holds(scope)) continue;
        if (rule.each === undefined) {
          this.#add(rule, draft);
          continue;
        }
        const inner = rule.each.items(scope);
        if (inner.length === 0) draft.whyNothing ??= `nothing in ${rule.each.by}`;
        for (const [innerAt, innerItem] of inner.entries()) {
          if (each === undefined) scope.n = innerAt + 1;
          if (rule.each.names.item !== undefined) enter(scope, innerItem, ownItem);
          this.#add(rule, draft);
        }
        scope.n = at + 1;
        scope.item = ownItem;
        scope.outer = ownOuter;
        scope.turn += 1;
      }
      if (draft.actions.length > given || scope.findings.length > found) this.#checkExpectations();
      watch.seeItem(scope, this.#row);
    }
    scope.n = 1;
    enter(scope, items[0], undefined);
    scope.turn += 1;
  }

  #mapScope(): Mapped {
    const draft: Draft = { actions: [], keys: [], faulty: new Set(), newEvents: new Set(), whyNothing: undefined };
    this.#addAll(draft);
    const { findings } = this.#scope;
    if (draft.actions.length === 0 && findings.length === 0)
      return { kind: "skipped", reason: draft.whyNothing ?? this.#skipReason() };
    const { actions, keys, faulty } = draft;
    if (findings.length > 0) {
      const attempted = attemptedOf(actions, faulty);
      return { kind: "invalid", findings: withoutRepeats(findings), attempted, ...this.#noted() };
    }
    this.#events.give(actions);
    const eventId = eventOf(actions) ?? this.#source.event?.read(this.#scope);
    return {
      kind: "actions",
      actions,
      ...(typeof eventId === "string" && { eventId }),
      ...(this.#hasKey && { keys }),
      ...(this.#isOnlyEvent(actions) && { eventOnly: draft.whyNothing ?? this.#skipReason() }),
      ...this.#noted(),
    };
  }

  /** What the cells of the row's ids show. */
  #noted() {
    if (this.#idCells.length === 0) return undefined;
    const totals = totalsCell(this.#idCells);
    return { likely: strangeCells(this.#idCells), ...(totals !== undefined && { totals }) };
  }

  /** A row with fewer cells than the header, such as a line of totals: `skip` may match the cells that it has. */
  #skippedShort({ cells }: Extract<Row, { kind: "malformed" }>): Mapped | undefined {
    const scope = this.#scope;
    if (cells === undefined || this.#source.isJson) return undefined;
    scope.cells = cells;
    const taken = this.#source.skips.find(({ read, values }) => {
      const text = read(scope);
      return text !== "" && values.has(text);
    });
    scope.findings = [];
    return taken === undefined ? undefined : { kind: "skipped", reason: labelled(taken.label, taken.read(scope)) };
  }

  #mapAndWatch(): Mapped {
    const { skips, watch } = this.#source;
    const { line, digest } = this.#row;
    const scope = this.#scope;
    for (const { label, read, values } of skips) {
      const text = read(scope);
      if (!values.has(text)) continue;
      scope.findings = [];
      watch.see(scope, { line, digest, gave: false, isSkipped: true });
      return { kind: "skipped", reason: labelled(label, text) };
    }
    const mapped = this.#mapScope();
    const gave = mapped.kind === "invalid" || (mapped.kind === "actions" && mapped.eventOnly === undefined);
    watch.see(scope, { line, digest, gave, isSkipped: false });
    return mapped;
  }

  #skipReason(): string {
    const reason = reasonOfLooks(this.#looked, this.#scope);
    this.#scope.findings = [];
    return reason;
  }

  /** An event without conditions comes with whichever row is first, so it says nothing about the row. */
  #isOnlyEvent(actions: readonly Action[]): boolean {
    return this.#addsEvents && actions.every(({ action }) => registersEvent(action));
  }
}

/** The row that is being read, and its digest where it is asked for. */
class RowInHand {
  line = 0;
  readonly #digester: RowDigester;
  #row: Row | undefined;
  #digest: bigint | undefined;

  constructor(digester: RowDigester) {
    this.#digester = digester;
  }

  begin(row: Row): void {
    this.line = row.line;
    this.#row = row;
    this.#digest = undefined;
  }

  readonly digest = (): bigint => {
    if (this.#row === undefined) throw new Error("no row is being read");
    this.#digest ??= bitsOfDigest(this.#digester(this.#row));
    return this.#digest;
  };
}

const ONCE: readonly unknown[] = [undefined];

/** What a row gives, before it is known whether all of it can be read. */
interface Draft {
  readonly actions: Action[];
  readonly keys: string[];
  /** Those of the actions that have findings of their own. */
  readonly faulty: Set<Action | undefined>;
  readonly newEvents: Set<string>;
  /** Why the row gives no action, where that is not because of conditions. */
  whyNothing: string | undefined;
}

/**
 * The actions on which others may depend, of a row that is not sent. Not a readable newEvent that the row gives only as the
 * first of its event: the next row gives it.
 */
function attemptedOf(actions: readonly Action[], faulty: Draft["faulty"]): readonly Action[] {
  const isOnlyEvents = actions.every(({ action }) => registersEvent(action));
  return actions.filter((action) => isOnlyEvents || !registersEvent(action.action) || faulty.has(action));
}

/** The one event that the row's actions name; undefined when they name none, or several. */
function eventOf(actions: readonly Action[]): string | undefined {
  let eventId: string | undefined;
  for (const { data } of actions) {
    if (data.eventId == null) continue;
    if (eventId !== undefined && eventId !== data.eventId) return undefined;
    eventId = data.eventId;
  }
  return eventId;
}

/** A column that is read for several fields or tickets gives the same finding each time. */
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  const known = new Set<string>();
  return findings.filter(({ rule, field, value, message }) => {
    const text = JSON.stringify([rule, field, value, message]);
    return !known.has(text) && known.add(text);
  });
}
