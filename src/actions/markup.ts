/** What was meant for a web page or a program, as a reader of that would see it. */

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
