/** What is said of actions that are not sent for what was accepted before, or not yet. */

import { isDeepStrictEqual } from "node:util";
import {
  type ActionData,
  type ActionName,
  acceptedFields,
  actionSpec,
  type Effect,
  withArticle,
} from "../../actions/actions.ts";
import { isPersonal } from "../../actions/fields.ts";
import { parseJson, stringifyJson } from "../../actions/json.ts";
import type { Finding } from "../../actions/problem.ts";
import { cleanText, masked, utcText } from "../../actions/text.ts";
import { dependsOnInvalid, placeText, soldTwice } from "../../checks/row-findings.ts";
import { type AcceptedDeed, acceptedAt, acceptedData } from "../../ledger/deeds.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { runIdOf } from "../../ledger/runs.ts";
import { OPEN_ACTIONS_COLUMN, openActionText } from "../../mapping/open-actions.ts";
import type { Candidate } from "../candidates/candidates.ts";
import { lastCounts } from "../identity/history-of-candidate.ts";
import type { Detail, GivenPlace, InputLine } from "../identity/verdicts.ts";
import { differingFields } from "./changed-actions.ts";

/** Where the rows and the accepted actions that a finding names can be looked up. */
export interface KnownPlaces {
  readonly comparedWith: Ledger | undefined;
  readonly placeOf: (place: InputLine) => Cause;
  /** Whether a source of the config says what the rows of an input give, which may be more than one action. */
  readonly isOfSource: (input: number) => boolean;
}

type Cause = NonNullable<Finding["cause"]>;

/** Undefined where there is nothing to say: a repeated action is told once it is known that its first one is sent. */
export function findingOf(candidate: Candidate, detail: Detail, places: KnownPlaces): Finding | undefined {
  const { action } = candidate;
  const { about } = actionSpec(action);
  switch (detail.kind) {
    case "sent":
    case "repeated":
      return undefined;
    case "held":
      return heldBack(places.placeOf(detail.by));
    case "came back":
      return cameBack(candidate, detail, places);
    case "changed":
      return changed(candidate, detail.from, places);
    case "late":
    case "late in time":
    case "stood before":
      return late(candidate, detail, places);
    case "unplaced":
      return unplaced(action, detail, places);
    case "superseded":
      return {
        rule: "history-superseded",
        message: `${detail.isFromRejects ? "Its row was rejected, and the service" : "The service did not take it, and"} has accepted another ${action} of the same ${about} since${acceptedPlace(detail.since, places)}: ${sentNow(action, "that one")}.`,
        hint: allTheSame(true),
      };
    case "unclear":
      return unclear(action, detail, places);
    case "unclear of row":
      return {
        rule: "history-unclear",
        message: `Which ${action} of this row are new can't be told: some of them may be accepted ones that say something else now. Accepted under its key, and no more in the row: ${listed(detail.accepted.map((deed) => toldDeed(deed, places)))}. In the row, and not accepted: ${listed(detail.given.map((line) => toldLine(line, places)))}.`,
        hint: `Undo what was changed at the source. To send the new ones, stream this row alone with --again and their names in ${OPEN_ACTIONS_COLUMN}: this one is ${nameOf(candidate)}.`,
      };
    case "in two inputs":
    case "told otherwise in two inputs":
    case "backwards":
    case "of one minute":
    case "newest first":
    case "in two rows":
    case "turned":
      return unclearBeside(action, detail, placeText(places.placeOf(detail.other)));
    case "same minute":
      return {
        rule: "same-minute",
        message: `The same ${action} of this ${about}, of the same minute, stands at ${placeText(places.placeOf(detail.other))} too: each is sent.`,
        hint: "Remove the row if it is a copy of the other. Times with seconds tell deeds apart.",
      };
    case "told otherwise":
      return toldOtherwise(candidate, detail, places);
    case "beside told otherwise":
      return {
        rule: "history-unclear",
        message: `Whether this ${action} of this ${about} is later than what was accepted can't be told: times of this input are told otherwise than they were accepted, or lie in the same minute, of which one gives no seconds. Sent now, it may undo a later one.`,
        hint: "If the source's zone or format was changed, here or where the file comes from, put it back as it was. To send this one all the same, stream its row alone with --again.",
      };
    case "in two sources":
      return {
        rule: "history-unclear",
        message: `Another source says the same ${action} of this ${about}, ${saidElsewhere(detail, places)}: whether they are one deed or two can't be told.`,
        hint: "Remove the row if it is the same deed. If it is another one, stream it alone with --again.",
      };
    case "under another key":
      return {
        rule: "history-unclear",
        message: `The same ${action} of this ${about}, of the same second, was accepted under another key of its source${acceptedPlace(detail.accepted, places)}, and this input has no row with that key: whether they are one deed or two can't be told.`,
        hint: "If the key is written otherwise now (zeros in front, blanks, capitals, a number of the row), put it back at the source as it was. If it is another deed, stream its row alone with --again.",
      };
    case "key shared":
      return {
        rule: "key-shared",
        message: `The key of this row is that of another ${about}, ${owner(candidate, detail, places)}.`,
        hint: "Make the source's key one that no two tickets share.",
      };
    case "key of source":
      return {
        rule: "key-shared",
        message: `The key of this row is that of ${withArticle(action)} of the same ${about} from ${cleanText(detail.source, 100)}, which may be the same deed or another one.`,
        hint: "Make the sources' keys differ where they mean different deeds, such as by the source's name in front.",
      };
    case "key repeated":
      return {
        rule: "key-shared",
        message: `The key of this row is that of another ${action} of this ${about}, ${standsAt(candidate, detail.at, places)}, which says something else.`,
        hint: "Make the source's key one that no two rows share, or remove the row that is no longer right.",
      };
    case "sold twice":
      return soldTwice(candidate.data.ticketId ?? "", places.placeOf(detail.at));
  }
}

