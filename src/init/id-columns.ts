/** Columns that may hold an id, and of what. */

import { isMoney } from "./amount-evidence.ts";
import { areMost, type ColumnProfile } from "./column-profile.ts";
import { minorUnitsIn, WORDS, wordsOf } from "./header-words.ts";
import { isTime } from "./time-evidence.ts";

/** Names of amounts, which may be whole numbers. */
const AMOUNT_NAME =
  /^(?:fees?|price|prices|total|subtotal|amount|paid|tax|vat|cost|discount|refund(?:ed)?|balance|gebuehr|gebuhr|preis|betrag|prix|montant|frais|prezzo|importo|precio|importe|preco|valor|prijs|bedrag)$/;

/** An id is short, and is not a time, an amount or an answer to a question. */
export function mayBeId(column: ColumnProfile): boolean {
  const { name } = column;
  if (isTime(column) || isMoney(column) || holdsLists(column)) return false;
  if (minorUnitsIn(name) !== undefined || wordsOf(name).some((word) => AMOUNT_NAME.test(word))) return false;
  if (name.includes("?") || wordsOf(name).length > 6) return false;
  return areMost(column, (text) => text.length <= 80 && !/[\n\r?]/.test(text) && !/^[$€£]|\d[.,]\d\d$/.test(text));
}

/** Whether cells hold several values each, with marks between them. */
export function holdsLists({ values }: ColumnProfile): boolean {
  let lists = 0;
  for (const text of values.keys())
    if (/^\[.*\]$|[^\s,;|]\s*[,;|]\s*[^\s,;|]/.test(text) && !/^-?\d+,\d+(?:E[+-]?\d+)?$/i.test(text)) lists += 1;
  return lists > 0 && lists * 20 >= values.size;
}

const ID_WORD =
  /^(?:n|num|numero|numer|codigo|codice|billet|biglietto|bilhete|ingresso|entrada|boleto|kenmerk|referencia|riferimento)$/;

const ORDER_NAME =
  /^(?:order|booking|reservation|purchase|bestellung|buchung|auftrag|reservierung|commande|ordine|prenotazione|pedido|reserva|encomenda|bestelling)$/;

/** Whether it may tell one order from another: by an id, or by a column that is only called like orders. */
export const isOrderName = (column: ColumnProfile): boolean =>
  isIdName(column) || ORDER_NAME.test(wordsOf(column.name).join(""));

export const isIdName = ({ name }: ColumnProfile): boolean =>
  wordsOf(name).some((word) => ID_WORD.test(word)) ||
  /(?:^|[^a-z])(?:ids?|no|nr)(?:[^a-z]|$)|[a-z]{3}nr(?:[^a-z]|$)|[a-z]I[dD](?:[^a-z]|$)|code|numm?er|#|\bref|reference|position|\bline|index|seat|platz/.test(
    name.replace(/\b[A-Z]+/g, (letters) => letters.toLowerCase()),
  );

/** Names of columns that hold the id of an event. A column that is only called Event may hold its title. */
export const EVENT_ID_NAME =
  /^(?:event|show|performance|veranstaltungs?)(?:id|slug|code|reference|ref|nummer|nr)$|^(?:id|code|codice|codigo)(?:de|do|del|dell|della|d|l)?(?:evenement|evento|spectacle|spettacolo|seance|espectaculo|espetaculo)$/;

const OTHER_IDS: ReadonlySet<string> = new Set([...WORDS.eventId.split(" "), ...WORDS.userId.split(" ")]);

/**
 * Whether its name says that it is the id of an event or a user, and so not of a ticket, even where it is different in every
 * row.
 */
export function isIdOfOther({ name }: ColumnProfile): boolean {
  const joined = wordsOf(name).join("");
  return OTHER_IDS.has(joined) || EVENT_ID_NAME.test(joined);
}

export function areUniqueTogether(
  one: ColumnProfile,
  other: ColumnProfile,
  rows: readonly (readonly string[])[],
): boolean {
  if (one.filled < one.rows || other.filled < other.rows || one.values.size * other.values.size < rows.length)
    return false;
  const seen = new Set(rows.map((cells) => JSON.stringify([cells[one.index], cells[other.index]])));
  return seen.size === rows.length;
}

export const holdsEmails = ({ values }: ColumnProfile): boolean =>
  [...values.keys()].every((text) => /^\S+@\S+$/.test(text));
