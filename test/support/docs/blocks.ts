/** The fenced blocks of a page, each with what the HTML comments before it say about how it is run. */

/**
 * What a comment before a block may say, followed in their order:
 * - `not run: REASON`: the block can't be run here.
 * - `first: COMMANDS`: what a reader would have done before; ends with 0.
 * - `terminal: NAME`: from here on it is typed there.
 * - `stop: NAME`: Ctrl-C in that terminal, which is then closed.
 * - `until: TEXT`: the block's last command goes on, and is awaited up to this text.
 * - `begins: COMMAND`: goes on like that, until a block of that terminal shows the same command.
 * - `prints: COMMANDS`: the block is what these print.
 * - `file: PATH`: the block is the content of this file.
 * - `exit: N`: what the block's last command ends with (0).
 */
const KINDS = ["not run", "first", "prints", "file", "exit", "terminal", "stop", "until", "begins"] as const;
type Kind = (typeof KINDS)[number];

interface Note {
  readonly kind: Kind;
  readonly text: string;
}

export interface Block {
  /** Line of its opening fence. */
  readonly line: number;
  readonly language: string;
  /** What follows the language: the name of a file. */
  readonly name: string;
  readonly text: string;
  readonly notes: readonly Note[];
}

export const noteOf = ({ notes }: Block, kind: Kind): string | undefined =>
  notes.find((note) => note.kind === kind)?.text;

/** A comment that is none of these, or that no block follows, throws. */
export function blocksOf(markdown: string): readonly Block[] {
  const parts = /^<!-- ([\s\S]*?) -->$|^```(\w*) ?([^\n]*)\n([\s\S]*?)^```$/gm;
  const blocks: Block[] = [];
  let notes: Note[] = [];
  for (const { index, 1: comment, 2: language = "", 3: name = "", 4: text = "" } of markdown.matchAll(parts)) {
    const line = markdown.slice(0, index).split("\n").length;
    if (comment !== undefined) notes.push(toNote(comment, line));
    else {
      blocks.push({ line, language, name, text, notes });
      notes = [];
    }
  }
  if (notes.length > 0) throw new Error(`no block follows the comment ${notes[0]?.kind}`);
  return blocks;
}

function toNote(comment: string, line: number): Note {
  const kind = KINDS.find((each) => comment.startsWith(`${each}: `));
  if (kind === undefined) throw new Error(`line ${line}: the comment is none of ${KINDS.join(", ")}`);
  return { kind, text: comment.slice(kind.length + 2).trim() };
}

/** A command of a `console` block and what stands below it. */
export interface Typed {
  readonly command: string;
  readonly output: string;
}

export function typedIn({ text, line }: Block): readonly Typed[] {
  const [before = "", ...parts] = text.split(/^\$ /m);
  if (before !== "") throw new Error(`line ${line}: output without a command`);
  return parts.map((part) => {
    const [, command = "", output = ""] = /^((?:[^\n]*\\\n)*[^\n]*)\n([\s\S]*)$/.exec(part) ?? [];
    return { command, output };
  });
}
