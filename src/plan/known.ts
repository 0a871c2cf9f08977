/** What the ledger knows of the tickets and events of an input: asked for many at once, in the order of its key. */

import { formOf } from "../actions/marks.ts";
import type { KnownAction, Ledger } from "../ledger/ledger.ts";
import { Events } from "./events.ts";
import type { RunNames } from "./rows-read.ts";
import type { Store } from "./store.ts";

/** By subject. */
export type Known = ReadonlyMap<string, readonly KnownAction[]>;

/** Another id that is written almost like one of the input. */
export interface Near {
  readonly subject: string;
  /** Where it stands in this input; undefined where it was accepted. */
  readonly row: number | undefined;
}

export class LedgerLooks {
  readonly events: Events;
  readonly #store: Store;
  readonly #ledger: Pick<Ledger, "actionsOf" | "near"> | undefined;
  readonly #runs: RunNames;

  constructor(store: Store, ledger: Pick<Ledger, "actionsOf" | "near"> | undefined, runs: RunNames) {
    this.events = new Events(store);
    this.#store = store;
    this.#ledger = ledger;
    this.#runs = runs;
  }

  /** @param subjects in the order of code points. */
  async of(subjects: readonly string[]): Promise<Known> {
    if (this.#ledger === undefined || subjects.length === 0) return new Map();
    const known = await this.#ledger.actionsOf(subjects);
    for (const { position, runId } of known) this.#runs.note(position.run, runId);
    return Map.groupBy(known, ({ subject }) => subject);
  }

  /** Takes up events that nobody has asked for so far. */
  async learn(ids: ReadonlySet<string>): Promise<void> {
    const unknown = [...ids].filter((id) => this.events.find(id) === undefined).map((id) => `e:${id}`);
    const known = await this.of(unknown.sort(byCodePoints));
    for (const subject of unknown) this.events.learn(subject.slice(2), known.get(subject) ?? []);
  }

  /** Accepted subjects by normal form, of those that may be one of these, which are not known. */
  async near(subjects: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const near = new Map<string, string>();
    if (this.#ledger === undefined || subjects.length === 0) return near;
    const forms = [...new Set(subjects.map(formOf))].sort(byCodePoints);
    for (const { normal, subject } of await this.#ledger.near(forms)) near.set(normal, subject);
    return near;
  }

  /**
   * Another id that is written almost like that of a subject.
   *
   * @param accepted as `near` gave it.
   * @param hasOdd some id of this input differs from its normal form.
   */
  nearTo(subject: string, accepted: ReadonlyMap<string, string>, hasOdd: boolean): Near | undefined {
    const form = formOf(subject);
    const other = accepted.get(form);
    if (other !== undefined && other !== subject) return { subject: other, row: undefined };
    if (!hasOdd) return undefined;
    const sql = "SELECT subject, row FROM odd WHERE form = ? AND subject <> ? ORDER BY row LIMIT 1";
    return this.#store.get<Near>(sql, form, subject);
  }
}

/** As SQLite and PostgreSQL order text. */
const byCodePoints = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
