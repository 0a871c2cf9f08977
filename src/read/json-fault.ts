/** Where a text stops being JSON (RFC 8259), and why. */
export interface JsonFault {
  /** 0-based index into the text; its length when the text ends too early. */
  readonly offset: number;
  /** Such as `expected a comma or }`. */
  readonly reason: string;
}

type Expecting = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma" | "end";

const WHITE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * The first fault of a text that `JSON.parse` refused. The engine's own message is no use here: it often has no position,
 * and its wording differs between versions.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let expecting = "value" as Expecting; // `step` changes it, which the compiler can't see

  function match(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  }

  function readString(): JsonFault | undefined {
    const start = at;
    for (at += 1; at < text.length; ) {
      const character = text[at] ?? "";
      if (character === '"') {
        at += 1;
        return undefined;
      }
      if (character < " ") return { offset: at, reason: "a string contains a line end or control character" };
      if (character !== "\\") at += 1;
      else if (!match(ESCAPE)) return { offset: at, reason: "\\ does not begin a known escape" };
    }
    return { offset: start, reason: "a string never ends" };
  }

  function close(): void {
    at += 1;
    open.pop();
    expecting = open.length === 0 ? "end" : "comma";
  }

  function step(character: string): JsonFault | undefined {
    const inner = open.at(-1);
    switch (expecting) {
      case "value":
      case "value or ]":
        if (character === "{" || character === "[") {
          open.push(character);
          at += 1;
          expecting = character === "{" ? "key or }" : "value or ]";
          return undefined;
        }
        if (character === "]" && expecting === "value or ]") return void close();
        expecting = inner === undefined ? "end" : "comma";
        if (character === '"') return readString();
        if (match(WORD) || match(NUMBER)) return undefined;
        return { offset: at, reason: character === "'" ? 'strings need double quotes (")' : "expected a value" };
      case "key":
      case "key or }":
        if (character === "}" && expecting === "key or }") return void close();
        expecting = "colon";
        return character === '"' ? readString() : { offset: at, reason: 'expected a key in double quotes (")' };
      case "colon":
        if (character !== ":") return { offset: at, reason: "expected a colon" };
        at += 1;
        expecting = "value";
        return undefined;
      case "comma":
        if (character === (inner === "{" ? "}" : "]")) return void close();
        if (character !== ",") return { offset: at, reason: `expected a comma or ${inner === "{" ? "}" : "]"}` };
        at += 1;
        expecting = inner === "{" ? "key" : "value";
        return undefined;
      case "end":
        return { offset: at, reason: "more text follows the end of the value" };
    }
  }

  for (;;) {
    match(WHITE);
    if (at >= text.length) break;
    const fault = step(text[at] ?? "");
    if (fault !== undefined) return fault;
  }
  return expecting === "end" ? undefined : { offset: text.length, reason: "it ends too early" };
}
