/** Rows by the rules of a source in the config: once these are compiled, a row is a few loops over closures. */

import type { ActionName } from "../actions/actions.ts";
import { Draft } from "../actions/draft.ts";
import { FIELD_NAMES } from "../actions/fields.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import type { MappingRule } from "../rules.ts";
import { Events, OneTicketWatch } from "./across-rows.ts";
import type { Each } from "./each.ts";
import { isOnlyItem, mapItem } from "./items.ts";
import { JsonKeys, withExactNumbers } from "./json-rows.ts";
import type { Mapped, Mapper, Understanding } from "./mapper.ts";
import { publicName } from "./named-columns.ts";
import { type ActionRules, compileSource, type Program, type SourceSettings } from "./program.ts";
import { type Read, Scope } from "./scope.ts";
import { unguarded } from "./table-columns.ts";
import { refuseTotals } from "./totals.ts";
import { type Expectation, labelled, reasonOfLooks } from "./when.ts";

export class SourceMapper implements Mapper {
  readonly wanted: readonly boolean[] | undefined;
  readonly #settings: SourceSettings;
  readonly #program: Program;
  readonly #scope = new Scope();
  readonly #events: Events;
  readonly #oneTicket = new OneTicketWatch();
  /** Whether the source gives newEvents without conditions beside other actions. */
  readonly #addsEvents: boolean;
  // What the row in hand gives, before it is known whether all of it can be read.
  #drafts: Draft[] = [];
  /** Those of the drafts that have problems of their own. */
  #faulty: Draft[] = [];
  /** Why it gives no action, where that is not because of conditions. */
  #whyNothing: string | undefined;
  /** What may be missing in it: an action takes it, and `each` finds nothing. */
  #empty: Problem[] = [];
  /** Whether an action other than a newEvent takes it, and `each` finds nothing. */
  #isEmpty = false;
  /** Whether its newEvent was given by an earlier row. */
  #isEventGiven = false;

  /** Throws `MappingError` for rules that can't be carried out with these columns. */
  constructor(settings: SourceSettings) {
    this.#settings = settings;
    this.#events = new Events(settings.fileName === "" ? "standard input" : settings.fileName);
    this.#program = compileSource(settings);
    const { rules, columns } = this.#program;
    this.wanted = columns.wanted?.with(0, true); // the first cell may call the row a sum
    this.#addsEvents =
      rules.some(({ action }) => action !== "newEvent") &&
      !rules.some(({ action, when }) => action === "newEvent" && when !== undefined);
  }

