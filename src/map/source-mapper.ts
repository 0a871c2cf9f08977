/** Rows by the rules of a source in the config: once these are compiled, a row is a few loops over closures. */

import { Draft } from "../actions/draft.ts";
import { FIELD_NAMES } from "../actions/fields.ts";
import type { FileProblem, Problem } from "../actions/problem.ts";
import type { Row } from "../read/row.ts";
import type { MappingRule } from "../rules.ts";
import { Events, OneTicketWatch } from "./across-rows.ts";
import type { Each } from "./each.ts";
import type { Expectation } from "./expect.ts";
import { withExactNumbers } from "./json-rows.ts";
import { isOnlyItem, type Mapped, type Mapper, mapItem, type Understanding } from "./mapper.ts";
import { publicName } from "./named-columns.ts";
import { type ActionRules, compileSource, type Program, type SourceSettings } from "./program.ts";
import { Scope } from "./scope.ts";
import { unguarded } from "./table-columns.ts";
import { refuseTotals } from "./totals.ts";
import { labelled, reasonOfLooks } from "./when.ts";

export class SourceMapper implements Mapper {
  readonly #settings: SourceSettings;
  readonly #program: Program;
  readonly #scope = new Scope();
  readonly #events: Events;
  readonly #oneTicket = new OneTicketWatch();
  // What the row in hand gives, before it is known whether all of it can be read.
  #drafts: Draft[] = [];
  /** Its newEvents that can be read: should the row be bad, the next row of the event gives them. */
  #soundEvents: Draft[] = [];
  /** Why it gives no action, where that is not because of conditions. */
  #whyNothing: string | undefined;
  /** What may be missing in it: an action takes it, and `each` finds nothing. */
  #empty: Problem[] = [];
  /** Its newEvent was given by an earlier row. */
  #isEventGiven = false;

  /** Throws `MappingError` for rules that can't be carried out with these columns. */
  constructor(settings: SourceSettings) {
    this.#settings = settings;
    this.#events = new Events(settings.fileName);
    this.#program = compileSource(settings);
  }