/** A scan undoes nothing, but its place in the order is lost. */
const sentNow = (action: ActionName, later: "that one" | "them"): string =>
  `sent now, it would ${lastCounts(action) ? "undo" : "come after"} ${later}`;

/** A new deed of which a later one was accepted. */
function late(
  candidate: Candidate,
  detail: Extract<Detail, { kind: "late" | "late in time" | "stood before" }>,
  places: KnownPlaces,
): Finding {
  const { action } = candidate;
  const { about } = actionSpec(action);
  switch (detail.kind) {
    case "late":
      return {
        rule: "history-late",
        message: `It was not accepted, but later ${action} actions of the same ${about} were, up to ${placeText(places.placeOf(detail.before))}: ${sentNow(action, "them")}.`,
        hint: allTheSame(candidate.nth > 0 || !candidate.untimed),
      };
    case "late in time":
      return {
        rule: "history-late",
        message: `It was not accepted, but ${withArticle(action)} of the same ${about} with a later orderTime${acceptedPlace(detail.than, places)} was: ${sentNow(action, "that one")}.`,
        hint: allTheSame(true),
      };
    case "stood before":
      return {
        rule: "history-late",
        message: `It was not accepted, but a later ${action} of the same ${about} was, which came after its row when that was rejected${acceptedPlace(detail.accepted, places)}: ${sentNow(action, "that one")}.`,
        hint: "Leave it unsent to keep the current state. To send it anyway, stream its row alone with --again.",
      };
  }
}

