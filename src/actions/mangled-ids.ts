/** What spreadsheets and scripts write in place of an id. */

import type { FieldName } from "./fields.ts";
import type { Finding } from "./problem.ts";

/** What spreadsheets make of long digits, and scripts write for nothing. */
const MANGLED =
  /^(?:\d(?:[.,]\d+)?[Ee]\+\d+|\d+\.0|#{2,}|N\/A|n\/a|NaN|nan|null|NULL|\(null\)|\\N|None|undefined|TRUE|True|true|FALSE|False|false|\[object Object\])$/;

/** What spreadsheets write for a failed formula, in whatever language: `#REF!`, `#WERT!`, `#¿NOMBRE?`, `#NV`, `Err:502`. */
const FORMULA_ERROR = /^#(?:[¡¿]?\p{Lu}[\p{Lu}\d/]+[!?]|NV|N\/[ABD])$|^(?:Err|Fehler):5\d\d$/u;

/** Yes and no as a spreadsheet has them in German, French, Spanish, Italian, Portuguese and Dutch. */
const TRUTH = /^(?:WAHR|FALSCH|VRAI|FAUX|VERDADERO|FALSO|VERO|VERDADEIRO|WAAR|ONWAAR)$/;

/**
 * A long number as Java prints it, which has no `+` and always a fraction, from ten millions on. `12E34` and `1.5E3` may be
 * a code.
 */
const FLOATING = /^\d[.,]\d+E(?:[7-9]|[1-9]\d)$/;

/** Short names of months in English, German, French, Spanish and Italian, as a spreadsheet writes them: `JAN` is no such. */
const MONTH = oneOf(
  "jan feb mar apr may jun jul aug sep sept oct nov dec " +
    "jän mär mrz märz mai juni juli okt dez " +
    "janv févr mars avr juin juil août déc " +
    "ene abr ago dic gen mag giu lug set ott",
);
/** What a spreadsheet makes of `3-11` or `11/2003`: `03. Nov`, `3-Nov`, `Nov 03`, `Nov-03`. A code may begin with `set-`. */
const DATE = new RegExp(`^(?:(?:0?[1-9]|[12]\\d|3[01])(?:\\. ?|-)${MONTH}\\.?|(?![Ss]et)${MONTH}\\.?[ -]\\d\\d)$`);
const LONGEST_DATE = "31. sept.".length;

function oneOf(words: string): string {
  const either = words.split(" ").map((word) => `[${word.charAt(0).toUpperCase()}${word.charAt(0)}]${word.slice(1)}`);
  return `(?:${either.join("|")})`;
}

/** What exports write where they know none: marks alone, or a word for it in whatever capitals. */
const UNKNOWN =
  /^(?:[-\u2010-\u2015\u2212._?*/\\\u2026]+|\(?(?:none|unknown|unbekannt|inconnue?|sconosciut[oa]|desconocid[oa]|desconhecid[oa]|onbekend|blank|empty)\)?|n\.?\/?a\.|k\.\s?a\.|not available)$/i;

/**
 * A spreadsheet keeps 15 digits of a number and makes zeros of the others. Of 16 digits that is one zero, with which every
 * tenth number ends: only two are reported.
 */
const ROUNDED = /^[1-9]\d{13}\d?00+$/;

/** By which a cell is kept from being a number or a formula: `="007"`, `'007`; or quotes of an export that quotes twice. */
const GUARDED = /^(?:[='].*|".*")$/s;

/** What a script should have replaced. `%C3%BC` is text as URLs have it. */
const PLACEHOLDER = /\{\{[^{}]*\}\}|\$\{[^{}]*\}|(?<![\w%])%[A-Za-z_]\w*%(?![\w%])/;

export const looksMangled = (value: string): boolean => standsForNone(value) || holdsPlaceholder(value);

function standsForNone(value: string): boolean {
  // Almost every id fails one of these at once; the expression need not run for it.
  const last = value.charCodeAt(value.length - 1);
  const first = value.charCodeAt(0);
  const endsAsNumber = last >= 0x30 && last <= 0x39;
  if (first >= 0x30 && first <= 0x39) {
    if (!endsAsNumber) return isDate(value);
    return (
      (/[+.,]/.test(value) && (MANGLED.test(value) || FLOATING.test(value))) ||
      (value.length > 15 && ROUNDED.test(value))
    );
  }
  if (first === 0x23) return MANGLED.test(value) || isFormulaError(value);
  if (first === 0x27 || first === 0x3d || first === 0x22) return GUARDED.test(value);
  if (endsAsNumber) return isDate(value) || isFormulaError(value);
  return value.length <= "[object Object]".length && (MANGLED.test(value) || TRUTH.test(value) || UNKNOWN.test(value));
}

const isDate = (value: string): boolean => value.length <= LONGEST_DATE && DATE.test(value);

export const isFormulaError = (value: string): boolean => FORMULA_ERROR.test(value);

/** Whether a text that people are to read is nothing but what a spreadsheet or a script writes where it has none. */
export const standsForNoText = (value: string): boolean => isFormulaError(value) || NO_TEXT.test(value);

/** `None`, `N/A` and `TRUE` may be said of a ticket. */
const NO_TEXT = /^(?:NULL|null|\(null\)|\\N|NaN|nan|undefined|\[object Object\])$/;

const holdsPlaceholder = (value: string): boolean =>
  (value.includes("{") || value.includes("%")) && PLACEHOLDER.test(value);

/** @param column where the text stands, when it is only a part of the id. */
export function mangledId(field: FieldName, value: string, column?: string): Finding {
  const by = isOfSpreadsheet(value) ? "spreadsheet" : "script";
  return {
    rule: "id-looks-mangled",
    field,
    ...(column === undefined && { pointer: `/data/${field}` }),
    value,
    message: `${column === undefined ? field : `${column}, a part of ${field},`} looks like what a ${by} writes in place of an id.`,
    hint: hintOf(value, by),
  };
}

const isOfSpreadsheet = (value: string): boolean =>
  (/^[\d#=']/.test(value) && !FLOATING.test(value) && !holdsPlaceholder(value)) ||
  TRUTH.test(value) ||
  isDate(value) ||
  isFormulaError(value);

function hintOf(value: string, by: "spreadsheet" | "script"): string {
  if (holdsPlaceholder(value)) return HINTS.placeholder;
  if (GUARDED.test(value)) return hintOfGuard(value);
  return FLOATING.test(value) ? HINTS.floating : HINTS[by];
}

const HINTS = {
  spreadsheet: "Export again, and don't open and save the file in a spreadsheet.",
  script: "Check why the export has no value there.",
  floating: "Export the id as text: as a number it has lost digits.",
  placeholder: "Check why the export left the placeholder.",
} as const;

/** How the signs that would become a part of the id are taken off. */
function hintOfGuard(value: string): string {
  if (value.startsWith("="))
    return 'Export again without ="…", or take it off in the source by each with in and match (docs/mapping.md, "How a file is written").';
  if (value.startsWith('"')) return "Export again without putting cells in quotes twice.";
  const strip = /^'[=+\-@|%]/.test(value) ? ", or declare csv: {guards: strip} in its source" : "";
  return `Export again without the apostrophe${strip}.`;
}
