/** Reading a promises file back. */

import { createReadStream } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";
import { z } from "zod";
import { isActionName } from "../actions/actions.ts";
import { GUARDED_COLUMN, unguardCell } from "../actions/formula-guard.ts";
import { parseJson } from "../actions/json.ts";
import { Failure } from "../failure.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { OWN_TABLE } from "../outputs/csv-text.ts";
import { delimiterOf, promiseFormat } from "../outputs/promise-lines.ts";
import { fileFailure } from "../readers/bytes.ts";

const LINE = z.looseObject({
  source: z.string(),
  line: z.coerce.number().int().nonnegative(),
  action: z.string().refine(isActionName),
  eventId: z.string().optional(),
  ticketId: z.string().optional(),
  nftId: z.string().optional(),
  status: z.string(),
  actionPromise: z.string().optional(),
  environment: z.string(),
  run: z.string().regex(/^[0-9a-f]{8}$/),
  seq: z.coerce.number().int().positive(),
  chunk: z.coerce.number().int().positive(),
  at: z.string(),
  response: z.unknown().optional(),
});
/** `place` is its number in the file, from 1. */
export type PromiseLine = z.infer<typeof LINE> & { readonly place: number };

/** What is wrong with a line of a file. */
const lineFailure = (name: string, place: number, why: string): Failure =>
  new Failure("usage", `${name}:${place} ${why}.`, { hint: "Name a promises file exactly as tickets wrote it." });

/** The last line of a file, where no line end follows it. */
export interface UnendedLine {
  /** Where it begins, in bytes; before it are whole lines only. */
  readonly start: number;
  /** Empty where every line has its end. */
  readonly text: string;
  /** A process that died, or a power cut, left half of it. */
  readonly isIncomplete: boolean;
}

/** @throws Failure `usage` for a file that is not a promises file, or that is damaged elsewhere than at its end. */
export async function readPromises(
  path: string,
  name: string,
): Promise<{ readonly lines: readonly PromiseLine[]; readonly end: UnendedLine }> {
  await access(path).catch((cause: unknown) => {
    throw new Failure("usage", `There is no file ${name} that can be read.`, {
      hint: "A relative path begins in the folder that the command runs in.",
      cause,
    });
  });
  if ((await stat(path)).isDirectory()) throw fileFailure({ name }, Object.assign(new Error(), { code: "EISDIR" }));
  const { lines, add } = collectLines(name);
  let at = 0;
  let isIncomplete = false;
  const last = await unendedLine(path);
  try {
    const delimiter = delimiterOf(promiseFormat(path));
    if (delimiter !== undefined) {
      const addRow = ({ [GUARDED_COLUMN]: guarded, ...cells }: Record<string, string>): void => {
        at += 1;
        const given = Object.entries(cells).filter(([, value]) => value !== "");
        const asItWas = guarded === undefined ? given : given.map(([name, value]) => [name, unguardCell(value)]);
        add(Object.fromEntries(asItWas), at + 1);
      };
      let header: string[] = [];
      const columns = (names: string[]): string[] => {
        header = names;
        return names;
      };
      await pipeline(wholeLines(path, last.start), parse({ columns, delimiter, ...OWN_TABLE }), async (rows) => {
        for await (const row of rows as AsyncIterable<Record<string, string>>) addRow(row);
      });
      const row = last.text === "" ? undefined : parseRow(last.text, header, delimiter);
      isIncomplete = last.text !== "" && row === undefined;
      if (row !== undefined) addRow(row);
    } else {
      for await (const text of linesOf(path, last.start)) {
        at += 1;
        if (text.trim() !== "") add(parseLine(text), at);
      }
      const value = parseLine(last.text);
      isIncomplete = last.text.trim() !== "" && value === undefined;
      if (value !== undefined) add(value, at);
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
    throw new Failure("usage", `${name} can't be read as a promises file: ${why}.`, { cause });
  }
  if (lines.length === 0)
    throw new Failure("usage", `${name} holds no promises.`, {
      hint: "Name a promises file exactly as tickets wrote it.",
    });
  return { lines, end: { ...last, isIncomplete } };
}

/** Collects the lines of a file, each action once. */
function collectLines(name: string) {
  const lines: PromiseLine[] = [];
  /** What a line says about an action, by its run and number. */
  const saidOf = new Map<string, string>();
  const add = (value: unknown, at: number): void => {
    const { data: line } = LINE.safeParse(value);
    if (line === undefined) throw lineFailure(name, at, "is not a line of a promises file");
    const { action, eventId, ticketId, nftId, status, actionPromise } = line;
    // What was accepted has a promise; without one, who edited the file decides what is never sent again.
    if (status === "success" && !actionPromise)
      throw lineFailure(name, at, "is not a line of a promises file: success without an actionPromise");
    const key = `${line.run} ${line.seq}`;
    const said = JSON.stringify([action, eventId, ticketId, nftId, status, actionPromise]);
    // A chunk's lines may have gone to standard output twice, before and after a kill.
    if (saidOf.get(key) === said) return;
    if (saidOf.has(key)) throw lineFailure(name, at, "contradicts an earlier line about the same action");
    saidOf.set(key, said);
    lines.push({ ...line, place: at });
  };
  return { lines, add };
}

async function unendedLine(path: string): Promise<Pick<UnendedLine, "start" | "text">> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - block.length);
    const { bytesRead } = await file.read(block, 0, end - from, from);
    const at = block.subarray(0, bytesRead).lastIndexOf("\n");
    if (at !== -1 || from === 0) {
      const start = at === -1 ? 0 : from + at + 1;
      const text = Buffer.alloc(size - start);
      await file.read(text, 0, text.length, start);
      return { start, text: text.toString("utf8") };
    }
    end = from;
  }
  return { start: 0, text: "" };
}

const wholeLines = (path: string, end: number): Readable =>
  end === 0 ? Readable.from([]) : createReadStream(path, { end: end - 1 });

/** The row of a line; undefined where a quote is not closed or cells are missing. */
function parseRow(text: string, columns: string[], delimiter: string): Record<string, string> | undefined {
  try {
    return parseText(text, { columns, delimiter, ...OWN_TABLE })[0] as Record<string, string> | undefined; // rows by columns
  } catch {
    return undefined;
  }
}

/** The lines of a file. Not by Node's readline, for which lines also end at U+2028 and U+2029; JSON text may hold those. */
async function* linesOf(path: string, end: number): AsyncGenerator<string> {
  let rest = "";
  for await (const block of wholeLines(path, end).setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + block).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

function parseLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Why a file can't be imported; undefined where it can. */
export async function whyNotImported(path: string): Promise<string | undefined> {
  try {
    await readPromises(path, path);
    return undefined;
  } catch (cause) {
    return cause instanceof Failure ? cause.message : String(cause);
  }
}

/**
 * Makes the file end with a whole line, so that it can be appended to. Returns whether that worked; a copy that can't be
 * written is imported all the same.
 */
export async function mendEnd(path: string, { start, text, isIncomplete }: UnendedLine): Promise<boolean> {
  if (text === "") return true;
  try {
    await using file = await open(path, "r+");
    if (isIncomplete) await file.truncate(start);
    else await file.write("\n", (await file.stat()).size);
    await file.sync();
    return true;
  } catch {
    return false;
  }
}

/** Appends whole lines to a file that ends with one. After it resolves they are on disk. */
export async function appendWhole(path: string, lines: string): Promise<void> {
  try {
    await using file = await open(path, "a");
    await file.writeFile(lines);
    await file.sync();
  } catch (cause) {
    throw storageFailure(path, cause);
  }
}
