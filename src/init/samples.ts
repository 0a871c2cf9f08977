/** Looks at the beginnings of exports. */

import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { validateCommand } from "../actions/next-command.ts";
import { placeText } from "../actions/place.ts";
import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { openBytes } from "../read/bytes.ts";
import { findingsOfEncoding } from "../read/content.ts";
import { Utf8Watch } from "../read/encoding.ts";
import { Input, openInput } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import { resolveInputs } from "../read/inputs.ts";
import { HoldsLists } from "../read/json-array.ts";
import { NoHeader } from "../read/refused.ts";
import type { Row } from "../read/row.ts";
import type { Sample } from "./evidence.ts";
import { tableOfObjects } from "./json-table.ts";

/** Enough to see every status; all of them are kept in memory. */
const ROWS_LOOKED_AT = 20_000;

export interface SamplingOptions {
  readonly cwd: string;
  readonly stdin: Readable;
  readonly signal: AbortSignal;
  /** The encoding of the files that are not UTF-8. */
  readonly encoding: string | undefined;
  /** Called for matches of a glob that are not exports. */
  readonly onPassedOver: (message: string) => void;
  /** Called for a file that is UTF-8, for which `encoding` does not count. */
  readonly onUtf8: (file: InputFile, encoding: string) => void;
}

interface FoundSample {
  readonly file: InputFile;
  readonly sample: Sample;
}

/**
 * The beginnings of exports.
 *
 * @throws Failure `usage` for what can't be read, is empty, or holds actions already.
 */
export async function samplesOf(names: readonly string[], options: SamplingOptions): Promise<readonly FoundSample[]> {
  const { cwd, signal, onPassedOver } = options;
  const files = await resolveInputs(names, { cwd, onPassedOver, signal });
  if (files.length > 1 && files.some(({ path }) => path === "-"))
    throw new Failure(
      "usage",
      "Standard input has no name to choose its source by, so it can't be read beside other files.",
      { hint: "Save it as a file, or look at it alone: tickets init -" },
    );
  const found: FoundSample[] = [];
  for (const file of files) {
    const encoding = await encodingOf(file, options);
    found.push({ file, sample: await sampleOf(file, encoding, options) });
  }
  return found;
}

/** `--encoding` is that of the files that are not UTF-8: others would be read as another text. */
async function encodingOf(file: InputFile, { encoding, signal, onUtf8 }: SamplingOptions): Promise<string | undefined> {
  if (encoding === undefined || !(await canBeReadTwice(file))) return encoding;
  await using source = await openBytes(file, { signal });
  const watch = new Utf8Watch(() => 0);
  for await (const block of source.blocks()) {
    watch.take(block);
    if (!watch.isValid) return encoding;
  }
  watch.end();
  if (!watch.isValid) return encoding;
  if (watch.characters > 0) onUtf8(file, encoding);
  return undefined;
}

/** A pipe gives its bytes once. */
const canBeReadTwice = async ({ path }: InputFile): Promise<boolean> => path !== "-" && (await stat(path)).isFile();

/** What an earlier look at the file showed. */
interface Shown {
  /** Where titles stand above the header, or `none` where there is none. */
  readonly headerLine?: number | "none";
  /** The list of rows in a JSON object. */
  readonly list?: string | undefined;
  /** Quotes in cells stand behind a backslash. */
  readonly isEscaped?: boolean | undefined;
}

async function sampleOf(
  file: InputFile,
  encoding: string | undefined,
  options: SamplingOptions,
  shown: Shown = {},
): Promise<Sample> {
  const { stdin, signal } = options;
  const { headerLine, list, isEscaped = false } = shown;
  const dialect = isEscaped ? { escape: "\\" } : {};
  const opening = { signal, stdin, encoding, rows: list, csv: { headerLine, dialect } };
  const opened = await openInput(file, opening).catch(async (cause): Promise<Shown> => {
    if (cause instanceof NoHeader && (await canBeReadTwice(file))) return { headerLine: "none" };
    if (cause instanceof HoldsLists && (await canBeReadTwice(file))) return { list: cause.lists[0] };
    throw cause;
  });
  if (!(opened instanceof Input)) return await sampleOf(file, encoding, options, opened);
  await using input = opened;
  const rows: Row[] = [];
  let isWhole = true;
  let seen = 0;
  const isTitle = headerLine === undefined && input.header?.filter((cell) => cell.trim() !== "").length === 1;
  reading: for await (const batch of input.batches()) {
    for (const row of batch) {
      seen += 1;
      if (isTitle && seen <= MOST_TITLES && isWider(row) && (await canBeReadTwice(file)))
        return await sampleOf(file, encoding, options, { headerLine: row.line });
      if (row.kind === "malformed") {
        if (mayBeEscaped(row) && !isEscaped && (await canBeReadTwice(file)))
          return await sampleOf(file, encoding, options, { ...shown, isEscaped: true });
        if (rows.length > 0) continue;
        throw new Failure(
          "usage",
          `${placeText({ source: file.name, line: row.line })} ${row.findings[0]?.message ?? "can't be read."}`,
          { ...(row.findings[0]?.hint !== undefined && { hint: row.findings[0].hint }) },
        );
      }
      if (rows.length === ROWS_LOOKED_AT) {
        isWhole = false;
        break reading;
      }
      rows.push(row);
    }
  }
  const [misread] = findingsOfEncoding(input);
  if (misread !== undefined)
    throw new Failure("usage", `${cleanText(file.name, 200)}:${misread.line} ${misread.message}`, {
      hint: "Leave --encoding out, or save it as a file.",
    });
  if (input.header === undefined && rows.length === 0)
    throw new Failure("usage", `${cleanText(file.name, 200)} is empty: there is nothing to guess from.`, {
      hint: "Give an export that has its header and some rows.",
    });
  const first = rows[0];
  if (first?.kind === "object" && typeof first.value.action === "string" && typeof first.value.data === "object")
    throw new Failure(
      "usage",
      `${cleanText(file.name, 200)} holds actions already ({action, data}); they need no config.`,
      { hint: `Check it: ${validateCommand([file.name], [], { named: [] })}` },
    );
  const common = {
    fileName: file.path === "-" ? "export" : basename(file.name),
    isWhole,
    ...(input.encoding !== "utf-8" && { encoding: input.encoding }),
    headerLine,
    list,
    ...(isEscaped && { isEscaped }),
  };
  if (input.header === undefined) return { ...common, ...tableOfObjects(rows) };
  const { delimiter } = input;
  return {
    ...common,
    header: input.header,
    rows: rows.flatMap((row) => (row.kind === "cells" ? [row.cells] : [])),
    ...(delimiter !== undefined && delimiter !== "," && input.format === "csv" && { delimiter }),
  };
}

const mayBeEscaped = (row: Extract<Row, { kind: "malformed" }>): boolean =>
  !row.bordersKnown && row.text.includes('\\"');

/** Among so many rows below a title the header is looked for. */
const MOST_TITLES = 5;

/** Whether a row has more cells than the title above it: what is taken for its rows is the header. */
const isWider = (row: Row): boolean =>
  row.kind === "malformed"
    ? row.findings.some(({ rule }) => rule === "cell-count")
    : row.kind === "cells" && row.cells.length > 1 && row.cells.every((cell) => cell.trim() !== "");
