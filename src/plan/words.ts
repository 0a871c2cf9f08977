/** What is said of an action beside what was accepted before, or for what it waits. */

import { type ActionName, actionSpec } from "../actions/actions.ts";
import { isPersonal } from "../actions/fields.ts";
import { saysTheSame } from "../actions/identity.ts";
import { parseJson } from "../actions/json.ts";
import { about, type Problem, type SourceLine } from "../actions/problem.ts";
import type { KnownAction, Ledger } from "../ledger/ledger.ts";
import { placeText } from "../read/file-names.ts";
import { cleanText, masked, quoted, utcText } from "../text.ts";
import type { EventState } from "./events.ts";
import type { RowsRead } from "./rows-read.ts";
import type { Item } from "./verdicts.ts";

/** The data of an accepted action, where it can still be read. */
export type Accepted = (action: KnownAction) => Promise<Data | undefined>;
type Data = Readonly<Record<string, unknown>>;

/** What is said of an action that is changed, late or unclear. What is held is reported once all that is held is known. */
export async function problemOf(item: Item, read: RowsRead, accepted: Accepted): Promise<Problem> {
  const { verdict, why, kind } = item;
  const rule = verdict === "unclear" && why === "times-fall" ? why : verdict;
  const said =
    verdict === "changed" ? await changed(item, read, accepted) : verdict === "late" ? late(item) : unclear(item, read);
  return { rule, action: kind, ...said };
}

type Said = Pick<Problem, "message" | "hint">;

const aboutOf = ({ kind }: Item): string => actionSpec(kind).about;

const isAccepted = (other: Item["other"]): other is KnownAction => other !== undefined && "runId" in other;

/** ` (run 1a2b3c4d)`, or nothing where it stands in this input. */
const inRun = (other: Item["other"]): string => (isAccepted(other) ? ` (run ${other.runId})` : "");

/** When an accepted one was; undefined where that is not known. */
function timeText(other: Item["other"]): string | undefined {
  if (!isAccepted(other) || other.time === undefined) return undefined;
  return utcText(Number(other.time)) ?? String(other.time);
}

const RESEND = "To send it all the same, stream its row alone with --resend.";
const EITHER = "If it is new, stream its row alone with --resend; if it is known, with --adopt.";

async function changed(item: Item, read: RowsRead, accepted: Accepted): Promise<Said> {
  const values = await differences(item, read, accepted);
  const shownValues = values.length === 0 ? "" : `: ${values.join(", ")}`;
  const { other, kind } = item;
  if (other !== undefined && !isAccepted(other))
    return {
      message: `${placeText(read.lineOf(other.row))} has the same ${kind} with other content; it is not sent twice${shownValues}.`,
      hint: kind === "checkedInTicket" ? `Remove the outdated row. ${REENTRY}` : "Remove the outdated row.",
    };
  return {
    message: `It was accepted with other content and is not sent again${shownValues}.`,
    hint: REMEDY[kind] ?? OTHER,
  };
}

const OTHER = "If it is another one, give it a time or a key of its own, or stream its row alone with --resend.";

export const REENTRY = "Where people enter more than once, make each entry a scannedTicket.";

const REMEDY: Partial<Readonly<Record<ActionName, string>>> = {
  newEvent:
    "If the new value is right, send it as an updateEvent and record this row with --adopt, alone in a file named like its export. If it is wrong, correct it at the source.",
  soldTicket:
    "An updateTicket changes imageUrl, mediaUrl and metadataAttributes, a resoldTicket the holder; nothing changes the price or time of a sale. If the new value is right, record this row with --adopt, alone in a file named like its export (the service keeps the old one), or invalidate the ticket and sell it under another ticketId. If it is wrong, correct it at the source.",
  checkedInTicket: REENTRY,
};

function late(item: Item): Said {
  const { kind, other, time } = item;
  const then = time === undefined ? undefined : timeText(other);
  const which = then === undefined ? `A later ${kind}` : `The ${kind} of ${then}`;
  return {
    message: `${which} of the same ${aboutOf(item)} was accepted${inRun(other)}. Sending this one now would undo that.`,
    hint: `Leave it unsent to keep the current state. ${RESEND}`,
  };
}

const MARKED: Readonly<Record<string, string>> = {
  t: "its time",
  k: "its key",
  c: "its content",
  w: "its wallet",
  u: "its userId",
};

const markText = (mark = ""): string => MARKED[mark.charAt(0)] ?? "nothing";

function unclear(item: Item, read: RowsRead): Said {
  const { kind, other, why, mark } = item;
  const of = `${kind} of this ${aboutOf(item)}`;
  const run = inRun(other);
  switch (why) {
    case "times-fall": {
      const where = other === undefined || isAccepted(other) ? "another row" : placeText(read.lineOf(other.row));
      return {
        message: `It is older than the ${kind} of the same ${aboutOf(item)} at ${where}, which comes first. Sent in this order, the older one would win.`,
        hint: "Use --order time.",
      };
    }
    case "other-mark":
      return {
        message: `The ${of} accepted${run} is known by ${markText(other?.mark)}, this one by ${markText(mark)}, so they can't be compared.`,
        hint: `Restore the time or key column that was added or removed. ${EITHER}`,
      };
    case "cut":
      return {
        message: `Another ${of} was accepted${run}, and --limit hides which of the two comes later.`,
        hint: "Stream the whole input.",
      };
    case "left":
      return {
        message: "It was unclear before, and its row in the rejects is unchanged.",
        hint: `Correct the row. ${EITHER}`,
      };
    case "missing": {
      const time = timeText(other);
      return {
        message: `An accepted ${of}${time === undefined ? "" : `, with the time ${time},`}${run} is missing from this input: this may be the same one with a corrected time.`,
        hint: `Correct the invalid rows of this ${aboutOf(item)} first, where there are any. ${EITHER}`,
      };
    }
    case "unknown-run":
      return {
        message: `Its rejects file comes from a run that this ledger does not know, and another ${of} was accepted${run}, so the later of the two is unknown.`,
        hint: `Stream rejects with the environment that they were written for. ${EITHER}`,
      };
    default:
      return {
        message: `It repeats ${isAccepted(other) ? "what was accepted before" : "an earlier row"}, with another ${kind} in between${run}, so it may or may not be new.`,
        hint: `Give such rows a time or their source a key. ${EITHER}`,
      };
  }
}

