/** The service of the specification without its HTTP: requests in, results out, and a record of both. */

import { randomUUID } from "node:crypto";
import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { number } from "../text.ts";
import { echoed, type Ids, readItem } from "./item.ts";
import { eventsOf, perform, RELAXABLE_RULES, type Refusal, type Register, WITHHELD } from "./lifecycle.ts";
import { openState, type ProcessedAction } from "./state.ts";
import { openView, type PromiseStatus } from "./view.ts";

export interface EngineOptions {
  /** The SQLite file, made with its directory when missing; or `:memory:`. */
  readonly path: string;
  /** Ids of rules that are not enforced, out of `RELAXABLE_RULES`. */
  readonly accept?: readonly string[];
  /** Clock, in milliseconds since 1970. */
  readonly now?: () => number;
}

type AcceptedItem = Ids & { readonly status: "success"; readonly action: string; readonly actionPromise: string };
/** The specification does not show it; own choice. */
type RefusedItem = Ids & { readonly status: "error"; readonly action?: string; readonly error: Refusal };
export type ResultItem = AcceptedItem | RefusedItem;

/** An accepted action whose event has a callbackUrl. */
export type Callback = Omit<AcceptedItem, "status"> & { readonly callbackUrl: string };

export interface ProcessOptions {
  /** The number of the request, from `openRequest`; a new one by default. */
  readonly request?: number;
  /** 0-based places of items that are refused without being looked at (a fault on demand). */
  readonly withhold?: ReadonlySet<number>;
  /** Called for each accepted action whose event has a callbackUrl, after all of them are on disk. */
  readonly onCallback?: (callback: Callback) => void;
}

export type Engine = ReturnType<typeof openEngine>;

const PAGE = 1000;

/**
 * Opens the service's state and gives the service.
 *
 * @throws Failure `usage` for a rule in `accept` that can't be relaxed, `storage` for a state that can't be opened.
 */
export function openEngine(options: EngineOptions) {
  const { path, accept = [], now = Date.now } = options;
  for (const rule of accept) assertRelaxable(rule);
  const relaxed = new Set(accept);
  const state = openState(path, now);

  function processAll(items: readonly unknown[], { request, withhold }: ProcessOptions, callbacks: Callback[]) {
    const at = now();
    const requestNumber = request ?? state.openRequest(at);
    const register: Register = { state, events: eventsOf(state), relaxed, unixTime: Math.floor(at / 1000) };
    const kinds = new Map<string, number>();
    let [firstSeq, accepted]: [number | null, number] = [null, 0];
    const results = items.map((item, place): ResultItem => {
      const { action, data, ids } = readItem(item);
      const done = withhold?.has(place) ? WITHHELD : perform(register, item);
      const isRefused = "code" in done;
      const actionPromise = isRefused ? null : newPromise(at);
      const why = isRefused ? { code: done.code, rule: done.rule ?? null } : { code: null, rule: null };
      const line = {
        request: requestNumber,
        item: place,
        action,
        ids,
        data: JSON.stringify(data ?? null),
        at,
        actionPromise,
      };
      const seq = state.record({ ...line, status: isRefused ? "error" : "success", ...why });
      firstSeq ??= seq;
      const kind = action ?? "without action";
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      if (isRefused)
        return { status: "error", ...(action !== null && { action }), ...echoed(action, ids), error: done };
      accepted += 1;
      const result = { action: action ?? "", ...echoed(action, ids), actionPromise: actionPromise ?? "" }; // it has both
      const { callbackUrl } = done.fields;
      if (typeof callbackUrl === "string") callbacks.push({ callbackUrl, ...result });
      return { status: "success", ...result };
    });
    const ofKinds = [...kinds].map(([kind, count]) => `${number(count)} ${kind}`).join(", ");
    state.saveProcessed({
      number: requestNumber,
      firstSeq,
      accepted,
      refused: items.length - accepted,
      kinds: ofKinds,
    });
    return results;
  }

  return {
    /** Random, made with the state; a client's memory of this sandbox belongs to it. */
    instanceId: state.instanceId,
    /** When the state was made, in milliseconds since 1970. */
    createdAt: state.createdAt,
    /** Notes that a request has come; gives its number. */
    openRequest: () => state.openRequest(now()),
    /** Notes how it ended. */
    endRequest: state.endRequest,
    /**
     * Processes the items of one request in order, in one transaction, and gives one result an item. After it returns
     * everything survives the end of the process. What it throws has processed nothing.
     */
    process(items: readonly unknown[], options: ProcessOptions = {}): readonly ResultItem[] {
      const callbacks: Callback[] = [];
      const results = state.transaction(() => processAll(items, options, callbacks));
      for (const callback of callbacks) options.onCallback?.(callback);
      return results;
    },
    /** The record of everything processed, in order, refused items included. Reads page by page, so it may be long. */
    *processed({ after = 0 }: { readonly after?: number } = {}): Generator<ProcessedAction> {
      // Page by page, so that no statement stays open over someone else's writing.
      for (let page = state.actionsAfter(after, PAGE); page.length > 0; ) {
        yield* page;
        page = state.actionsAfter(page.at(-1)?.seq ?? Number.MAX_SAFE_INTEGER, PAGE);
      }
    },
    ...openView(state, now),
    /** Rehearses a status; says whether the promise is known. */
    setStatus(actionPromise: string, status: PromiseStatus): boolean {
      const isKnown = state.actionOf(actionPromise) !== undefined;
      if (isKnown) state.setStatus(actionPromise, status);
      return isKnown;
    },
    /** Makes a metadata template known, as the service's studio tool would. */
    setTemplate: state.setTemplate,
    close: state.close,
    [Symbol.dispose]: state.close,
  };
}

function assertRelaxable(rule: string): void {
  if (RELAXABLE_RULES.includes(rule)) return;
  const meant = nearest(rule, RELAXABLE_RULES);
  throw new Failure("usage", `The sandbox can't relax the rule ${JSON.stringify(rule)}.`, {
    hint: meant === undefined ? `It can relax ${RELAXABLE_RULES.join(", ")}.` : `Did you mean ${meant}?`,
  });
}

/** A UUID of version 7: it starts with the time, so that the record's index grows at its end. */
function newPromise(at: number): string {
  const time = at.toString(16).padStart(12, "0");
  // Behind their version the two kinds are alike, and Node has the random digits of this one in stock.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
