/** What is likely wrong in a text that the service would take: something was lost, misread or left behind before it came here. */

import type { Flaw } from "./kind.ts";
import { markupIn } from "./markup.ts";
import { cleanText, quoted } from "./text.ts";

type Find = (text: string) => Flaw | undefined;

/** What spreadsheets write for a failed formula, in whatever language: `#REF!`, `#WERT!`, `#¿NOMBRE?`, `#NV`, `Err:502`. */
const FORMULA_ERROR = String.raw`#[¡¿]?\p{Lu}[\p{Lu}\d/]+[!?]|#NV|#N\/A|Err:5\d\d`;
/** What programs write for no value, whatever kind of value it is. */
const NO_VALUE = String.raw`NULL|null|\(null\)|\\N|NaN|nan|undefined|\[object Object\]`;
/** What may be said of a ticket, but names none; a mark alone stands for none in exports. */
const NO_ID = String.raw`N\/A|n\/a|None|TRUE|True|true|FALSE|False|false|[-\u2010-\u2015\u2212._?*/\\\u2026]+`;

const whole = (...forms: readonly string[]): RegExp => new RegExp(`^(?:${forms.join("|")})$`, "u");

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
    // %C3%BC is text as URLs have it.
    form: /\{\{[^{}]*\}\}|\$\{[^{}]*\}|(?<![\w%])%[A-Za-z_]\w*%(?![\w%])/,
    by: "script",
    hint: "Check why the export left the placeholder.",
  },
];

/** Digits, `WAVE26-0001`, an e-mail address or a UUID: nearly every id is one of these, and none is mangled or needs an escape. */
const USUAL_ID = /^(?:\d{1,15}|[A-Za-z][A-Za-z_-]*\d[\w.@-]*|[A-Za-z][\w.+-]*@[\w.-]+|\d\w*-[\w-]*)$/;

/** What spreadsheets and scripts write in place of an id: several tickets may share it, or no other export has it. */
export const mangled: Find = (id) => {
  if (USUAL_ID.test(id)) return undefined;
  const found = MANGLED.find(({ form }) => form.test(id));
  if (found === undefined) return undefined;
  const what = `looks like what a ${found.by} writes in place of an id`;
  return { rule: "id-looks-mangled", what, hint: found.hint };
};

/** An empty text would have been left out; this one would be read by everybody. */
const NO_TEXT = whole(FORMULA_ERROR, NO_VALUE);

const noText: Find = (text) =>
  NO_TEXT.test(text)
    ? damaged(`holds ${text}, which programs write where they have no text`, "Check why the export has no value there.")
    : undefined;

const damaged = (what: string, hint: string): Flaw => ({ rule: "text-looks-damaged", what, hint });

/** The bytes that follow the first of a UTF-8 character, read as windows-1252; and those of them that may follow a word. */
const FOLLOWING = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ";
const PUNCTUATION = "‘’“”•–—™…›«»®\u00a0";
/**
 * UTF-8 that was read as windows-1252: `Ã¼`, `â€™`, `Ð¾`, and `Ã` for an à whose second half, a no-break space, was trimmed.
 * A capital letter behind another may have punctuation after it: `CAFÉ’S`, `AMANHÃ…`.
 */
const MISREAD = new RegExp(
  [
    `[Â-Þ](?![${PUNCTUATION}])[${FOLLOWING}]`,
    `(?<!\\p{Lu})[Â-Þ][${PUNCTUATION}]`,
    `[à-ï](?![${PUNCTUATION}])[${FOLLOWING}]{2}`,
    "â[€\u0080]|[ðæ][Ÿ\u009f—]",
    "(?<=\\p{Ll})Ã(?!\\p{L})|(?<!\\p{L})Ã(?=\\s)",
  ].join("|"),
  "u",
);
/** One of these stands in every such text; looking for it alone costs little. */
const SUSPECT = new RegExp(`[Â-ô][${FOLLOWING}]|Ã`);
const ENCODING = "Export again as UTF-8, and check that --encoding, or the encoding of the source, is the file's.";

/** Characters that were lost or misread. */
const misread: Find = (text) => {
  if (text.includes("\ufffd")) return damaged("holds U+FFFD, which marks a lost character", ENCODING);
  const [found] = (SUSPECT.test(text) && MISREAD.exec(text)) || [];
  return found === undefined
    ? undefined
    : damaged(`holds ${found}, as UTF-8 that was read in another encoding`, ENCODING);
};