/** A deed that can't go beside another one of the same run. */
function unclearBeside(
  action: ActionName,
  detail: Extract<
    Detail,
    {
      kind:
        | "in two inputs"
        | "told otherwise in two inputs"
        | "backwards"
        | "of one minute"
        | "newest first"
        | "in two rows"
        | "turned";
    }
  >,
  other: string,
): Finding {
  const rule = "history-unclear";
  const { about } = actionSpec(action);
  switch (detail.kind) {
    case "in two inputs":
      return inTwoInputs(action, detail, other);
    case "told otherwise in two inputs":
      return {
        rule,
        message: `The ${action} of this ${about} at ${other} may be the same one with its time told otherwise: left out, without its seconds, or read in another zone. Whether they are one deed or two can't be told.`,
        hint: "Give one of the two files. If they are two deeds, stream the rows of one of them alone with --again.",
      };
    case "backwards":
      return {
        rule,
        message: `Another ${action} of this ${about} stands ${detail.stands} it, at ${other}, and its orderTime is ${detail.stands === "before" ? "later" : "earlier"}: sent in this order, the earlier one would come last.`,
        hint: "Send them in the order of their times with --order time. To send them as they stand here, stream them with --again.",
      };
    case "of one minute":
      return {
        rule,
        message: `Another ${action} of this ${about}, at ${other}, is of the same minute, and one of the two times has no seconds: which of them is the later one can't be told.`,
        hint: "Give both times their seconds. If they have them, stream the two rows alone with --again, the earlier one first.",
      };
    case "newest first":
      return {
        rule,
        message: `Another ${action} of this ${about}, at ${other}, has the same time, or one of the two has none, and the rows of this export go from the latest to the earliest: which of the two is the later one can't be told.`,
        hint: detail.isOtherAccepted
          ? "The other one was accepted. If this one is later, stream its row alone with --again. If it is earlier, leave it out: sent now, it would undo the other. In the export, let the other rows through with rules: {history-unclear: warn}."
          : "Export again from the earliest to the latest, or with times that have seconds. Or stream the two rows alone with --again, the earlier one first.",
      };
    case "in two rows":
      return {
        rule,
        message: `The same ${action} of this ${about}, of the same second, stands at ${other} too: whether they are one deed or two can't be told.`,
        hint: "Remove the row if it is a copy of the other. If they are two deeds, stream their rows alone with --again.",
      };
    case "turned":
      return turned(action, detail, other);
  }
}

function unclear(action: ActionName, detail: Unclear, places: KnownPlaces): Finding {
  const { about } = actionSpec(action);
  const accepted = listed(detail.accepted.map((deed) => toldDeed(deed, places)));
  const given = listed(detail.given.map((line) => toldLine(line, places)));
  const question =
    detail.why === "forms"
      ? `Whether this ${action} of this ${about} is another row's, rejected in another run, can't be told: the two may be one row in two forms.`
      : `Which ${action} actions of this ${about} were accepted can't be told, ${whyUnclear(detail)}.`;
  return {
    rule: "history-unclear",
    message: `${question}${detail.accepted.length === 0 ? "" : ` Accepted: ${accepted}.`} This input: ${given}.`,
    hint: remedyOfUnclear(detail),
  };
}

type Unclear = Extract<Detail, { kind: "unclear" }>;

const WHY_UNCLEAR: Readonly<Record<Exclude<Unclear["why"], "forms">, string>> = {
  repeats: "since equal ones repeat",
  times: "since times were added or removed",
  holder:
    "since one to the same user was accepted that says something else, such as another price, and the input lacks that one",
  rejected: "since a row that was rejected says just what was accepted",
  "before unclear": "since this one stands before others of which that can't be told",
};

function whyUnclear({ isCut, why }: Unclear): string {
  return why === "forms" || (isCut && why !== "holder") ? "since --limit leaves rows out" : WHY_UNCLEAR[why];
}

function remedyOfUnclear({ isCut, why }: Unclear): string {
  if (why === "forms")
    return "Remove the row that is no longer right. If both are right, stream them with --again in a file of their own.";
  if (isCut) return "Stream the file without --limit.";
  const others = "let the other rows through with rules: {history-unclear: warn}";
  return why === "holder"
    ? `Undo what was changed at the source, or ${others}. If it is a new one, stream its row alone with --again.`
    : `To send the rows that are new and later than all that was accepted, stream them in a file of their own with --again. In the export, ${others}.`;
}