/** What the action says otherwise than the one that it is judged against, masked where it is personal. */
async function differences(item: Item, read: RowsRead, accepted: Accepted): Promise<readonly string[]> {
  const { other } = item;
  const before = other === undefined ? undefined : isAccepted(other) ? await accepted(other) : read.dataOf(other.seq);
  if (before === undefined) return [];
  const now = read.dataOf(item.seq);
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => !saysTheSame(name, before[name] ?? undefined, now[name] ?? undefined))
    .map((name) => `${name} ${shown(name, before)} → ${shown(name, now)}`);
}

/** Values that were accepted are shown of so many; each may take a request of the ledger to unpack. */
const MOST_ACCEPTED = 500;

/** Reads what was accepted out of the requests that the ledger keeps; the last one stays in memory. */
export function acceptedData(ledger: Pick<Ledger, "body"> | undefined): Accepted {
  let last: { readonly chunk: string; readonly actions: readonly { readonly data: Data }[] } | undefined;
  let asked = 0;
  return async ({ run, chunk, place }) => {
    if (ledger === undefined || chunk === undefined || place === undefined || asked >= MOST_ACCEPTED) return undefined;
    const name = `${run} ${chunk}`;
    if (last?.chunk !== name) {
      asked += 1;
      const body = await ledger.body(run, chunk);
      if (body === undefined) return undefined;
      const actions = parseJson(Buffer.from(body).toString("utf8")) as readonly { readonly data: Data }[]; // by chunks.ts
      last = { chunk: name, actions };
    }
    return last.actions[place]?.data;
  };
}

function shown(field: string, data: Data): string {
  const value = data[field];
  if (value === undefined || value === null) return "(none)";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return isPersonal(field) ? masked(text) : cleanText(text, 60);
}

/** About an event that nothing registers, as far as is known: once. */
export function unknownEvent(id: string, hasEnvironment: boolean, isOfSource: boolean): Problem {
  const check = hasEnvironment
    ? "Set complete: true in the environment if all of its events were registered from here."
    : "Add --env NAME to check against what it has accepted.";
  return {
    rule: "event-not-registered",
    ...about("eventId", id),
    message: `Event ${idText(id)} is not known here; it may have been registered elsewhere.`,
    hint: isOfSource ? `${check} To register it from here, add ${NEW_EVENT}.` : check,
  };
}

/** About an event that nothing registers, or only what stands later in the input. */
export function closedEvent({ id, registered }: EventState, isOfSource: boolean): Problem {
  const isLater = registered !== undefined;
  const says = isLater ? "only later in this input" : "neither in this environment nor earlier in this input";
  const where = isOfSource ? `: ${NEW_EVENT}` : ", in a row or a file of its own";
  return {
    rule: "event-not-registered",
    ...about("eventId", id),
    message: `Event ${idText(id)} is registered ${says}.`,
    hint: `Put its newEvent before its tickets${isLater ? ", or use --order time" : where}.`,
  };
}

/** How the source of a row gives its event. */
const NEW_EVENT = "newEvent: {fields: {currency: EUR}} as the first action of its source";

/** A row that waits for one that is bad. */
export function dependsOnBad(subject: string, cause: SourceLine): Problem {
  return {
    rule: "depends-on-invalid",
    ...about(fieldOf(subject), subject.slice(2)),
    message: dependsText(cause),
    hint: "Fix that row.",
    cause,
  };
}

export const dependsText = (cause: SourceLine): string =>
  `It depends on ${placeText(cause)}, which is invalid and not sent.`;

/** What a subject is the value of. */
export const fieldOf = (subject: string): "ticketId" | "nftId" | "eventId" => FIELDS[subject.charAt(0)] ?? "eventId";

const FIELDS: Readonly<Record<string, ReturnType<typeof fieldOf>>> = { t: "ticketId", n: "nftId" };

/** An id that is written almost like another one. */
export function nearAnother(subject: string, other: string, where: string): Problem {
  const [id, otherId] = [subject.slice(2), other.slice(2)];
  const field = fieldOf(subject);
  const difference =
    PLAIN.test(id) && PLAIN.test(otherId)
      ? "zeros in front or decimals of a number"
      : "blanks, hyphens or the Unicode form of characters";
  return {
    rule: "id-near-another",
    ...about(field, id),
    message: `${exactly(id)} differs from ${exactly(otherId)}, which ${where}, only in how it is written: ${difference}.`,
    hint: `Make the export write it the same way, and don't open and save the file in a spreadsheet. If it is another ${field === "eventId" ? "event, stream the row of its newEvent" : "ticket, stream its row"} alone with rules: {id-near-another: warn} in the config.`,
  };
}

const PLAIN = /^[!-~]*$/;

/** With escapes for what people can't tell apart: six characters for one, and never less of the id than an id may have. */
const exactly = (id: string): string =>
  `"${cleanText(
    id.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    6 * 255,
  )}"`;

/** An id within a sentence. */
export const idText = (id: string): string => quoted(id, 60);