/** `Kaj?te`, `M?LLER`: a word in which a question mark stands for a letter. `Who?What` and `a.example/x?y` are none. */
const LOST_LETTER =
  /(?<![^\s"'„“”»«(])\p{L}[\p{L}?]*?(?:\?\p{Ll}|(?<=\p{Lu})\?\p{Lu})[\p{L}?]*(?![^\s"'„“”»«(),;:!.-])/u;

const lostLetter: Find = (text) => {
  const [word] = (text.includes("?") && LOST_LETTER.exec(text)) || [];
  return word === undefined
    ? undefined
    : damaged(`holds ${cleanText(word, 40)}, with a question mark for a letter`, ENCODING);
};

/**
 * Other alphabets and encodings, read as windows-1252: `Çèìíèé` (Cyrillic), `Ýstanbul` and `Kýþ` (Turkish), `ó³ty` and
 * `£ód` (Polish), `CafŽ` (Mac). No language has four such letters in a row, but for one that is repeated (`jäääär`).
 */
const OTHER_ALPHABET =
  /(?:(?!(\p{L})\1{2})[À-ÖØ-öø-ÿ]){4}|Ý(?=stanbul|zmir)|(?<=\p{L})þ(?!\p{L})|(?<=\p{L})[¡¢¤¥¦§¨©¬¯±³´¶¸¹¼½¾¿](?=\p{Ll})|£(?=\p{Ll})|(?<=\p{Ll})[À-ÖØ-ÞŠŽŸ](?!\p{L})/u;

const otherAlphabet: Find = (text) => {
  const [found] = OTHER_ALPHABET.exec(text) ?? [];
  return found === undefined
    ? undefined
    : damaged(`holds ${found}, as another alphabet that was read in another encoding`, ENCODING);
};

/** Markup in what becomes public, with the text that is meant. */
const markup: Find = (text) => {
  const marked = markupIn(text);
  if (marked === undefined) return undefined;
  const { found, decoded, coding } = marked;
  const step = coding === undefined ? "Export it decoded." : `Add decode: ${coding} to its value, or export it so.`;
  return damaged(
    `holds ${cleanText(found, 20)}, which is code and no text`,
    `It means ${quoted(decoded, 80)}. ${step}`,
  );
};

/** Characters that steer a terminal or can't be seen. In an id none is allowed. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** In words, line breaks and tabs have their use, and so have joiners and marks of direction. */
const CONTROL = /[[\p{Cc}\p{Zl}\p{Zp}\ufeff]--[\t\n\r]]/v;

const unseenBy =
  (kinds: RegExp): Find =>
  (text) => {
    const [found] = kinds.exec(text) ?? [];
    if (found === undefined) return undefined;
    const code = `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    const kind = /\p{Cc}/u.test(found) ? "control" : "invisible";
    return {
      rule: "control-character",
      what: `holds the ${kind} character ${code}`,
      hint: "It is invisible, but makes the text a different one. Find where it comes from, and export again without it.",
    };
  };
const unseen = unseenBy(UNSEEN);
const control = unseenBy(CONTROL);

const LOGIN = /\bhttps?:\/\/[^\s/?#@]+@/i;

/** A URL is registered as it is, and most are public: a login in it would be, too. */
const WITH_LOGIN: Flaw = {
  rule: "url-with-login",
  what: "has a user name or password, which would be published with it",
  hint: "Give the URL without the part before the @, and change that password if it was sent anywhere.",
};
const login: Find = (text) =>
  LOGIN.test(text) ? { ...WITH_LOGIN, what: `holds a URL that ${WITH_LOGIN.what}` } : undefined;

/** The text without a password, which is shown nowhere and kept in no log. */
export const withoutLogin = (text: string): string => text.replace(/(\bhttps?:\/\/)[^\s/?#]*@/gi, "$1…@");

/** A placeholder that a script left, a failed formula, and what stands in no URL but encoded (RFC 3986, section 2). */
const NOT_OF_URL = /\$?\{+[^{}]*\}+|[<>{}|^`\\"\ufffd]|%(?![0-9a-fA-F]{2})|#[¡¿]?\p{Lu}[\p{Lu}\d/]+[!?]$/u;

const oddUrl: Find = (url) => {
  const [found] = NOT_OF_URL.exec(url) ?? [];
  return found === undefined
    ? undefined
    : damaged(
        `holds ${cleanText(found, 40)}, which no URL holds`,
        "Check what the export or the mapping writes there; a sign that belongs there is percent-encoded, such as %7B for {.",
      );
};

const URL_CHARACTER = "(?:[!$&-:=?-[\\]_a-z~]|%[0-9a-fA-F]{2})";
/** Names of hosts below a top-level domain of letters, and characters that stand for themselves. */
const USUAL_URL = new RegExp(
  String.raw`^https?:\/\/(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}(?::\d{1,4})?` +
    `(?:[/?]${URL_CHARACTER}*)?(?:#[a-z/!]${URL_CHARACTER}*)?$`,
);
/** Whether a URL is written as nearly all are: it can be parsed, and nothing is wrong with it. */
export const isUsualUrl = (url: string): boolean => USUAL_URL.test(url);

/** Printable ASCII without what any search but `noText` looks for. */
const SIMPLE = /^[ -$'-;=>A-[\]-~]*$/;

/** What is likely wrong in an id, of which every character counts. */
export const flawInId: Find = (id) => mangled(id) ?? (SIMPLE.test(id) ? undefined : (misread(id) ?? unseen(id)));

/** In a wallet's address. */
export const flawInName: Find = (name) => unseen(name);

/** In words that people read; the gravest first. */
export const flawInWords: Find = (text) =>
  SIMPLE.test(text)
    ? noText(text)
    : (login(text) ??
      noText(text) ??
      misread(text) ??
      lostLetter(text) ??
      otherAlphabet(text) ??
      markup(text) ??
      control(text));

/** Whether words can be sent as they are, without a finding. */
export const areSoundWords = (text: string): boolean => text.isWellFormed() && flawInWords(text) === undefined;

/** Of what is no URL at all, another rule says so. */
export const flawInUrl: Find = (url) => {
  if (isUsualUrl(url) || URL.parse(url) === null) return undefined;
  if (LOGIN.test(url)) return WITH_LOGIN;
  return (url.includes(";") ? markup(url) : undefined) ?? oddUrl(url);
};