/** Of a row that was rejected, where nobody can tell where it stands beside what was accepted. */
function unplaced(
  action: ActionName,
  { why, accepted }: Extract<Detail, { kind: "unplaced" }>,
  places: KnownPlaces,
): Finding {
  if (why === "unknown row") return ofUnknownRow(action, accepted, places);
  const { about } = actionSpec(action);
  const told = `Accepted: ${listed(accepted.map((deed) => toldDeed(deed, places)))}.`;
  if (why === "undecided")
    return {
      rule: "history-unclear",
      message: `When its row was rejected, its place among the accepted ${action} of this ${about} could not be told: sent now, it may undo a later one. ${told}`,
      hint: "If it is later than all of these, stream it alone with --again. If not, remove it.",
    };
  return {
    rule: "history-unclear",
    message: `Its row did not name this ${about} when it was rejected, so it can't be told whether it comes before or after what was accepted of it. ${told}`,
    hint: `Mend the row at the source, and stream the whole export, which shows where it stands. If it is later than all of these, stream it alone with --again.`,
  };
}

/** Of a row from a rejects file of another ledger. Scans without a time all say the same: how many there are counts, not their order. */
function ofUnknownRow(action: ActionName, accepted: readonly AcceptedDeed[], places: KnownPlaces): Finding {
  const { about } = actionSpec(action);
  const [question, answer] = lastCounts(action)
    ? [`whether it comes before or after what was accepted of this ${about}`, "it is later than all of these"]
    : [`whether it is one of the ${action} that were accepted of this ${about}`, "it is none of these"];
  return {
    rule: "history-unclear",
    message: `This environment's ledger does not know the rejects file that its row comes from (it was lost since, or put back, or the rejects are another environment's), so ${question} can't be told. Accepted: ${listed(accepted.map((deed) => toldDeed(deed, places)))}.`,
    hint: `Mend the row at the source, and stream the whole export, which shows ${lastCounts(action) ? "where it stands" : "how many there are"}. If ${answer}, stream it alone with --again.`,
  };
}

/** A deed that overlapping exports may give twice. */
function inTwoInputs(
  action: ActionName,
  { isSame }: Extract<Detail, { kind: "in two inputs" }>,
  other: string,
): Finding {
  const { about } = actionSpec(action);
  const both = isSame
    ? `The same ${action} of this ${about}, with the same orderTime, stands at ${other} too`
    : `Another ${action} of this ${about}, with the same orderTime, stands at ${other} and says something else`;
  return {
    rule: "history-unclear",
    message: `${both}: whether they are one deed or two can't be told.`,
    hint: "Give one of the two files, or give the source a key that tells deeds apart. If it is another deed, stream its row alone with --again.",
  };
}

/** A deed that may be an accepted one, read in another zone or without its seconds. */
function toldOtherwise(
  candidate: Candidate,
  { accepted, isCutShort }: Extract<Detail, { kind: "told otherwise" }>,
  places: KnownPlaces,
): Finding {
  const { action } = candidate;
  const { about } = actionSpec(action);
  const before = dataOf(accepted, places).orderTime;
  const now = candidate.data.orderTime;
  const others = differences(candidate, accepted, places).filter(({ field }) => field !== "orderTime");
  const beside = others.length === 0 ? "the same otherwise" : others.map(({ text }) => text).join(", ");
  return {
    rule: "history-unclear",
    message: `It may be the ${action} of this ${about} that was accepted with the orderTime ${timeText(before)}${acceptedPlace(accepted, places)}, ${isCutShort ? "with or without its seconds" : "read in another zone"}: this one says ${timeText(now)}, and ${beside}.`,
    hint: `If the source's ${isCutShort ? "format" : "zone or format"} was changed, here or where the file comes from, put it back as it was, or let the other rows through with rules: {history-unclear: warn}. If it is a new one, stream its row alone with --again.`,
  };
}

