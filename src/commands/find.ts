/** `tickets find`: all that was ever sent about a ticket, an event or a promise. It takes no lock. */

import { isPersonal } from "../actions/fields.ts";
import { stringifyJson } from "../actions/json.ts";
import { cleanText, count, masked, quoted } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import { type Found, find as lookFor } from "../run/find.ts";
import type { FoundAction, FoundAs } from "../run/found-action.ts";
import { type EnvironmentOptions, loadSettings } from "../run/settings.ts";
import { describeSettlement } from "./chunk-words.ts";
import type { Context } from "./context.ts";
import { shown } from "./problems.ts";
import { runContextOf } from "./run-context.ts";
import { columnsOf, layOut } from "./table.ts";

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
  const settings = await loadSettings(core, options, "any");
  const { environment } = settings;
  const found = await lookFor(core, { settings, id });
  const { problem, actions, unread } = found;
  if (problem !== undefined)
    reporter.error(problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`);
  for (const { run, why } of unread)
    reporter.warn(`What run ${run} has not sent yet, or has in doubt, is not known: ${why}`);
  if (options.json) reporter.out(`${stringifyJson(toDocument(id, environment, found))}\n`);
  if (actions.length === 0) tellNothing(id, environment, found, context);
  else if (!options.json) tellFound(id, environment, found, context);
  if (problem !== undefined) return EXIT_CODES.usage;
  return actions.length === 0 ? EXIT_CODES["finished-with-rejects"] : EXIT_CODES.ok;
}

/** The document of `find --json`. */
function toDocument(id: string, { name }: Environment, { lookedFor, actions, similar, unread }: Found) {
  return {
    ...{ id, environment: name, lookedFor, foundAs: kindsOf(actions) },
    actions: actions.map(({ data, settlements, ...action }) => ({
      ...{ as: action.as, action: action.action, outcome: action.outcome, data: data ?? null },
      ...{ run: action.run, environment: action.environment, seq: action.seq, chunk: action.chunk ?? null },
      ...{ source: action.source ?? null, line: action.line ?? null },
      ...{ sentAt: action.sentAt ?? null, at: action.at ?? null, attempts: action.attempts },
      ...{ status: action.status ?? null, actionPromise: action.actionPromise ?? null },
      ...{ reason: action.reason ?? null, response: action.response ?? null },
      settlements: settlements.map(({ decision, who, at, reason }) => ({ decision, who, at, reason: reason ?? null })),
    })),
    ...{ similar, unread },
  };
}

const kindsOf = (actions: readonly FoundAction[]): readonly FoundAs[] => [...new Set(actions.map(({ as }) => as))];

const LONGEST_ID = 255;

/** What was looked in, and what the id may have been meant to be. */
function tellNothing(id: string, environment: Environment, found: Found, { reporter, cwd }: Context): void {
  const place = ledgerPlace(environment, cwd);
  // A ledger that was lost says nothing of what was sent; that is told already.
  if (!found.hasLedger && found.problem !== undefined) return;
  if (!found.hasLedger) {
    reporter.info(`Nothing was ever sent to ${environment.name} from here: there is no ledger at ${place}.`);
    return;
  }
  const nothing = found.problem === undefined ? "Nothing was ever sent" : "As far as it knows, nothing was ever sent";
  reporter.info(
    `${nothing} to ${environment.name} about ${quoted(id, LONGEST_ID)}: no ticketId, nftId, eventId or actionPromise in its ledger ${place}, nor in what is still to be sent, is spelt just so.`,
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

function tellFound(
  id: string,
  environment: Environment,
  { actions }: Found,
  { reporter, stdout, verbose }: Context,
): void {
  const kinds = kindsOf(actions);
  const each = kinds.map(
    (kind) => `${ARTICLES[kind]} (${count(actions.filter(({ as }) => as === kind).length, "action")})`,
  );
  reporter.info(`${cleanText(id, LONGEST_ID)} is ${each.join(" and ")} in ${environment.name}:`);
  const rows = actions.map((action) => toRow(action, verbose));
  // A column of which no action has anything says nothing.
  const names = COLUMNS.filter(
    (name) =>
      rows.some((row) => row[name] !== "") && (name !== "as" || kinds.length > 1) && (name !== "data" || verbose),
  );
  const cells = rows.map((row) => names.map((name) => row[name]));
  reporter.out(layOut(names, cells, columnsOf(stdout)));
  if (kinds.includes("eventId")) reporter.info("Its sales are not among these: find each by its ticketId.");
}

const COLUMNS = [
  "sent",
  "action",
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

function toRow(found: FoundAction, verbose: boolean): Readonly<Record<(typeof COLUMNS)[number], string>> {
  const {
    as,
    action,
    outcome,
    run,
    environment,
    source,
    line,
    settlements,
    actionPromise,
    data = {},
    attempts,
  } = found;
  const time = found.sentAt ?? found.at;
  return {
    sent: time === undefined || outcome === "planned" ? "" : time.slice(0, 19).replace("T", " "),
    ...{ action, as, run, environment },
    outcome: outcome === "planned" ? "not sent yet" : `${outcome}${attempts > 1 ? ` (try ${attempts})` : ""}`,
    from: source === undefined ? "" : `${cleanText(source, 200)}:${line}`,
    promise: cleanText(actionPromise ?? "", LONGEST_ID),
    why: found.reason === undefined ? "" : cleanText(withoutPersons(found.reason, data, verbose), 400),
    settled: settlements
      .map(describeSettlement)
      .map((words) => cleanText(words, 400))
      .join("; "),
    data: Object.entries(data)
      .filter(([field]) => !["ticketId", "nftId"].includes(field))
      .map(
        ([field, value]) =>
          `${field} ${shown(field, typeof value === "string" ? value : stringifyJson(value), verbose)}`,
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
