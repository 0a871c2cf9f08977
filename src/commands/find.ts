/** `tickets find`: all that was ever sent about a ticket, an event or a promise. It takes no lock. */

import type { Action } from "../actions/actions.ts";
import { isPersonal } from "../actions/fields.ts";
import { parseJson } from "../actions/json.ts";
import { withoutNul } from "../actions/marks.ts";
import { ledgerPlace } from "../config/ledger-server.ts";
import { EXIT_CODES, Failure } from "../failure.ts";
import type { FoundAction } from "../ledger/ledger.ts";
import { placeText } from "../read/file-names.ts";
import { lostRunsOf } from "../run/lost-ledger.ts";
import { findLedgerOf } from "../run/open.ts";
import { cleanText, masked, quoted } from "../text.ts";
import { rejectionText } from "../write/rejection-text.ts";
import type { Context, Options } from "./context.ts";
import { openSettings } from "./core.ts";
import { describeSettlement, fieldsText, localTimes, type ShowTime, sayNeverSent } from "./describe.ts";
import { columnsOf, layOut } from "./layout.ts";
import { sayFailure } from "./reporter.ts";

/** Exit 4 where nothing was found. */
export async function find(options: Options<"id" | "json">, context: Context): Promise<number> {
  const { reporter, cwd, stdout, verbose } = context;
  const { id } = options;
  if (id.trim() === "")
    throw new Failure("usage", "The id is empty.", {
      hint: "Give a ticketId, an eventId, an nftId or an actionPromise.",
    });
  const { environment } = await openSettings(context, options, "any");
  await using ledger = await findLedgerOf(environment);
  const exitCode = sayFailure(await lostRunsOf(environment, ledger, cwd), reporter);
  const found = (await ledger?.about(withoutNul(id))) ?? [];
  const actions = found.map((action) => toDocument(action, id));
  if (options.json) {
    const foundAs = [...new Set(actions.map(({ as }) => as))];
    reporter.document({ id, environment: environment.name, foundAs, actions });
  } else if (actions.length > 0) reporter.show(tableOf(found, id, columnsOf(stdout), verbose));
  if (actions.length > 0) return exitCode;
  const isAllKnown = exitCode === EXIT_CODES.ok;
  if (ledger !== undefined)
    reporter.info(
      `${isAllKnown ? "Nothing" : "As far as the ledger knows, nothing"} was ever sent to ${environment.name} about ${quoted(id, LONGEST_ID)}. No ticketId, nftId, eventId or actionPromise in ${ledgerPlace(environment, cwd)} is exactly this.`,
    );
  else if (isAllKnown) sayNeverSent(environment, context);
  return isAllKnown ? EXIT_CODES["finished-with-rejects"] : exitCode;
}

/** Which of an action's ids the id is. */
function foundAs({ subject, item }: FoundAction, id: string): string {
  if (subject === `t:${id}`) return "ticketId";
  if (subject === `n:${id}`) return "nftId";
  return item?.promise === id ? "actionPromise" : "eventId";
}

/** An action in the document of `find --json`. */
function toDocument(action: FoundAction, id: string) {
  const { run, chunk, item, attempts, json, settlements } = action;
  return {
    ...{ as: foundAs(action, id), action: action.kind, outcome: outcomeOf(action) },
    data: json === undefined ? null : (parseJson(json) as Action).data, // as it was sent
    ...{ run: run.run, environment: run.environment, seq: action.position.seq, chunk: chunk?.chunk ?? null },
    ...{ source: (item && run.inputs[item.origin.input]?.name) ?? null, line: item?.origin.line ?? null },
    // When its last request left.
    sentAt: attempts.at(-1)?.startedAt ?? null,
    ...{ at: chunk?.answeredAt ?? null, attempts: attempts.length },
    ...{ actionPromise: item?.promise ?? null, reason: reasonOf(action) },
    response: item?.response === undefined ? null : parseJson(item.response),
    settlements: settlements.map(({ decision, who, at, reason = null }) => ({ decision, who, at, reason })),
  };
}

/** What became of it, or the state of its chunk if that waits or is being sent. */
function outcomeOf({ item, chunk }: FoundAction): string {
  if (chunk?.state === "sending") return "in flight";
  const outcome = item?.outcome ?? "adopted";
  return outcome === "not sent" && (chunk?.state === "planned" || chunk?.state === "refused") ? chunk.state : outcome;
}

function reasonOf({ item, chunk }: FoundAction): string | null {
  if (item?.outcome === "rejected") return rejectionText(item);
  return item?.outcome === "not sent" && chunk?.state === "abandoned" ? "the run was closed" : null;
}

const LONGEST_ID = 255;

/** Columns that are empty in every row are left out. */
function tableOf(found: readonly FoundAction[], id: string, columns: number, verbose: boolean): string {
  const time = localTimes();
  const rows = found.map((action) => {
    const { subject } = action;
    const ticket = subject.startsWith("e:") || subject.slice(2) === id ? "" : subject.slice(2);
    return toRow(toDocument(action, id), ticket, time, verbose);
  });
  const names = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => row[name] !== ""));
  const cells = rows.map((row) => names.map((name) => row[name] ?? ""));
  return layOut(names, cells, columns);
}

/** Cells by the names of their columns, in their order. */
function toRow(
  { action, as, outcome, attempts, run, environment, ...document }: ReturnType<typeof toDocument>,
  ticket: string,
  time: ShowTime,
  verbose: boolean,
): Readonly<Record<string, string>> {
  const { sentAt, at, source, line, actionPromise, reason, settlements } = document;
  const data = document.data ?? {};
  const isPlanned = outcome === "planned";
  const left = sentAt ?? at;
  return {
    sent: left === null || isPlanned ? "" : time(left),
    action,
    ticket: cleanText(ticket, LONGEST_ID),
    as,
    outcome: isPlanned ? "not sent yet" : `${outcome}${attempts > 1 ? ` (try ${attempts})` : ""}`,
    ...{ run, environment },
    from: source === null ? "" : placeText({ source, line: line ?? undefined }),
    promise: cleanText(actionPromise ?? "", LONGEST_ID),
    why: reason === null ? "" : cleanText(withoutPersons(reason, data, verbose), 400),
    settled: settlements.map((how) => cleanText(describeSettlement(how, time), 400)).join("; "),
    data: verbose
      ? fieldsText(Object.entries(data).filter(([field]) => field !== "ticketId" && field !== "nftId"))
      : "",
  };
}

/** The service may repeat the person whom the action was about. */
function withoutPersons(text: string, data: Readonly<Record<string, unknown>>, verbose: boolean): string {
  if (verbose) return text;
  const persons = Object.entries(data).flatMap(([field, value]) =>
    isPersonal(field) && typeof value === "string" && value !== "" ? [value] : [],
  );
  return persons.reduce((said, person) => said.replaceAll(person, masked(person)), text);
}
