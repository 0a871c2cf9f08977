/** Where a text stops being JSON (RFC 8259), and why. */
export interface JsonFault {
  /** 0-based index into the text; its length when the text ends too early. */
  readonly offset: number;
  /** Such as `expected a comma or }`. */
  readonly reason: string;
}

type Expected = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma" | "end";

const WHITE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** A string without its last quote, as far as it is one. */
const STRING = /"(?:[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/**
 * The first fault of a text that `JSON.parse` refused. The engine's own message is no use here: it often has no position,
 * and its wording differs between versions.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  for (let at = endOf(WHITE, text, 0); at < text.length; at = endOf(WHITE, text, at)) {
    const character = text.charAt(at);
    const inner = open.at(-1);
    const closing = inner === "{" ? "}" : "]";
    const isClosed = inner !== undefined && character === closing && /comma|or/.test(expected);
    if (isClosed) open.pop();
    const afterValue = open.length === 0 ? "end" : "comma";
    if (isClosed) {
      expected = afterValue;
      at += 1;
    } else if (expected === "comma" || expected === "colon" || expected === "end") {
      if (expected === "end") return { offset: at, reason: "more text follows the end of the value" };
      if (character !== (expected === "comma" ? "," : ":"))
        return { offset: at, reason: `expected a ${expected === "comma" ? `comma or ${closing}` : "colon"}` };
      expected = expected === "comma" && inner === "{" ? "key" : "value";
      at += 1;
    } else if (character === '"') {
      const fault = faultOfString(text, at);
      if (fault !== undefined) return fault;
      expected = expected.startsWith("key") ? "colon" : afterValue;
      at = endOf(STRING, text, at) + 1;
    } else if (expected.startsWith("key")) {
      return { offset: at, reason: 'expected a key in double quotes (")' };
    } else if (character === "{" || character === "[") {
      open.push(character);
      expected = character === "{" ? "key or }" : "value or ]";
      at += 1;
    } else {
      const end = endOf(SCALAR, text, at);
      if (end === at)
        return { offset: at, reason: character === "'" ? 'strings need double quotes (")' : "expected a value" };
      expected = afterValue;
      at = end;
    }
  }
  return expected === "end" ? undefined : { offset: text.length, reason: "it ends too early" };
}

/** Where what the pattern matches at a place ends; the place itself where it matches nothing. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function faultOfString(text: string, at: number): JsonFault | undefined {
  const end = endOf(STRING, text, at);
  if (text[end] === '"') return undefined;
  if (end === text.length) return { offset: at, reason: "a string never ends" };
  const isEscape = text[end] === "\\";
  const reason = isEscape ? "\\ does not begin a known escape" : "a string contains a line end or control character";
  return { offset: end, reason };
}
