/** An action that `find` has found. */

import { parseJson } from "../actions/json.ts";
import type { Environment } from "../config/environment.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { IdField, SentAction } from "../ledger/sent-about.ts";
import type { NotedSettlement } from "../ledger/settlements.ts";
import type { Outcome } from "../ledger/states.ts";

/** What an id can be. */
export type FoundAs = IdField | "actionPromise";

/**
 * What became of an action. Of one without an outcome of its own: `planned` (not sent yet), `in flight` (a living process is
 * sending it), `in doubt` or `refused`.
 */
export type FoundOutcome = Outcome | "planned" | "in flight" | "in doubt" | "refused";

export interface FoundAction {
  /** What of it the id is. */
  readonly as: FoundAs;
  readonly run: string;
  readonly environment: string;
  /** Its place in the plan. */
  readonly seq: number;
  /** This and the next ones are undefined where a promises file was imported that did not tell them. */
  readonly chunk: number | undefined;
  readonly source: string | undefined;
  readonly line: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly action: string;
  readonly outcome: FoundOutcome;
  readonly status: string | undefined;
  readonly actionPromise: string | undefined;
  /** Why it is not accepted, in a sentence. */
  readonly reason: string | undefined;
  readonly response: unknown;
  /** When the last request that held it began; UTC in ISO 8601, as the next one. */
  readonly sentAt: string | undefined;
  /** When its outcome was known. */
  readonly at: string | undefined;
  readonly attempts: number;
  /** What people decided about its chunk, oldest first. */
  readonly settlements: readonly NotedSettlement[];
}

/** Where an id is looked for. */
export interface Searched {
  readonly ledger: Ledger;
  readonly environment: Environment;
  readonly id: string;
}

/** Which action of which run. */
export type Place = Pick<SentAction, "runNo" | "seq">;

export const placeText = ({ runNo, seq }: Place): string => `${runNo} ${seq}`;

export interface FoundAt {
  readonly at: Place;
  readonly found: FoundAction;
}

/** What the service said of an action. */
export function itemOf(response: string): unknown {
  try {
    return parseJson(response);
  } catch {
    return response; // kept as text where it was none of JSON
  }
}