  map(row: Row): Mapped {
    const mapped = refuseTotals(row, this.#map(row));
    if (mapped.kind === "invalid") this.retract();
    return mapped;
  }

  #map(row: Row): Mapped {
    const { columns, fillDown, watch } = this.#program;
    const { config } = this.#settings;
    const scope = this.#scope;
    scope.begin(row);
    this.#drafts = [];
    if (row.kind === "malformed") {
      fillDown?.forget();
      scope.cells = unguarded(row.cells?.map((cell) => cell.trim()) ?? [], config.csv);
      return this.#skipped(true) ?? { kind: "invalid", problems: row.problems, attempted: [] };
    }
    if (row.kind === "cells") {
      if (columns instanceof JsonKeys) throw new Error("a row of JSON was expected");
      if (row.isBlank) return { kind: "skipped", reason: "empty row" };
      scope.cells = unguarded(row.cells, config.csv);
      fillDown?.fill(scope);
    } else {
      if (!(columns instanceof JsonKeys)) throw new Error("a row of cells was expected");
      scope.value = withExactNumbers(row);
      if (isOnlyItem(row.value)) return mapItem(row.value);
      columns.seeRow(row.value);
    }
    const skipped = this.#skipped(false);
    if (skipped !== undefined) {
      watch.seeSkipped();
      return skipped;
    }
    if (this.#faulty.length > 0) this.#faulty = [];
    if (this.#empty.length > 0) this.#empty = [];
    this.#whyNothing = undefined;
    this.#isEventGiven = false;
    this.#give();
    const mapped = this.#result();
    // An event without conditions comes with whichever row is first, so it says nothing about the row.
    const gave = mapped.kind === "actions" && !(this.#addsEvents && areOnlyEvents(mapped.drafts));
    watch.see(scope, gave || mapped.kind === "invalid");
    if (mapped.kind === "actions") this.#oneTicket.see(mapped.drafts, row.text);
    return mapped;
  }

  retract(): void {
    for (const draft of this.#drafts)
      if (draft.action === "newEvent") this.#events.given.delete(draft.text("eventId") ?? "");
  }

  beside(): readonly string[] | undefined {
    const { ofFile, fillDown } = this.#program;
    const filled = fillDown === undefined ? [] : fillDown.taken;
    return filled && [...ofFile, ...filled];
  }

  problemsOfFile(): readonly FileProblem[] {
    const { columns, watch } = this.#program;
    const { fileName } = this.#settings;
    return [
      ...columns.problems(this.#settings.config.optional),
      ...watch.problems(fileName),
      ...this.#events.problems(),
      ...this.#oneTicket.problems(),
    ];
  }

  get understanding(): Understanding {
    return understandingOf(this.#settings, this.#program);
  }

  /** @param isShort a row with fewer cells than the header, such as a line of totals: `skip` may match the cells that it has. */
  #skipped(isShort: boolean): Mapped | undefined {
    if (isShort && this.#settings.header === undefined) return undefined;
    for (const { label, cell, values } of this.#program.skips) {
      const text = cell(this.#scope);
      if (values.has(text) && !(isShort && text === "")) return { kind: "skipped", reason: labelled(label, text) };
    }
    return undefined;
  }

  /** Carries out the actions of the row, for each item of it. */
  #give(): void {
    const { each, rules, expectations } = this.#program;
    if (each === undefined) {
      this.#giveItem();
      return;
    }
    const scope = this.#scope;
    const items = each.items(scope);
    if (items === undefined || items.length === 0) {
      scope.enter("1", undefined, undefined);
      this.#isEmpty = false;
      for (const rule of items === undefined ? [] : rules)
        if (!asksItems(rule) && rule.when?.holds(scope) !== false) this.#findNothing(rule, each);
      this.#whyNothing = `nothing in ${each.by}`;
      if (this.#isEmpty) this.#expect(expectations.filter(({ of }) => of === "row"));
      return;
    }
    for (const [at, item] of items.entries()) {
      scope.enter(numberOfItem(each, item, at), item, undefined);
      this.#giveItem();
    }
    scope.enter("1", items[0], undefined);
  }

  #giveItem(): void {
    const { rules, watch, expectations } = this.#program;
    const scope = this.#scope;
    const given = this.#drafts.length;
    const found = scope.problems.length;
    this.#isEmpty = false;
    for (const rule of rules) {
      if (!rule.isJudgedByItem && rule.when?.holds(scope) === false) continue;
      if (rule.each === undefined) this.#giveAction(rule);
      else this.#giveEach(rule, rule.each);
    }
    const isTaken = this.#isEmpty || this.#drafts.length > given || scope.problems.length > found;
    if (isTaken) this.#expect(expectations);
    watch.seeItem(scope);
  }

  #giveEach(rule: ActionRules, each: Each): void {
    const scope = this.#scope;
    const { n, item, outer } = scope;
    const items = each.items(scope);
    if (items === undefined || items.length === 0) {
      this.#whyNothing ??= `nothing in ${each.by}`;
      scope.enter(n, undefined, item);
      const isTaken = !rule.isJudgedByItem || (!asksOwnItems(rule) && rule.when?.holds(scope) === true);
      scope.enter(n, item, outer);
      if (items !== undefined && isTaken) this.#findNothing(rule, each);
      return;
    }
    const isOnly = this.#program.each === undefined;
    for (const [at, inner] of items.entries()) {
      scope.enter(isOnly ? numberOfItem(each, inner, at) : n, inner, item);
      this.#program.watch.seeItem(scope, each.by);
      if (!rule.isJudgedByItem || rule.when?.holds(scope) === true) this.#giveAction(rule);
      else this.#whyNothing ??= `no when takes an item of ${each.by}`;
    }
    scope.enter(n, item, outer);
  }

  /** Notes that `each` finds nothing for an action that takes the row. */
  #findNothing({ action, when }: ActionRules, { by, whereFilled }: Each): void {
    if (action === "newEvent") return;
    this.#isEmpty = true;
    if (when === undefined) return;
    this.#empty.push({
      rule: "each-empty" satisfies MappingRule,
      field: by,
      message: `The row meets the when of ${action}, but its each finds nothing in ${by}, so it gives none.`,
      hint: `Is the row complete? If such rows give none, add ${whereFilled} to that when.`,
    });
  }

  #giveAction(rule: ActionRules): void {
    const scope = this.#scope;
    scope.turn += 1;
    const found = scope.problems.length;
    const draft = new Draft(rule.action);
    for (const { fill } of rule.fields) fill(scope, draft);
    if (rule.action === "newEvent" && this.#wasGiven(draft)) {
      scope.problems.length = found; // what can't be read is reported by the row that gives the newEvent
      this.#isEventGiven = true;
      return;
    }
    this.#drafts.push(draft);
    if (rule.key !== undefined) draft.key = this.#readKey(rule.key, rule.action);
    if (scope.problems.length > found) this.#faulty.push(draft);
  }

  /** Whether an earlier row, or this one, has given the event. */
  #wasGiven(draft: Draft): boolean {
    const eventId = draft.text("eventId");
    if (eventId === undefined) return false;
    this.#events.see(eventId, draft, this.#scope.line);
    if (this.#events.given.has(eventId)) return true;
    this.#events.given.add(eventId);
    return false;
  }

  #readKey(read: Read, action: ActionName): string {
    const key = read(this.#scope);
    if (key === "")
      this.#scope.problems.push({
        rule: "key-empty" satisfies MappingRule,
        field: "key",
        message: `The key of the source is empty for its ${action}.`,
        hint: "Leave such rows out with when, or name a column that is always filled.",
      });
    return key;
  }

  #expect(expectations: readonly Expectation[]): void {
    for (const { label, cell, named, allowed: allowedIn } of expectations) {
      const text = cell(this.#scope);
      const allowed = allowedIn(this.#scope);
      if (allowed.has(text)) continue;
      this.#scope.problems.push({
        rule: "value-unexpected" satisfies MappingRule,
        field: label,
        value: text,
        message: `The source expects ${(allowed.size > 0 ? [...allowed] : named).join(" or ")} in ${label}.`,
        hint: "Does the row belong to another event or source? If not, add its value to expect.",
      });
    }
  }

  #result(): Mapped {
    const drafts = this.#drafts;
    const { problems, likely: ofCells } = this.#scope;
    const isComplete = this.#empty.length === 0 || problems.length > 0 || !areOnlyEvents(drafts);
    const noted = isComplete ? ofCells : [...ofCells, ...this.#empty];
    const likely = noted.length === 0 ? undefined : withoutRepeats(noted);
    if (drafts.length === 0 && problems.length === 0) return { kind: "skipped", reason: this.#reason(), likely };
    if (problems.length > 0) {
      const attempted = attemptedOf(drafts, this.#faulty);
      return { kind: "invalid", problems: withoutRepeats(problems), attempted, likely };
    }
    return { kind: "actions", drafts, eventId: this.#eventOf(drafts), likely };
  }

  /** The one event that the row's actions name; where they name none, or several, that of the row. */
  #eventOf(drafts: readonly Draft[]): string | undefined {
    let event: string | undefined;
    for (const draft of drafts) {
      const named = draft.text("eventId");
      if (named === undefined || named === event) continue;
      if (event !== undefined) return this.#eventOfRow();
      event = named;
    }
    return event ?? this.#eventOfRow();
  }

  #eventOfRow(): string | undefined {
    const event = this.#program.event?.(this.#scope);
    return event === "" || event === this.#settings.clearWord ? undefined : event;
  }

  /** Why the row gives nothing. */
  #reason(): string {
    const { looked, lookedForTickets } = this.#program;
    return this.#whyNothing ?? reasonOfLooks(this.#isEventGiven ? lookedForTickets : looked, this.#scope);
  }
}

