/** What spreadsheets, scripts and web pages write where there was another text. */

/** What spreadsheets write for a failed formula, in whatever language: `#REF!`, `#WERT!`, `#¿NOMBRE?`, `#NV`, `Err:502`. */
export const FORMULA_ERROR = String.raw`#[¡¿]?\p{Lu}[\p{Lu}\d/]+[!?]|#NV|#N\/A|Err:5\d\d`;
/** What programs write for no value, whatever kind of value it is. */
export const NO_VALUE = String.raw`NULL|null|\(null\)|\\N|NaN|nan|undefined|\[object Object\]`;
/** What may be said of a ticket, but names none; a mark alone stands for none in exports. */
const NO_ID = String.raw`N\/A|n\/a|None|TRUE|True|true|FALSE|False|false|[-\u2010-\u2015\u2212._?*/\\\u2026]+`;

/** What databases and programs write for no time: `0000-00-00 00:00:00`, `-0001-11-30`, `0001-01-01T00:00:00`, `01.01.1753`. */
export const NO_TIME = /^(?:-?000[01]-|(?:1753|1900)-01-01|1899-12-3[01]|0?1[./-]0?1[./-](?:0001|1753|1900))/;

/** What a script did not fill in; %C3%BC is text as URLs have it. */
export const PLACEHOLDER = /\{\{[^{}]*\}\}|\$\{[^{}]*\}|(?<![\w%])%[A-Za-z_]\w*%(?![\w%])/;

export const whole = (...forms: readonly string[]): RegExp => new RegExp(`^(?:${forms.join("|")})$`, "u");

const MANGLED: readonly { readonly form: RegExp; readonly by: string; readonly hint: string }[] = [
  {
    // 1.84E+10, 12345.0 and ####; a spreadsheet keeps 15 digits of a number and makes zeros of the others. Of 16 digits
    // that is one zero, with which every tenth number ends: only two are reported. 1,001 is a number with its thousands.
    form: whole(
      FORMULA_ERROR,
      String.raw`\d(?:[.,]\d+)?[Ee]\+\d+|\d+\.0|#{2,}|[1-9]\d{13}\d?00+|[1-9]\d{0,2}(?:,\d{3})+`,
    ),
    by: "spreadsheet",
    hint: "Export again, and don't open and save the file in a spreadsheet.",
  },
  {
    // 1-2 as the second of January.
    form: /^(?:0?[1-9]|[12]\d|3[01])(?:-|\. ?)(?:Jan|Feb|Mar|Mär|Mrz|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)\.?$/,
    by: "spreadsheet",
    hint: "Export again with the ids as text, and don't open and save the file in a spreadsheet.",
  },
  {
    // Signs that keep a cell from being a number or a formula: ="007", '007; or an export that quotes twice.
    form: /^(?:[='].*|".*")$/s,
    by: "spreadsheet",
    hint: "Export again without the signs around the id, or declare csv: {guards: strip} in its source for an apostrophe.",
  },
  {
    // A long number as Java prints it, from ten millions on. 1.5E3 may be a code.
    form: /^\d[.,]\d+E(?:[7-9]|[1-9]\d)$/,
    by: "script",
    hint: "Export the id as text: as a number it has lost digits.",
  },
  { form: whole(NO_VALUE, NO_ID), by: "script", hint: "Check why the export has no value there." },
  {
    form: PLACEHOLDER,
    by: "script",
    hint: "Check why the export left the placeholder.",
  },
  {
    form: /^\*[^*]+\*$/,
    by: "scanner",
    hint: "Asterisks begin and end a Code 39 barcode and are no part of the id. Export again without them.",
  },
];

/** Digits, `WAVE26-0001`, an e-mail address or a UUID: nearly every id is one of these, and none is mangled or needs an escape. */
const USUAL_ID = /^(?:\d{1,15}|[A-Za-z][A-Za-z_-]*\d[\w.@-]*|[A-Za-z][\w.+-]*@[\w.-]+|\d\w*-(?![A-Z][a-z]{2}$)[\w-]*)$/;

export const isUsualId = (id: string): boolean => USUAL_ID.test(id);

/** What spreadsheets and scripts write in place of an id: several tickets may share it, or no other export has it. */
export function mangled(id: string): { readonly what: string; readonly hint: string } | undefined {
  if (isUsualId(id)) return undefined;
  const found = MANGLED.find(({ form }) => form.test(id));
  if (found === undefined) return undefined;
  const what = `looks like what a ${found.by} writes in place of an id`;
  return { what, hint: found.hint };
}

// ---- markup ----

/** Ways of writing characters; a value may be decoded by each of them. */
export const CODINGS = ["html", "escapes"] as const;
export type Coding = (typeof CODINGS)[number];

/** As on a page, a number may lack its semicolon. */
const ENTITY = /&(?:#(\d{1,7}(?=;)|\d{3,7});?|#x([\da-f]{1,6});?|([a-z]{2,8}\d?);)/gi;
const TAG =
  /<\/?(?:a|b|big|code|del|em|font|i|img|ins|mark|s|script|small|span|strong|style|su[bp]|u)(?:\s[^<>]*)?\/?>|<!\[CDATA\[|\]\]>/gi;
/** Behind one of these a page begins a new line. */
const BREAK = /(?:\s*<\/?(?:br|center|div|h[1-6r]|li|ol|p|pre|t[dhr]|table|ul)(?:\s[^<>]*)?\/?>)+\s*/gi;
const ESCAPE = /\\(?:u([\da-f]{4})|(['"]))/gi;
const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", szlig: "ß", aelig: "æ", AElig: "Æ", oelig: "œ" },
    ...{ oslash: "ø", Oslash: "Ø", euro: "€", pound: "£", deg: "°", middot: "·", bull: "•", hellip: "…", trade: "™" },
    ...{ copy: "©", reg: "®", ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’", sbquo: "‚", ldquo: "“", rdquo: "”" },
    ...{ bdquo: "„", laquo: "«", raquo: "»", iexcl: "¡", iquest: "¿", sup2: "²", shy: "" },
  }),
);
/** `eacute` is an e with an acute accent. */
const MARKS: Readonly<Record<string, string>> = {
  ...{ acute: "\u0301", grave: "\u0300", circ: "\u0302", uml: "\u0308", tilde: "\u0303", ring: "\u030a" },
  ...{ cedil: "\u0327", caron: "\u030c" },
};

function characterOf(whole: string, decimal?: string, hex?: string, name = ""): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code);
  const mark = MARKS[name.slice(1)];
  return ENTITIES.get(name) ?? (mark === undefined ? whole : `${name[0]}${mark}`.normalize("NFC"));
}

/** The text as a reader of the page, or the program, would see it. */
export function decodeMarkup(text: string, coding: Coding): string {
  if (coding === "html") return text.replace(BREAK, " ").replace(TAG, "").replace(ENTITY, characterOf).trim();
  return text.replace(ESCAPE, (_whole, code, quote) => quote ?? String.fromCharCode(Number.parseInt(code, 16)));
}