function timeText(orderTime: unknown): string {
  const asDate = utcText(Number(orderTime));
  return asDate === undefined ? `${orderTime}` : `${orderTime} (${asDate})`;
}

/** A row of a rejects file that has changed places with another one. */
function turned(action: ActionName, { stood }: Extract<Detail, { kind: "turned" }>, other: string): Finding {
  const { about } = actionSpec(action);
  if (stood === "unknown")
    return {
      rule: "history-unclear",
      message: `No run had both it and ${other} (${action} of the same ${about}) among its rejects, so which of them is the later one can't be told: sent in the wrong order, the earlier one would come last.`,
      hint: "Stream the export again: the rejects of that run have them in order. Or stream the two rows alone with --again, the earlier one first.",
    };
  return {
    rule: "history-unclear",
    message: `In the run that rejected both, it stood ${stood} ${other} (${action} of the same ${about}), and here it stands on the other side of it: sent in this order, the earlier one would come last.`,
    hint: "Put the rows back in the order of the run, and name files in its order; with --order time, where that run had it. To send them as they stand here, stream them with --again.",
  };
}

/** A row that waits for one that is invalid. */
export function heldBack(cause: Cause): Finding {
  return { rule: "depends-on-invalid", ...dependsOnInvalid(cause) };
}

/** A row that says what was accepted before, without the one that was accepted since. */
function cameBack(
  candidate: Candidate,
  { was, since }: Extract<Detail, { kind: "came back" }>,
  places: KnownPlaces,
): Finding {
  const { action } = candidate;
  const { about } = actionSpec(action);
  return {
    rule: "state-came-back",
    message: `It says what was accepted before${acceptedPlace(was, places)}, so it is not sent. But another ${action} of this ${about} was accepted later${acceptedIn(since, places)}, and this input lacks that one.`,
    hint: `If the ${about} is back to what this row says, stream the row alone with --again. ${acceptedFields(action).includes("orderTime") ? "A time in such rows" : "A key of the source that changes with each change"} tells it by itself.`,
  };
}

function changed(candidate: Candidate, deed: AcceptedDeed, places: KnownPlaces): Finding {
  const { action, nth } = candidate;
  const isOneOfMany = nth > 0 && actionSpec(action).identity !== "once";
  const values = differences(candidate, deed, places).map(({ text }) => text);
  return {
    rule: "changed",
    message: `It was accepted with other content and is not sent again${values.length === 0 ? "" : `: ${values.join(", ")}`}.`,
    hint: isOneOfMany ? OTHER_DEED : REMEDY[actionSpec(action).effect],
  };
}

/** What the candidate says otherwise than the accepted deed. */
function differences(
  candidate: Candidate,
  deed: AcceptedDeed,
  { comparedWith }: KnownPlaces,
): readonly { readonly field: string; readonly text: string }[] {
  const { before, now } = comparedWith === undefined ? NOTHING : differingFields(comparedWith, deed, candidate);
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return fields.map((field) => ({ field, text: `${field} ${shown(field, before)} → ${shown(field, now)}` }));
}

const nameOf = ({ action, nth }: Candidate): string => openActionText(action, nth);

const NOTHING = { before: {}, now: {} } as const;

const OTHER_DEED = "If it is another deed, stream its row alone with --again. If not, correct it at the source.";

const allTheSame = (needsAgain: boolean): string =>
  `Leave it unsent to keep the current state. To send it anyway, stream its row alone${needsAgain ? " with --again" : ""}.`;

const REMEDY: Readonly<Record<Effect, string>> = {
  "register-event": "To change the event, send an updateEvent. If the new value is wrong, correct it at the source.",
  "sell-ticket":
    "To change the ticket, send an updateTicket or a resoldTicket. If the new value is wrong, correct it at the source.",
  "change-event": OTHER_DEED,
  "change-ticket": OTHER_DEED,
  "resell-ticket": OTHER_DEED,
  "scan-ticket": OTHER_DEED,
  "check-in-ticket": OTHER_DEED,
  "claim-ticket": OTHER_DEED,
  "invalidate-ticket": OTHER_DEED,
};

