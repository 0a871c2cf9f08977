/** `tickets find`: all that was ever sent about a ticket, an event or a promise. It takes no lock. */

import type { Action } from "../actions/actions.ts";
import { isPersonal } from "../actions/fields.ts";
import { parseJson, stringifyJson } from "../actions/json.ts";
import { placeText } from "../actions/place.ts";
import { cleanText, count, masked, quoted } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { type Found, find as lookFor } from "../run/status.ts";
import { rejectionText } from "../write/rejection-text.ts";
import { describeSettlement } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import { localTimes } from "./local-time.ts";
import { shownIf } from "./problems.ts";
import { failureText } from "./reporter.ts";
import { runContextOf } from "./run-context.ts";
import { columnsOf, layOut } from "./table.ts";
import { sayNeverSent } from "./words.ts";

export interface FindOptions extends EnvironmentOptions {
  readonly id: string;
  readonly json: boolean;
}

/** Exit 4 where nothing was found. */
export async function find(options: FindOptions, context: Context): Promise<number> {
  const { reporter } = context;
  const { id } = options;
  if (id.trim() === "")
    throw new Failure("usage", "The id is empty.", {
      hint: "Give a ticketId, an eventId, an nftId or an actionPromise.",
    });
  const core = runContextOf(context);
  const { environment } = await loadSettings(core, options, "any");
  const found = await lookFor(core, environment, id);
  const { problem, actions } = found;
  if (problem !== undefined) reporter.error(failureText(problem));
  if (options.json) reporter.out(`${stringifyJson(toDocument(id, environment, found))}\n`);
  if (actions.length === 0) sayNothing(id, environment, found, context);
  else if (!options.json) sayFound(id, environment, found, context);
  if (problem !== undefined) return EXIT_CODES.usage;
  return actions.length === 0 ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

type FoundAction = Found["actions"][number];
type FoundAs = "ticketId" | "nftId" | "eventId" | "actionPromise";

/** What of an action the id is. */
function foundAs({ subject, promise }: FoundAction, id: string): FoundAs {
  if (subject === `t:${id}`) return "ticketId";
  if (subject === `n:${id}`) return "nftId";
  return promise === id ? "actionPromise" : "eventId";
}

const dataOf = ({ json }: FoundAction): Readonly<Record<string, unknown>> | undefined =>
  json === undefined ? undefined : (parseJson(json) as Action).data; // as it was sent

/** When its request left first, and last. */
const sentAt = ({ attempts }: FoundAction): string | undefined => attempts.at(-1)?.startedAt;

/** What became of it; one whose chunk waits, or is being sent, is called after that. */
function outcomeOf({ outcome, chunkState }: FoundAction): string {
  if (chunkState === "sending") return "in flight";
  if (outcome !== "not sent") return outcome;
  return chunkState === "planned" ? "planned" : chunkState === "refused" ? "refused" : outcome;
}

const reasonOf = ({ outcome, response, chunkState }: FoundAction): string | undefined =>
  outcome === "rejected"
    ? rejectionText({ response })
    : outcome === "not sent" && chunkState === "abandoned"
      ? "the run was closed"
      : undefined;

/** The document of `find --json`. */
function toDocument(id: string, { name }: Environment, { actions, similar }: Found) {
  return {
    ...{ id, environment: name, foundAs: kindsOf(actions, id) },
    actions: actions.map((action) => ({
      ...{ as: foundAs(action, id), action: action.kind, outcome: outcomeOf(action), data: dataOf(action) ?? null },
      ...{ run: action.runId, environment: action.environment, seq: action.position.seq, chunk: action.chunk ?? null },
      ...{ source: action.source ?? null, line: action.line ?? null },
      ...{ sentAt: sentAt(action) ?? null, at: action.answeredAt ?? null, attempts: action.attempts.length },
      ...{ actionPromise: action.promise ?? null, reason: reasonOf(action) ?? null },
      response: action.response === undefined ? null : parseJson(action.response),
      settlements: action.settlements.map(({ decision, who, at, reason }) => ({
        ...{ decision, who, at, reason: reason ?? null },
      })),
    })),
    similar,
  };
}

const kindsOf = (actions: readonly FoundAction[], id: string): readonly FoundAs[] => [
  ...new Set(actions.map((action) => foundAs(action, id))),
];

const LONGEST_ID = 255;

/** What was looked in, and what the id may have been meant to be. */
function sayNothing(id: string, environment: Environment, found: Found, { reporter, cwd }: Context): void {
  // A ledger that was lost says nothing of what was sent; that is reported already.
  if (!found.hasLedger && found.problem !== undefined) return;
  if (!found.hasLedger) {
    sayNeverSent(environment, { reporter, cwd });
    return;
  }
  const nothing = found.problem === undefined ? "Nothing was ever sent" : "As far as it knows, nothing was ever sent";
  reporter.info(
    `${nothing} to ${environment.name} about ${quoted(id, LONGEST_ID)}: no ticketId, nftId, eventId or actionPromise in its ledger ${ledgerPlace(environment, cwd)} is exactly this.`,
  );
  if (found.similar.length > 0)
    reporter.info(`Something was sent about ${found.similar.map((each) => quoted(each, LONGEST_ID)).join(", ")}.`);
}

const ARTICLES: Readonly<Record<FoundAs, string>> = {
  ticketId: "a ticketId",
  nftId: "an nftId",
  eventId: "an eventId",
  actionPromise: "an actionPromise",
};

function sayFound(
  id: string,
  environment: Environment,
  { actions }: Found,
  { reporter, stdout, verbose }: Context,
): void {
  const kinds = kindsOf(actions, id);
  const each = kinds.map(
    (kind) => `${ARTICLES[kind]} (${count(actions.filter((action) => foundAs(action, id) === kind).length, "action")})`,
  );
  reporter.info(`${cleanText(id, LONGEST_ID)} is ${each.join(" and ")} in ${environment.name}:`);
  const time = localTimes();
  const rows = actions.map((action) => toRow(action, id, time, verbose));
  // A column of which no action has anything says nothing.
  const names = COLUMNS.filter(
    (name) =>
      rows.some((row) => row[name] !== "") && (name !== "as" || kinds.length > 1) && (name !== "data" || verbose),
  );
  const cells = rows.map((row) => names.map((name) => row[name]));
  reporter.out(layOut(names, cells, columnsOf(stdout)));
}

const COLUMNS = [
  "sent",
  "action",
  "ticket",
  "as",
  "outcome",
  "run",
  "environment",
  "from",
  "promise",
  "why",
  "settled",
  "data",
] as const;

function toRow(
  found: FoundAction,
  id: string,
  time: ReturnType<typeof localTimes>,
  verbose: boolean,
): Readonly<Record<(typeof COLUMNS)[number], string>> {
  const { kind: action, runId: run, environment, source, line, settlements, promise, attempts } = found;
  const data = dataOf(found) ?? {};
  const [outcome, reason] = [outcomeOf(found), reasonOf(found)];
  const at = sentAt(found) ?? found.answeredAt;
  const subject = found.subject.slice(2);
  return {
    sent: at === undefined || outcome === "planned" ? "" : time(at),
    ...{ action, as: foundAs(found, id), run, environment },
    ticket: found.subject.startsWith("e:") || subject === id ? "" : cleanText(subject, LONGEST_ID),
    outcome:
      outcome === "planned" ? "not sent yet" : `${outcome}${attempts.length > 1 ? ` (try ${attempts.length})` : ""}`,
    from: source === undefined ? "" : placeText({ source, line }),
    promise: cleanText(promise ?? "", LONGEST_ID),
    why: reason === undefined ? "" : cleanText(withoutPersons(reason, data, verbose), 400),
    settled: settlements.map((how) => cleanText(describeSettlement(how, time), 400)).join("; "),
    data: Object.entries(data)
      .filter(([field]) => !["ticketId", "nftId"].includes(field))
      .map(
        ([field, value]) =>
          `${field} ${shownIf(isPersonal(field), typeof value === "string" ? value : stringifyJson(value), verbose)}`,
      )
      .join(", "),
  };
}

/** The service may repeat who the action was about. */
function withoutPersons(text: string, data: Readonly<Record<string, unknown>>, verbose: boolean): string {
  if (verbose) return text;
  const persons = Object.entries(data).flatMap(([field, value]) =>
    isPersonal(field) && typeof value === "string" && value !== "" ? [value] : [],
  );
  return persons.reduce((said, person) => said.replaceAll(person, masked(person)), text);
}
