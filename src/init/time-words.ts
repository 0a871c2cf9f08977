/** What a time is the time of, by the name of its column or file. */

import { isMadeOf, runsOf, says, WORDS, wordsOf } from "./header-words.ts";

/**
 * What a time is of, by the name of its column: a sale, an entry, the loss of a ticket, a claim, a resale, `other` for what
 * happens to no ticket (the event's start, a birth, a validity, a print), `any` for a name that says no more than "time".
 */
export type TimeKind = "sale" | "entry" | "loss" | "claim" | "resale" | "other" | "any";

const whole = (words: string): RegExp =>
  new RegExp(`^(?:${words})(?:date|datetime|time|timestamp|at|on|from|datum|zeit|tag)?$`);
const OTHER_TIME = [
  whole(
    "starts?|starting|begins?|beginn|beginning|debut|inizio|inicio|aanvang|ends?|ending|ende|fin|fine|fim|einde|" +
      "until|till|bis|hasta|jusque?|jusquau|tot|doors?|opens?|opening|opened|closes?|closing|closed",
  ),
  whole(
    "valid(?:ity|until|to|thru|till)?|gultig(?:keit)?|gueltig(?:keit)?|validite|validita|validez|validade|geldig|" +
      "geldigheid|due|deadline|dob|born|geboren",
  ),
  whole(
    "changed?|edited|edit|printed|prints?|gedruckt|afgedrukt|generated|generation|reports?|seen|login|logon|" +
      "visit(?:ed)?|sent|sync(?:ed)?|payout|reminder|reminded|consent|presale|onsale|departure|travel|pickup",
  ),
  /^(?:expir|ablauf|scaden|caduc|vencim|verloop|birth|geburt|naissance|nascit|nacim|nascim|geboort|updat|lastupdat|lastmodif|lastchang|lastseen|modif|geander|geaender|anderung|aenderung|aktualis|aggiorna|actualiz|atualiz|gewijzigd|bijgewerkt|export|geexport|esporta|download|druck|imprim|impress|stampa(?:t|$)|deliver|shipp|archiv|import(?!e))/,
  /^(?:event|show|concert|konzert|veranstaltungs?)(?:start|begin|end|ende|door|open)/,
];
const EVENT_WORD = whole(
  "events?|shows?|performance|concert|konzert|gig|session|festival|match|game|veranstaltung|veranstaltungs|" +
    "vorstellung|vorstellungs|auffuhrung|evenement|spectacle|seance|representation|manifestation|evento|spettacolo|" +
    "rappresentazione|espectaculo|funcion|sesion|voorstelling|espetaculo|sessao",
);
const ACTION_TIMES: readonly (readonly [TimeKind, RegExp])[] = [
  [
    "entry",
    /^(?:scan|escan|gescan|check(?:ed|in|edin|ins|out)?$|checkedin|checkin|arriv|admit|admission|entry|entered|entrance|entree|entrata|einlass|eingang|eingecheckt|zutritt|entwertet|ingecheckt|toegang|access|acces|acceso|ingresso|entrada|redeem|used|validat)/,
  ],
  [
    "loss",
    /^(?:cancel|refund|void|invalid|revok|revoc|storn|annul|anul|rimbors|rembours|reembols|estorn|erstatt|ruckerstatt|geannul|terugbetaal|chargeback|charged(?:back)?$|deleted)/,
  ],
  ["claim", /^(?:claim|mint(?:ed)?$)/],
  ["resale", /^(?:resold|resale|resell|swap|transfer|weiterverk|revent|revend|rivend|doorverk)/],
];
const ANY_TIME: ReadonlySet<string> = new Set(
  (
    "createdat createdtime createddate createdon creationdate created datecreated datetime timestamp date time " +
    "datum fecha data zeitpunkt uhrzeit zeit heure hora ora tijd when moment at " +
    "recordedat loggedat occurredat happenedat datumuhrzeit dateandtime dateheure fechahora fechayhora dataora " +
    "datahora erstelltam angelegtam"
  ).split(" "),
);
const SALE_TIMES: ReadonlySet<string> = new Set(WORDS.orderTime.split(" ").filter((word) => !ANY_TIME.has(word)));
/** `ts`, `unixtime`: a time by whatever it is counted in. */
const COUNTED_TIME = /^(?:ts|(?:unix|epoch|posix)(?:ts|time|timestamp|date|seconds|secs?|ms|millis)?)$/;
/** What a name of a time says beside it: of `timestamp_ms (UTC)` the timestamp is left. */
const TIME_NOTE = /^(?:utc|gmt|local|lokal|secs?|seconds|sekunden|ms|msecs?|millis|milliseconds)$/;

export function timeKindOf(name: string): TimeKind | undefined {
  const words = wordsOf(name);
  if (words.some((word) => OTHER_TIME.some((pattern) => pattern.test(word)))) return "other";
  const [first, ...more] = ACTION_TIMES.filter(([, pattern]) => words.some((word) => pattern.test(word)));
  if (first !== undefined) return more.length === 0 ? first[0] : undefined;
  const isOfEvent = words.some((word) => EVENT_WORD.test(word));
  // `created_unix_ts (ms)` is a created time.
  const plain = words
    .filter((word) => !TIME_NOTE.test(word))
    .map((word) => (COUNTED_TIME.test(word) ? "time" : word))
    .filter((word, at, all) => word !== "time" || !/^(?:time|timestamp|date)$/.test(all[at + 1] ?? ""));
  if ([...runsOf(name), ...runsOf(plain.join(" "))].some((run) => SALE_TIMES.has(run) || isMadeOf("orderTime", run)))
    return isOfEvent ? undefined : "sale";
  if (isOfEvent) return "other";
  return ANY_TIME.has(plain.join("")) ? "any" : undefined;
}

/** Whether a column of this name holds times, and not only what else there is of an entry or a resale: `Entry gate` does not. */
export function namesTime(name: string): boolean {
  const kind = timeKindOf(name);
  return kind === "sale" || kind === "any" || (kind !== undefined && says(name, "time"));
}

const saysTime = (words: readonly string[], kind: TimeKind): boolean =>
  ACTION_TIMES.some(([known, pattern]) => known === kind && words.some((word) => pattern.test(word)));

/** Whether a column of this name tells that a ticket is void, refunded or the like; `Refundable` does not. */
export const namesLoss = (name: string): boolean =>
  saysTime(
    wordsOf(name).filter((word) => !/(?:able|ible|bar|baar|abile|avel)$/.test(word)),
    "loss",
  );

/** What a file holds by a word in its name that is not a prefix of the convention: `2026-05 cancellations.csv`. */
export function actionInFileName(fileName: string): "invalidatedTicket" | "resoldTicket" | "claimedTicket" | undefined {
  const words = wordsOf(fileName.replace(/\..*$/, ""));
  if (saysTime(words, "loss")) return "invalidatedTicket";
  if (saysTime(words, "resale")) return "resoldTicket";
  return saysTime(words, "claim") ? "claimedTicket" : undefined;
}