  map(row: Row): Mapped {
    const mapped = refuseTotals(row, this.#map(row), this.#settings.header);
    if (mapped.kind === "invalid") this.retract();
    return mapped;
  }

  #map(row: Row): Mapped {
    const { fillDown, keys, watch, givesEventsBeside } = this.#program;
    const { csv } = this.#settings.config;
    const scope = this.#scope;
    scope.begin(row);
    this.#drafts = [];
    if (row.kind === "malformed") {
      fillDown?.forget();
      const { cells, problems } = row;
      scope.cells = unguarded(cells?.map((cell) => cell.trim()) ?? [], csv);
      return (cells && this.#skipped(true)) ?? { kind: "invalid", problems, attempted: [] };
    }
    if (row.kind === "cells") {
      if (row.isBlank) return { kind: "skipped", reason: "empty row" };
      scope.cells = unguarded(row.cells, csv);
      fillDown?.fill(scope);
    } else {
      if (isOnlyItem(row.value)) return mapItem(row.value);
      scope.value = withExactNumbers(row);
      keys?.seeRow(row.value);
    }
    const skipped = this.#skipped(false);
    if (skipped !== undefined) {
      watch.seeSkipped();
      return skipped;
    }
    const mapped = this.#give();
    // An event without conditions comes with whichever row is first, so it says nothing about the row.
    const gave = mapped.kind === "actions" && !(givesEventsBeside && areOnlyEvents(mapped.drafts));
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
    const { config, fileName } = this.#settings;
    return [
      ...columns.problems(config.optional),
      ...watch.problems(fileName),
      ...this.#events.problems(),
      ...this.#oneTicket.problems(),
    ];
  }

  get understanding(): Understanding {
    const { name, header = [] } = this.#settings;
    const { columns, rules } = this.#program;
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

  /** @param isShort a row with fewer cells than the header, such as a line of totals: `skip` may match the cells that it has. */
  #skipped(isShort: boolean): Mapped | undefined {
    for (const { label, cell, values } of this.#program.skips) {
      const text = cell(this.#scope);
      if (values.has(text) && !(isShort && text === "")) return { kind: "skipped", reason: labelled(label, text) };
    }
    return undefined;
  }

  /** What the row gives, for each of its items. */
  #give(): Mapped {
    const { each } = this.#program;
    this.#whyNothing = undefined;
    this.#isEventGiven = false;
    if (this.#soundEvents.length > 0) this.#soundEvents = [];
    if (this.#empty.length > 0) this.#empty = [];
    if (each === undefined) this.#giveItem();
    else this.#giveItems(each);
    return this.#result();
  }

  #giveItems(each: Each): void {
    const { rules, expectations } = this.#program;
    const scope = this.#scope;
    const items = each.items(scope);
    if (items !== undefined && items.length > 0) {
      for (const [at, item] of items.entries()) {
        scope.enter(numberOfItem(each, item, at), item, undefined);
        this.#giveItem();
      }
      scope.enter("1", items[0], undefined);
      return;
    }
    scope.enter("1", undefined, undefined);
    this.#whyNothing = `nothing in ${each.by}`;
    if (items === undefined) return;
    const taking = rules.filter((rule) => !asksItems(rule) && rule.when?.holds(scope) !== false);
    const missing = taking.filter(({ action }) => action !== "newEvent");
    for (const rule of missing) this.#missItems(rule, each);
    if (missing.length > 0) this.#expect(expectations.filter(({ of }) => of === "row"));
  }

  #giveItem(): void {
    const { rules, watch, expectations } = this.#program;
    const scope = this.#scope;
    const given = this.#drafts.length;
    const found = scope.problems.length;
    let isTaken = false;
    for (const rule of rules) {
      if (!rule.isJudgedByItem && rule.when?.holds(scope) === false) continue;
      if (rule.each === undefined) this.#giveAction(rule);
      else if (!this.#giveEach(rule, rule.each)) isTaken = true;
    }
    if (isTaken || this.#drafts.length > given || scope.problems.length > found) this.#expect(expectations);
    watch.seeItem(scope);
  }

  /** False where the action takes the row, but finds no items of its own in it. */
  #giveEach(rule: ActionRules, each: Each): boolean {
    const scope = this.#scope;
    const { n, item, outer } = scope;
    const items = each.items(scope);
    let isMissed = false;
    if (items === undefined || items.length === 0) {
      this.#whyNothing ??= `nothing in ${each.by}`;
      scope.enter(n, undefined, item);
      const isTaken = !rule.isJudgedByItem || (!asksOwnItems(rule) && rule.when?.holds(scope) === true);
      isMissed = items !== undefined && isTaken && rule.action !== "newEvent";
      if (isMissed) this.#missItems(rule, each);
    } else {
      const isOnly = this.#program.each === undefined;
      const per = `item of ${each.by}` as const;
      for (const [at, inner] of items.entries()) {
        scope.enter(isOnly ? numberOfItem(each, inner, at) : n, inner, item);
        this.#program.watch.seeItem(scope, per);
        if (!rule.isJudgedByItem || rule.when?.holds(scope) === true) this.#giveAction(rule);
        else this.#whyNothing ??= `no when takes an item of ${each.by}`;
      }
    }
    scope.enter(n, item, outer);
    return !isMissed;
  }

  /** Notes that `each` finds nothing for an action that takes the row. */
  #missItems({ action, when }: ActionRules, { by, whereFilled }: Each): void {
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
    if (rule.key !== undefined) {
      draft.key = rule.key(scope);
      if (draft.key === "") scope.problems.push(keyEmpty(rule));
    }
    this.#drafts.push(draft);
    if (rule.action === "newEvent" && scope.problems.length === found) this.#soundEvents.push(draft);
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
    const isOnlyEvent = areOnlyEvents(drafts);
    const noted = problems.length > 0 || !isOnlyEvent ? ofCells : [...ofCells, ...this.#empty];
    const likely = noted.length === 0 ? undefined : withoutRepeats(noted);
    if (problems.length > 0) {
      const attempted = isOnlyEvent ? drafts : drafts.filter((draft) => !this.#soundEvents.includes(draft));
      return { kind: "invalid", problems: withoutRepeats(problems), attempted, likely };
    }
    if (drafts.length > 0) return { kind: "actions", drafts, eventId: this.#eventOf(drafts), likely };
    const { looked, lookedForTickets } = this.#program;
    const reason = this.#whyNothing ?? reasonOfLooks(this.#isEventGiven ? lookedForTickets : looked, this.#scope);
    return { kind: "skipped", reason, likely };
  }

  /** The one event that the row's actions name; where they name none, or several, that of the row. */
  #eventOf(drafts: readonly Draft[]): string | undefined {
    let event: string | undefined;
    let isOne = true;
    for (const draft of drafts) {
      const named = draft.text("eventId");
      if (named !== undefined && event !== undefined && named !== event) isOne = false;
      event ??= named;
    }
    if (event !== undefined && isOne) return event;
    const ofRow = this.#program.event?.(this.#scope);
    return ofRow === "" || ofRow === this.#settings.clearWord ? undefined : ofRow;
  }
}

const numberOfItem = ({ givesSeats }: Each, item: unknown, at: number): string =>
  String(givesSeats === true ? item : at + 1);

/** Whether its `when` asks an item of its own `each`; one of the outer is known also where that finds nothing. */
const asksOwnItems = ({ when }: ActionRules): boolean => when?.looked.some(({ of }) => of === "item") === true;

const asksItems = ({ when }: ActionRules): boolean => when?.looked.some(({ of }) => of !== "row") === true;

const areOnlyEvents = (drafts: readonly Draft[]): boolean => drafts.every(({ action }) => action === "newEvent");

const keyEmpty = ({ action }: ActionRules): Problem => ({
  rule: "key-empty" satisfies MappingRule,
  field: "key",
  message: `The key of the source is empty for its ${action}.`,
  hint: "Leave such rows out with when, or name a column that is always filled.",
});

/** A column that is read for several fields or tickets gives the same problem each time. */
function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  const known = new Set<string>();
  return problems.filter(({ rule, field, value, message }) => {
    const text = JSON.stringify([rule, field, value, message]);
    return !known.has(text) && known.add(text);
  });
}