function shown(field: string, data: Readonly<Record<string, unknown>>): string {
  const value = data[field];
  if (value === undefined) return "(none)";
  const text = typeof value === "string" ? value : stringifyJson(value);
  return isPersonal(field) ? masked(text) : cleanText(text, 60);
}

const IDS: ReadonlySet<string> = new Set(["eventId", "ticketId", "nftId"]);
const LISTED = 4;

interface ToldContent {
  readonly data: ActionData;
  /** " (file:line)". */
  readonly place: string;
}

/** Contents in few words, without the ids that they share. Where only what is masked differs, their places tell them apart. */
function listed(contents: readonly ToldContent[]): string {
  const told = contents.slice(-LISTED).map((each) => ({ ...each, text: inWords(each.data) }));
  const texts = told.map(({ data, place, text }) => {
    const looksLikeAnother = told.some((other) => other.text === text && !isDeepStrictEqual(other.data, data));
    if (looksLikeAnother) return `${inWords(data, (field) => !isPersonal(field))}${place}`.trim();
    return text === "" ? "(without content)" : text;
  });
  return `${contents.length > LISTED ? "… " : ""}${texts.join("; ")}`;
}

const inWords = (data: ActionData, isTold: (field: string) => boolean = () => true): string =>
  Object.keys(data)
    .filter((field) => !IDS.has(field) && isTold(field))
    .map((field) => `${field} ${shown(field, data)}`)
    .join(" and ");

const toldDeed = (deed: AcceptedDeed, places: KnownPlaces): ToldContent => ({
  data: dataOf(deed, places),
  place: acceptedPlace(deed, places),
});

const toldLine = (line: GivenPlace, places: KnownPlaces): ToldContent => ({
  data: line.data,
  place: ` (${placeText(places.placeOf(line))})`,
});

function dataOf(deed: AcceptedDeed, { comparedWith }: KnownPlaces): ActionData {
  const text = comparedWith === undefined ? undefined : acceptedData(comparedWith, deed);
  return text === undefined ? {} : (parseJson(text) as ActionData); // written by the sender
}

function acceptedPlace(deed: AcceptedDeed, { comparedWith }: KnownPlaces): string {
  const at = comparedWith && acceptedAt(comparedWith, deed);
  return at === undefined ? "" : ` (${placeText(at)})`;
}

/** The same with its run, which tells a later acceptance from this one where both came from one line. */
function acceptedIn(deed: AcceptedDeed, { comparedWith }: KnownPlaces): string {
  const at = comparedWith && acceptedAt(comparedWith, deed);
  return comparedWith === undefined || at === undefined
    ? ""
    : ` (run ${runIdOf(comparedWith, deed.runNo)}, ${placeText(at)})`;
}

function saidElsewhere(
  { accepted: deed, at }: Extract<Detail, { kind: "in two sources" }>,
  places: KnownPlaces,
): string {
  if (at !== undefined) return `at ${placeText(places.placeOf(at))}`;
  return `which was accepted${deed === undefined ? "" : acceptedPlace(deed, places)}`;
}

/** A row may give several actions. */
const standsAt = ({ input, line }: Candidate, at: InputLine, places: KnownPlaces): string =>
  at.input === input && at.line === line ? "in the same row" : `at ${placeText(places.placeOf(at))}`;

function owner(
  candidate: Candidate,
  { accepted: deed, at }: Extract<Detail, { kind: "key shared" }>,
  places: KnownPlaces,
): string {
  if (deed === undefined) return at === undefined ? "in this input" : standsAt(candidate, at, places);
  const { ticketId, nftId, eventId } = dataOf(deed, places);
  return `"${cleanText(String(ticketId ?? nftId ?? eventId), 60)}", which was accepted under it${acceptedPlace(deed, places)}`;
}
