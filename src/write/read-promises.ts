/** Reads a promises file back, for `results --import`. */

import { compose, type Readable } from "node:stream";
import { parse } from "csv-parse";
import { z } from "zod";
import { isActionName } from "../actions/actions.ts";
import { parseJson } from "../actions/json.ts";
import { formOf, withoutNul } from "../actions/marks.ts";
import { Failure } from "../failure.ts";
import type { ImportedLine } from "../ledger/ledger.ts";
import { GUARDED_COLUMN, unguardCell } from "../read/rejects-columns.ts";
import { OWN_TABLE } from "./csv.ts";
import type { PromiseFormat } from "./promises.ts";

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
  mark: z.string(),
  content: z.string(),
  time: z.coerce.number().int().optional(),
  owner: z.string().optional(),
  response: z.unknown().optional(),
});

/** Lines that are handed on at a time. */
const BATCH = 5000;

const HINT = "Name a promises file exactly as tickets wrote it.";

export interface ReadPromises {
  readonly lines: AsyncIterable<readonly ImportedLine[]>;
  /** Once all is read: the last line, where a kill or a power cut left half of it. */
  readonly torn: () => string | undefined;
}

/**
 * @param name for messages.
 * @param environments whose promises these may be.
 * @throws Failure `usage`, while it is read, for a file that is none, that is damaged before its last line, or of another environment.
 */
export function parsePromises(
  bytes: Readable,
  format: PromiseFormat,
  name: string,
  environments: readonly string[],
): ReadPromises {
  let torn: string | undefined;
  async function* batches(): AsyncGenerator<readonly ImportedLine[]> {
    let batch: ImportedLine[] = [];
    let [place, found] = [0, 0];
    try {
      for await (const { value, text, isLast } of format === "csv" ? rowsOf(bytes) : linesOf(bytes)) {
        place += 1;
        const line = LINE.safeParse(value).data;
        if (line === undefined) {
          if (!isLast) throw notALine(name, place, "is not a line of a promises file");
          torn = text;
          continue;
        }
        if (!environments.includes(line.environment))
          throw notALine(name, place, `belongs to the environment ${line.environment}`);
        found += 1;
        batch.push(toImported(line, name, place));
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
      throw new Failure("usage", `${name} can't be read as a promises file: ${why}.`, { cause, hint: HINT });
    }
    if (found === 0) throw new Failure("usage", `${name} holds no promises.`, { hint: HINT });
    if (batch.length > 0) yield batch;
  }
  return { lines: batches(), torn: () => torn };
}

const notALine = (name: string, place: number, why: string): Failure =>
  new Failure("usage", `${name}:${place} ${why}.`, { hint: HINT });

function toImported(line: z.infer<typeof LINE>, name: string, place: number): ImportedLine {
  const { action: kind, ticketId, nftId, eventId, status, actionPromise, response } = line;
  const isAccepted = status === "success";
  if (isAccepted && !actionPromise)
    throw notALine(name, place, "is not a line of a promises file: success without an actionPromise");
  const id = ticketId !== undefined ? `t:${ticketId}` : nftId !== undefined ? `n:${nftId}` : `e:${eventId}`;
  const subject = withoutNul(id);
  const normal = formOf(subject);
  return {
    ...{ subject, kind, mark: line.mark, content: line.content, time: line.time, owner: line.owner },
    event: subject.startsWith("e:") || eventId === undefined ? undefined : withoutNul(eventId),
    ...{ runId: line.run, environment: line.environment, chunk: line.chunk, seq: line.seq },
    ...{ source: line.source, line: line.line, at: line.at },
    outcome: isAccepted ? "accepted" : status === "settled" ? "settled" : "rejected",
    promise: actionPromise,
    response: response === undefined ? undefined : typeof response === "string" ? response : JSON.stringify(response),
    ...(normal !== subject && { normal }),
  };
}

const NEWLINE = 0x0a;

interface ReadLine {
  readonly value: unknown;
  readonly text: string;
  /** Nothing follows it, not even the end of a line. */
  readonly isLast: boolean;
}

/** Not by Node's readline, for which lines also end at U+2028 and U+2029; JSON text may hold those. */
async function* linesOf(bytes: Readable): AsyncGenerator<ReadLine> {
  let rest = "";
  for await (const block of bytes.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + block).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) if (text.trim() !== "") yield { value: parsedOr(text), text, isLast: false };
  }
  if (rest.trim() !== "") yield { value: parsedOr(rest), text: rest, isLast: true };
}

function parsedOr(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Which every line has, if only as an empty cell. */
const NEVER_LEFT_OUT = new Set(["mark", "content"]);

/**
 * Rows by their columns; empty cells are left out, and guards taken off. A last row without the end of its line is torn, even
 * where it looks like a whole one.
 */
async function* rowsOf(bytes: Readable): AsyncGenerator<ReadLine> {
  let held: ReadLine | undefined;
  let end: number | undefined;
  const noted = async function* (): AsyncGenerator<Buffer> {
    for await (const block of bytes as AsyncIterable<Buffer>) {
      end = block.at(-1);
      yield block;
    }
  };
  const options = { columns: true, relax_column_count: true, relax_quotes: true, ...OWN_TABLE } as const;
  for await (const row of compose(noted, parse(options)) as AsyncIterable<Record<string, string>>) {
    if (held !== undefined) yield held;
    const { [GUARDED_COLUMN]: guarded, ...cells } = row;
    const given = Object.entries(cells).filter(([name, value]) => value !== "" || NEVER_LEFT_OUT.has(name));
    const asItWas = guarded === undefined ? given : given.map(([name, value]) => [name, unguardCell(value)]);
    held = { value: Object.fromEntries(asItWas), text: Object.values(cells).join(","), isLast: false };
  }
  if (held !== undefined) yield end === NEWLINE ? held : { ...held, value: undefined, isLast: true };
}
