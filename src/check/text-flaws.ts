/** What is likely wrong in a text that the service would take: something was lost, misread or left behind before it came here. */

import { type Given, givenValue } from "../actions/draft.ts";
import { FIELD_NAMES, type FieldKind, fieldSpec } from "../actions/fields.ts";
import { isUsualUrl } from "../actions/kinds.ts";
import {
  CODINGS,
  type Coding,
  decodeMarkup,
  FORMULA_ERROR,
  isUsualId,
  mangled,
  NO_VALUE,
  PLACEHOLDER,
  whole,
} from "../actions/mangled.ts";
import { textsOfAttributes } from "../actions/metadata.ts";
import { cleanText, quoted } from "../text.ts";

export interface Flaw {
  readonly rule: "id-looks-mangled" | "text-looks-damaged" | "control-character" | "url-with-login";
  /** The rest of a sentence that begins with the field. */
  readonly what: string;
  readonly hint: string;
  /** What it is in. */
  readonly text?: string;
}

type Find = (text: string) => Flaw | undefined;

/** An empty text would have been left out; this one would be read by everybody. */
const NO_TEXT = whole(FORMULA_ERROR, NO_VALUE);

/** As a program keeps a text: `{"en":"Gala"}`, `[:en]Gala[:]`, `a:1:{s:2:"en";…`; or as a mail does: `=?UTF-8?Q?K=C3=B6ln?=`. */
const PACKED_TEXT =
  /^\{ *"[^"]*" *:|^\[ *[{"]|\[:[a-z]{2}\]|^[aOs]:\d+:[{"]|=\?[\w-]+\?[QB]\?|=[C-F][\dA-F]=[89AB][\dA-F]/;

const noText: Find = (text) => {
  if (NO_TEXT.test(text))
    return damaged(
      `holds ${text}, which programs write where they have no text`,
      "Check why the export has no value there.",
    );
  const [left] = PLACEHOLDER.exec(text) ?? [];
  if (left !== undefined)
    return damaged(`holds ${cleanText(left, 40)}, which a script did not fill in`, "Check why the export left it.");
  const [packed] = PACKED_TEXT.exec(text) ?? [];
  if (packed === undefined) return undefined;
  return damaged(
    `holds ${cleanText(packed, 40)}, which is code and no text`,
    "Export the text alone, as people read it.",
  );
};

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

/** UTF-8 that was read as windows-1250: `SofĂ­a`, `ÄŚeská`, `DvoĹ™Ăˇk`. */
const CENTRAL_EUROPEAN = "(?<=\\p{Ll})Ă|[ĂÄĹ][\u00adŚŤŹśťźˇ˘˙ŁĄ˛łą˝ľżĽŻ]|Ĺ™";
/** UTF-8 that was read as windows-1251. */
const CYRILLIC = "[РС][Ђ-ЏђѓєіїјљњћќўџґҐЁёІ№‚„…†‡€‰‹‘’“”•–—™›\u00a0-\u00bf]";
/**
 * Other alphabets and encodings, read as windows-1252 but for the last. No language has four such letters in a row, but for one
 * that is repeated (`jäääär`).
 */
const OTHER_ALPHABET = new RegExp(
  [
    "(?:(?!(\\p{L})\\1{2})[À-ÖØ-öø-ÿ]){4}", // Çèìíèé
    "Ý(?=stanbul|zmir)|(?<=\\p{L})þ(?!\\p{L})", // Kýþ
    "(?<=\\p{L})[¡¢¤¥¦§¨©¬¯±³´¶¸¹¼½¾¿‚„†‡ˆ‰Ÿ](?=\\p{Ll})|£(?=\\p{Ll})", // ó³ty, £ód, H„nde, No‰l, MŸnchen
    "(?<=^[^“”„]*\\p{L})”(?=\\p{Ll}[^“”]*$)|(?<=\\p{Ll})‚(?=$)", // K”ln, Caf‚
    "(?<=\\p{Ll})[À-ÖØ-ÞŠŽŸ](?!\\p{L})", // CafŽ
    "(?<=\\p{L})[\\u2500-\\u259f]|ƒ\\S{1,2}ƒ", // K├Âln; ƒRƒ“ƒT (Japanese)
    CENTRAL_EUROPEAN,
    `${CYRILLIC}${CYRILLIC}`, // РљРѕРЅ
  ].join("|"),
  "u",
);

const otherAlphabet: Find = (text) => {
  const [found] = OTHER_ALPHABET.exec(text) ?? [];
  return found === undefined
    ? undefined
    : damaged(`holds ${found}, as another alphabet that was read in another encoding`, ENCODING);
};

/** In a text, not in an address. */
const PERCENT = /^(?!.*:\/\/).*(?:%20|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f]%[89ab][\da-f]%[89ab][\da-f])/is;

export interface Markup {
  /** The characters that show it. */
  readonly found: string;
  readonly decoded: string;
  /** All that decode it; none for percents, which no step decodes. */
  readonly codings: readonly Coding[];
}

/** The first trace of markup in a text for people; undefined in most. */
export function markupIn(text: string): Markup | undefined {
  if (!/[&<\\%]/.test(text)) return undefined;
  let decoded = text;
  const codings = CODINGS.filter((coding) => {
    const before = decoded;
    decoded = decodeMarkup(before, coding);
    return decoded !== before;
  });
  const [first] = codings;
  if (first !== undefined) {
    const [found = ""] = (first === "html" ? /&(?:#\w+;?|\w+;)|<[^>]*>/ : /\\(?:u\w{4}|.)/).exec(text) ?? [];
    return { found, decoded, codings };
  }
  // An address is written with percents.
  const [, found] = PERCENT.test(text) ? (/(%[\da-f]{2})/i.exec(text) ?? []) : [];
  return found === undefined ? undefined : { found, decoded: decodedPercents(text), codings: [] };
}

function decodedPercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Markup in what becomes public, with the text that is meant. */
const markup: Find = (text) => {
  const marked = markupIn(text);
  if (marked === undefined) return undefined;
  const { found, decoded, codings } = marked;
  const list = codings.length > 1 ? `[${codings.join(", ")}]` : codings.join("");
  const step = list === "" ? "Export it decoded." : `Add decode: ${list} to its value, or export it so.`;
  const meant = decoded === text ? "" : `It means ${quoted(decoded, 80)}. `;
  return damaged(`holds ${cleanText(found, 20)}, which is code and no text`, meant + step);
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

/** Printable ASCII and letters of some other scripts, without what any search but `noText` looks for. */
const SIMPLE = /^[ -$'-;=>A-[\]-~\u0370-\u041f\u0422-\u05ff\u0900-\u0dff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** In an id, of which every character counts. */
const flawInId: Find = (id) => {
  if (isUsualId(id)) return undefined;
  const found = mangled(id);
  if (found !== undefined) return { rule: "id-looks-mangled", ...found };
  return SIMPLE.test(id) ? undefined : (misread(id) ?? unseen(id));
};

/** In words that people read; the gravest first. */
const flawInWords: Find = (text) =>
  SIMPLE.test(text)
    ? noText(text)
    : (login(text) ??
      noText(text) ??
      misread(text) ??
      lostLetter(text) ??
      otherAlphabet(text) ??
      markup(text) ??
      control(text));

/** Of what is no URL at all, another rule says so. */
const flawInUrl: Find = (url) => {
  if (isUsualUrl(url) || URL.parse(url) === null) return undefined;
  if (LOGIN.test(url)) return WITH_LOGIN;
  return (url.includes(";") ? markup(url) : undefined) ?? oddUrl(url);
};

const BY_KIND: Partial<Readonly<Record<FieldKind, Find>>> = {
  id: flawInId,
  nftId: flawInId,
  text: flawInWords,
  url: flawInUrl,
  wallet: unseen,
};
const BY_FIELD: ReadonlyMap<string, Find | undefined> = new Map(
  FIELD_NAMES.map((name) => [name, BY_KIND[fieldSpec(name).kind]]),
);
const NONE: readonly Flaw[] = [];

/** What is likely wrong with what a draft holds of a field, be it right or not. */
export function flawsIn(given: Given): readonly Flaw[] {
  const { name, text, fault } = given;
  if (name === "metadataAttributes") return flawsOfAttributes(given);
  const find = BY_FIELD.get(name);
  if (find === undefined || text === undefined || fault?.rule === "field-type") return NONE;
  const flaw = find(text);
  return flaw === undefined ? NONE : [{ text, ...flaw }];
}

/** One of these as a whole text of JSON, or a part of one. */
const NO_TEXT_INSIDE = new RegExp(`"(?:${FORMULA_ERROR}|${NO_VALUE})"|\\{\\{|\\$\\{|\\[:`, "u");

/** One flaw of each rule, with the text that it is in. */
function flawsOfAttributes(given: Given): readonly Flaw[] {
  const { json } = given;
  if (json !== undefined && SIMPLE.test(json) && !NO_TEXT_INSIDE.test(json)) return NONE;
  const found = new Map<string, Flaw>();
  for (const text of textsOfAttributes(givenValue(given))) {
    const flaw = flawInWords(text);
    if (flaw !== undefined && !found.has(flaw.rule)) found.set(flaw.rule, { ...flaw, text });
  }
  return [...found.values()];
}
