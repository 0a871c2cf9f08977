/** What spreadsheets and scripts write in place of an id. */

import type { FieldName } from "./fields.ts";
import type { Finding } from "./problem.ts";

/** What spreadsheets make of long digits, what they write for a failed formula, and what scripts write for nothing. */
const MANGLED =
  /^(?:\d(?:[.,]\d+)?[Ee]\+\d+|\d+\.0|#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!)|#{2,}|N\/A|n\/a|NaN|nan|null|NULL|\(null\)|\\N|None|undefined|TRUE|True|true|FALSE|False|false|\[object Object\])$/;

/** What exports write where they know none: marks alone, or a word for it in whatever capitals. */
const UNKNOWN =
  /^(?:[-\u2010-\u2015\u2212._?*/\\\u2026]+|\(?(?:none|unknown|unbekannt|inconnue?|sconosciut[oa]|desconocid[oa]|desconhecid[oa]|onbekend|blank|empty)\)?|n\.?\/?a\.|k\.\s?a\.|not available)$/i;

/**
 * A spreadsheet keeps 15 digits of a number and makes zeros of the others. Of 16 digits that is one zero, with which every
 * tenth number ends: only two are told.
 */
const ROUNDED = /^[1-9]\d{13}\d?00+$/;

/** By which a cell is kept from being a number or a formula: `="007"`, `'007`; or quotes of an export that quotes twice. */
const GUARDED = /^(?:[='].*|".*")$/s;

/** What a script should have replaced. `%C3%BC` is text as URLs have it. */
const PLACEHOLDER = /\{\{[^{}]*\}\}|\$\{[^{}]*\}|(?<![\w%])%[A-Za-z_]\w*%(?![\w%])/;

export function looksMangled(value: string): boolean {
  return standsForNone(value) || holdsPlaceholder(value);
}

function standsForNone(value: string): boolean {
  // Almost every id fails one of these at once; the expression need not run for it.
  const last = value.charCodeAt(value.length - 1);
  const first = value.charCodeAt(0);
  const endsAsNumber = last >= 0x30 && last <= 0x39;
  if (first >= 0x30 && first <= 0x39)
    return endsAsNumber && ((/[+.]/.test(value) && MANGLED.test(value)) || (value.length > 15 && ROUNDED.test(value)));
  if (first === 0x23) return MANGLED.test(value);
  if (first === 0x27 || first === 0x3d || first === 0x22) return GUARDED.test(value);
  return !endsAsNumber && value.length <= "[object Object]".length && (MANGLED.test(value) || UNKNOWN.test(value));
}

const holdsPlaceholder = (value: string): boolean =>
  (value.includes("{") || value.includes("%")) && PLACEHOLDER.test(value);

/** @param column where the text stands, when it is only a part of the id. */
export function mangledId(field: FieldName, value: string, column?: string): Finding {
  const isPlaceholder = holdsPlaceholder(value);
  const by = !isPlaceholder && /^[\d#=']/.test(value) ? "spreadsheet" : "script";
  return {
    rule: "id-looks-mangled",
    field,
    ...(column === undefined && { pointer: `/data/${field}` }),
    value,
    message: `${column === undefined ? field : `${column}, a part of ${field},`} looks like what a ${by} writes in place of an id.`,
    hint: isPlaceholder ? HINTS.placeholder : GUARDED.test(value) ? hintOfGuard(value) : HINTS[by],
  };
}

const HINTS = {
  spreadsheet: "Export again, and don't open and save the file in a spreadsheet.",
  script: "See why the export has no value there.",
  placeholder: "See why the export has left the placeholder.",
} as const;

/** How the signs that would become a part of the id are taken off. */
function hintOfGuard(value: string): string {
  if (value.startsWith("="))
    return 'Export again without ="…", or take it off in the source by each with in and match (docs/mapping.md, "How a file is written").';
  if (value.startsWith('"')) return "Export again without putting cells in quotes twice.";
  const strip = /^'[=+\-@|%]/.test(value) ? ", or declare csv: {guards: strip} in its source" : "";
  return `Export again without the apostrophe${strip}.`;
}