const numberOfItem = ({ givesSeats }: Each, item: unknown, at: number): string =>
  String(givesSeats === true ? item : at + 1);

/**
 * The actions on which others may depend, of a row that is not sent. Not a readable newEvent that the row gives only as the
 * first of its event: the next row gives it.
 */
function attemptedOf(drafts: readonly Draft[], faulty: readonly Draft[]): readonly Draft[] {
  const isOnlyEvent = areOnlyEvents(drafts);
  return drafts.filter((draft) => isOnlyEvent || draft.action !== "newEvent" || faulty.includes(draft));
}

/** Whether its `when` asks an item of its own `each`; one of the outer is known also where that finds nothing. */
const asksOwnItems = ({ when }: ActionRules): boolean => when?.looked.some(({ of }) => of === "item") === true;

const asksItems = ({ when }: ActionRules): boolean => when?.looked.some(({ of }) => of !== "row") === true;

const areOnlyEvents = (drafts: readonly Draft[]): boolean => drafts.every(({ action }) => action === "newEvent");

/** A column that is read for several fields or tickets gives the same problem each time. */
function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  const known = new Set<string>();
  return problems.filter(({ rule, field, value, message }) => {
    const text = JSON.stringify([rule, field, value, message]);
    return !known.has(text) && known.add(text);
  });
}

function understandingOf({ name, header = [] }: SourceSettings, { columns, rules }: Program): Understanding {
  const [only, ...others] = new Set(rules.map(({ action }) => action));
  const given = new Set(rules.flatMap(({ fields }) => fields.map(({ field }) => field)));
  return {
    how: `source ${name}`,
    ...(only !== undefined && others.length === 0 && { action: only }),
    columns: header.length,
    used: columns.used,
    unused: columns.unused,
    publicFields: FIELD_NAMES.filter((field) => given.has(field)).flatMap((field) => publicName(field) ?? []),
    notes: [],
  };
}
