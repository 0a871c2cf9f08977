/**
 * What a status in the service's own words may mean (docs/guarantees.md, "What an answer means"). A status that sounds like yes is no
 * rejection: what was rejected is sent again, and a double is worse than a doubt. Pure.
 */

import { distance } from "fastest-levenshtein";

/** Words by which an item may say that the service has the action: it is coming, has come, or was there before. */
const TAKEN_WORDS: ReadonlySet<string> = new Set([
  ...["success", "succeed", "succeeded", "ok", "okay", "yes", "true", "done", "partial", "partially"],
  ...["accepted", "acknowledged", "approved", "confirmed", "confirming", "received", "registered"],
  ...["pending", "scheduled", "processing", "processed", "inprogress", "progress", "ongoing", "waiting"],
  ...["queued", "queuing", "queueing", "enqueued", "requeued", "submitted", "broadcast", "broadcasted", "broadcasting"],
  ...["propagated", "propagating", "transmitted", "dispatched", "forwarded", "started", "running"],
  ...["complete", "completed", "executed", "finalized", "finalised", "finished", "handled", "committed"],
  ...["created", "creating", "added", "inserted", "imported", "ingested", "issued", "minted", "minting"],
  ...["inflight", "nobroadcastrequired", "settled", "mined", "onchain", "replayed", "passed", "valid", "sold"],
  ...["applied", "updated", "updating", "delivered", "posted", "published", "sent"],
  ...["persisted", "recorded", "saved", "stored", "written"],
  ...["duplicate", "duplicated", "duplicates", "exist", "exists", "existed", "existing"],
  ...["alreadyexists", "alreadyregistered"],
]);

/** What such a word may begin with where words are written as one: `successful`, `waitingfunds`; and end with: `ticketexists`. */
const TAKEN_PART = /^(?:success|waiting)|^(?!.*not|non|un).*exists$/;

/** Words that turn all of it: `not accepted`, `validation failed: event exists`, `must be registered`. */
const TURNING_WORDS: ReadonlySet<string> = new Set([
  ...["no", "not", "non", "un", "nor", "neither", "never", "none", "nothing", "without", "false"],
  ...["cannot", "cant", "couldnt", "didnt", "doesnt", "dont", "hasnt", "havent", "isnt", "wasnt", "werent", "wont"],
  ...["must", "should", "need", "needs", "require", "requires", "required", "expected", "missing"],
  ...["invalid", "incomplete", "unable", "unprocessable", "bad", "wrong", "illegal", "forbidden"],
  ...["aborted", "canceled", "cancelled", "discarded", "dropped", "expired", "reverted"],
]);

/** Those that say in themselves that the action was refused. */
const REFUSED_WORD = /^(?:fail|reject|refus|declin|denied$|errors?$|errored$|unsuccess)/;

const isTurning = (word: string): boolean =>
  TURNING_WORDS.has(word) || REFUSED_WORD.test(word) || (word.startsWith("un") && word.endsWith("ed"));

/** `sucess`, `succes`: no other word is that near. */
const isMisspelt = (word: string): boolean => Math.abs(word.length - 7) <= 1 && distance(word, "success") <= 1;

const isTakenWord = (word: string): boolean => TAKEN_WORDS.has(word) || TAKEN_PART.test(word) || isMisspelt(word);

/** Format and control characters, fillers and the blank of Braille; without those that are blanks to everybody. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Cc}\s]/gu;

/** What a person sees of a text; full-width letters become plain ones. */
export const visible = (text: string): string => text.normalize("NFKC").replace(INVISIBLE, "").trim();

/** Makes spellings equal: `alreadyExists`, `already_exists`, `Already exists.`. */
export function folded(text: string): string {
  // Most keys of most answers.
  if (/^[a-z]+$/i.test(text)) return text.toLowerCase();
  return visible(text)
    .replace(/[\s\p{P}\p{S}]/gu, "")
    .toLowerCase();
}

/** `eventExists`, `EVENT_EXISTS` and `Event exists!` are two words; `wasn't` is one. */
const wordsOf = (text: string): readonly string[] =>
  visible(text)
    .replace(/['’]/g, "")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** `without errors` turns nothing. */
const NO_ERROR = /(?<![^ ])(?:no|not|without|zero|0) (?:any )?(?:err|fail|reject)[^ ]*/g;

/** Words that some write as one: `in flight`, `already on chain`. */
const APART = /(?<![^ ])(in|on) (flight|chain)(?![^ ])/g;

/** `sold out` is a reason to reject. */
const SOLD_OUT = /(?<![^ ])sold out(?![^ ])/g;

/** `200`, `200 OK`, `HTTP/1.1 202 Accepted`. */
const HTTP_SUCCESS = /^(?:http (?:\d ){0,2})?2\d\d(?: |$)/;

/** What stands beside `unknown` where that is about the action: an unknown event is a reason to reject it. */
const OUTCOME_WORDS: ReadonlySet<string> = new Set(["unknown", "outcome", "result", "state", "status"]);

/** Whether a status may mean that the service has the action, or that it does not know. */
export function saysTaken(text: string): boolean {
  const words = wordsOf(text);
  const line = words.join(" ");
  if (/timeout|timed ?out/.test(line) || line === "time out") return true;
  if (words.includes("unknown") && words.every((word) => OUTCOME_WORDS.has(word))) return true;
  // `O.K.`, `re-queued`, `no_broadcast_required`.
  if (TAKEN_WORDS.has(folded(text))) return true;
  const parts = line.replace(NO_ERROR, "ok").replace(APART, "$1$2").replace(SOLD_OUT, "no").split(" ");
  return !parts.some(isTurning) && (HTTP_SUCCESS.test(line) || parts.some(isTakenWord));
}

/** Whether a text says that an action was refused, and nothing else: a ticket's own state may be `invalid`. */
export function isRefusal(text: string): boolean {
  const words = wordsOf(text);
  if (words.join(" ").search(NO_ERROR) !== -1) return false;
  return words.some((word) => REFUSED_WORD.test(word)) || (words[0] === "not" && words.slice(1).some(isTakenWord));
}
