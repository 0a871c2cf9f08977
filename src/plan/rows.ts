/** The rows of all inputs, file by file: looked at (look.ts), reported, and stored. What depends on other rows comes after (judge.ts). */

import { statSync } from "node:fs";
import { MAX_ACTIONS_PER_REQUEST } from "../actions/actions.ts";
import type { Finding } from "../actions/problem.ts";
import { showRejects } from "../actions/rejects-columns.ts";
import { Failure } from "../failure.ts";
import type { Corrected, Ledger } from "../ledger/ledger.ts";
import type { Mapper } from "../map/mapper.ts";
import type { FileFinding } from "../map/rules.ts";
import { type Input, type OpenInputOptions, openInput } from "../read/input.ts";
import { type InputFile, shownName } from "../read/input-file.ts";
import { keepRejectsApart } from "../read/rejects.ts";
import type { Guards } from "./guard.ts";
import { type Batch, Look, type Looked, type Rules, type Understood, type Unusual, type Whole } from "./look.ts";
import type { Made } from "./made.ts";
import type { Problems, Where } from "./problems.ts";
import { pointerTo, type ReadInput, RowsRead } from "./rows-read.ts";
import type { Store } from "./store.ts";
import type { Mapping, ThreadLook } from "./thread.ts";
import { type At, Writer } from "./writer.ts";

/** How the rows of a file are read. */
export interface Reading extends Pick<Rules, "readAs" | "allowEmpty"> {
  readonly mapper: Mapper;
  /** What another mapper of the kind can be made of; undefined where somebody watches this one. */
  readonly mapping: Mapping | undefined;
  /** A source of the config says what its rows give. */
  readonly isSource: boolean;
  /** How it makes its actions. */
  readonly made: readonly Made[];
}

export interface RowsOptions extends Pick<Rules, "limit" | "now" | "severities"> {
  readonly files: readonly InputFile[];
  readonly openingOf: (file: InputFile) => OpenInputOptions;
  readonly readingOf: (file: InputFile, input: Input) => Promise<Reading>;
  readonly guards: Pick<Guards, "take">;
  /** Actions are sorted by time later. */
  readonly isByTime: boolean;
  readonly problems: Problems;
  readonly ledger: Pick<Ledger, "corrected" | "run"> | undefined;
  /** Called once for each file, when its rows are read. */
  readonly onUnderstood: (file: InputFile, understood: Understood, rows: number) => void;
  /** `bytes` of all files, as they are stored. */
  readonly onRows: (rows: number, bytes: number) => void;
  readonly signal: AbortSignal;
}

/** Reads, maps and checks every row of every file, and stores what they give. */
export async function readRows(store: Store, options: RowsOptions): Promise<RowsRead> {
  const rows = new Rows(store, options);
  for (const [number, file] of options.files.entries()) await rows.addFile(number, file);
  return rows.read;
}

/** A file while it is read. */
interface Open {
  readonly number: number;
  readonly file: InputFile;
  readonly format: ReadInput["format"];
  readonly reading: Reading;
  /** What is said of its source, where that makes its actions in another way than before. */
  readonly changed: readonly FileFinding[];
  /** Rows that were read before it. */
  readonly before: number;
  /** Rows of it that give actions. */
  given: number;
}

class Rows {
  readonly read: RowsRead;
  readonly #options: RowsOptions;
  readonly #writer: Writer;
  readonly #contents = new ContentsSeen();
  readonly #apart = keepRejectsApart();
  #bytes = 0;

  constructor(store: Store, options: RowsOptions) {
    this.#options = options;
    this.read = new RowsRead(store, options.problems, options.ledger);
    this.#writer = new Writer(store, this.read, options.isByTime);
  }

  async addFile(number: number, file: InputFile): Promise<void> {
    const { openingOf, readingOf, guards, onUnderstood } = this.#options;
    await using input = await openInput(file, openingOf(file));
    if (input.header !== undefined) this.#apart.see(file, showRejects(input.header));
    const reading = await readingOf(file, input);
    const changed = await guards.take(reading);
    const of: Open = { number, file, format: formatOf(input), reading, changed, before: this.read.read, given: 0 };
    const here = new Look(input, reading.mapper, this.#rulesFor(reading));
    await using thread = await this.#threadFor(of, here.understood);
    const look = thread ?? here;
    try {
      for await (const batch of look.batches()) await this.#add(of, batch);
      // The thread has opened the file anew: it must be the one by whose header its rows are mapped.
      if (thread !== undefined) await input.refuseChanged();
    } finally {
      // Only the rows show what the keys of JSON rows are, and what becomes public.
      onUnderstood(file, look.understood, this.read.read - of.before);
    }
    this.#end(of, look.understood, look.whole);
  }

  #rulesFor({ readAs, allowEmpty }: Reading): Rules {
    const { severities, now, limit } = this.#options;
    return { readAs, severities, now, limit: limit - this.read.read, allowEmpty };
  }

  /** Undefined where the file is not worth one. @param understood before its first row. */
  async #threadFor({ file, reading }: Open, understood: Understood): Promise<ThreadLook | undefined> {
    const { openingOf, signal } = this.#options;
    if (reading.mapping === undefined || !isWorthThread(file)) return undefined;
    const { encoding, csv, rows, maxInputBytes } = openingOf(file);
    const job = { file, opening: { encoding, csv, rows, maxInputBytes }, rules: this.#rulesFor(reading) };
    const { ThreadLook } = await import("./thread.ts");
    return new ThreadLook({ ...job, mapping: reading.mapping }, understood, signal);
  }

  async #add(of: Open, batch: Batch): Promise<void> {
    const { read } = this;
    this.#options.signal.throwIfAborted();
    for (const { isRejects, line } of batch.kinds) this.#apart.see(of.file, isRejects, line);
    await this.#store(of, batch);
    read.read += batch.rows;
    read.isCut ||= batch.isCut;
    read.isUnfit ||= batch.isUnfit;
    for (const rows of batch.skipReasons.values()) read.skipped += rows;
    addTo(read.skipReasons, batch.skipReasons);
    addTo(read.eventOnlyReasons, batch.eventOnlyReasons);
    this.#options.onRows(read.read, this.#bytes + batch.bytes);
  }

  async #store(of: Open, { looked: rows, unusual }: Batch): Promise<void> {
    const corrected = await this.#corrected(unusual);
    for (const looked of rows) {
      const [index, line, text, actions] = looked;
      const what = unusual.get(index);
      const at: At = {
        row: of.before + index + 1,
        input: of.number,
        ...(what === undefined ? USUAL : await this.#positionOf(what)),
      };
      const found = corrected.get(index);
      const digest = found?.digest ?? what?.digest;
      if (found !== undefined && found.accepted.length > 0) {
        this.#writer.row(at, line, text, { state: "corrected", digest });
        for (const action of found.accepted) this.#writer.corrected(at, action);
      } else if (what?.isBad === true) this.#storeBad(of, at, looked, { ...what, digest });
      else {
        if (what !== undefined) this.#options.problems.report(whereIs(of, looked), what.findings);
        of.given += 1;
        this.#writer.row(at, line, text, { digest });
        for (const action of actions) this.#writer.action(at, action);
      }
    }
  }

  /** The bad rows, with what their corrected versions were accepted as. */
  async #corrected(unusual: Batch["unusual"]): Promise<ReadonlyMap<number, BadRow>> {
    const digests = new Map<number, string>();
    for (const [index, { isBad, digest }] of unusual)
      if (isBad && digest !== undefined) digests.set(index, this.#writer.numberedDigest(digest));
    const found = digests.size === 0 ? [] : ((await this.#options.ledger?.corrected([...digests.values()])) ?? []);
    const accepted = Map.groupBy(found, ({ digest }) => digest);
    return new Map([...digests].map(([index, digest]) => [index, { digest, accepted: accepted.get(digest) ?? [] }]));
  }

  /** A row that could not be read or mapped at all is an error, even where the config turned its finding off. */
  #storeBad(of: Open, at: At, looked: Looked, { findings, attempted, digest }: Unusual): void {
    const { problems } = this.#options;
    const [, line, text] = looked;
    const where = whereIs(of, looked);
    this.read.invalid += 1;
    if (!problems.report(where, findings)) {
      const [first = { message: "The row can't be mapped.", hint: "Compare it with the rows above." }] = findings;
      problems.add(where, { ...first, rule: "item-shape" }, "error");
    }
    const reason = reasonOf(findings, problems);
    this.#writer.row(at, line, text, { state: "invalid", reason, digest });
    for (const action of attempted) this.#writer.bad(at, action);
  }

  /** Where a row of rejects was first read. */
  async #positionOf({ own, isLeft }: Unusual): Promise<Pick<At, "position" | "isLeft">> {
    if (own === undefined) return { position: undefined, isLeft };
    this.read.hasPositions = true;
    return { position: { run: await this.read.runs.numberOf(own.run), seq: own.seq }, isLeft };
  }

  /** Reports what is wrong with a file as a whole: of no row that could be left out, so that an error stops all. */
  #end(of: Open, { input, understanding }: Understood, { ofContent, ofRows, ...digests }: Whole): void {
    const { limit, problems } = this.#options;
    const { file, format, reading, given } = of;
    const rows = this.read.read - of.before;
    const isCut = this.read.read >= limit;
    const found: FileFinding[] = [];
    if (!isCut || rows > 0) found.push(...ofContent);
    if (rows > 0) found.push(...this.#contents.note(file, digests.contentSha256, reading.readAs));
    found.push(...[...of.changed, ...ofRows].filter(({ isOfAllRows }) => !(isCut && isOfAllRows === true)));
    const isArray = input.format === "json";
    // An export of many rows is no payload.
    if (isArray && understanding.used.length === 0 && given > MAX_ACTIONS_PER_REQUEST) found.push(tooLong(given));
    for (const { line = isArray ? 0 : 1, isOfAllRows: _, ...finding } of found)
      if (problems.report({ source: file.name, line }, [finding])) this.read.isUnfit = true;
    this.#bytes += input.bytesRead;
    const { name, path, compression } = file;
    const { bytesRead: bytes, encoding, delimiter, headerLine, header } = input;
    const { readAs, isSource } = reading;
    this.read.inputs.push({
      ...{ name, path, format, compression, bytes, sha256: digests.sha256, rows },
      ...{ encoding, delimiter, headerLine, header, readAs, isSource },
    });
  }
}

/** Starting a thread costs as much as looking at so many bytes. */
const LEAST_BYTES = 16 * 1024 * 1024;

function isWorthThread({ path }: InputFile): boolean {
  const found = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size >= LEAST_BYTES;
}

const USUAL = { position: undefined, isLeft: false };

interface BadRow {
  readonly digest: string;
  readonly accepted: readonly Corrected[];
}

function formatOf({ header, format }: Pick<Input, "header" | "format">): ReadInput["format"] {
  if (header !== undefined) return "cells";
  return format === "json" ? "json" : "ndjson";
}

function whereIs({ file, format }: Open, [index, line, text]: Looked): Where {
  return { source: file.name, line, text, item: pointerTo(format, index) };
}

/** Why a row is not sent, for its rejects. */
function reasonOf(findings: readonly Finding[], { severityOf }: Problems): string {
  const errors = findings.filter(({ rule }) => severityOf(rule) === "error");
  const shown = (errors.length > 0 ? errors : findings).map(({ rule, message }) => `${rule}: ${message}`);
  // Several actions of a row may all lack the same.
  return [...new Set(shown)].join(" ");
}

const tooLong = (items: number): FileFinding => ({
  rule: "payload-too-long",
  message: `The payload has ${items} items; a request takes ${MAX_ACTIONS_PER_REQUEST}.`,
  hint: "tickets stream splits it.",
});

function addTo(sums: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [reason, count] of counts) sums.set(reason, (sums.get(reason) ?? 0) + count);
}

interface Seen {
  readonly file: InputFile;
  readonly readAs: string;
}

/** The same content in two inputs, whatever their names and however they are packed. */
class ContentsSeen {
  readonly #seen = new Map<string, Seen[]>();

  /**
   * A file beside its packed form is one file given twice. Under another name it may be a copy, or another night's file that
   * says the same: for actions that happen once or have a time, that makes no difference; for others it does.
   *
   * @param file read to its end; it has rows.
   * @param readAs what its rows are read as; "" where they say it themselves.
   * @throws Failure `usage` where an earlier one is the same file, packed or not.
   */
  note(file: InputFile, contentSha256: string | undefined, readAs: string): readonly FileFinding[] {
    if (contentSha256 === undefined || file.isRejects === true) return [];
    const same = this.#seen.get(contentSha256) ?? [];
    const alike = same.filter((each) => each.readAs === readAs || each.readAs === "" || readAs === "");
    const packed = alike.find((each) => unpackedName(each.file) === unpackedName(file));
    if (packed !== undefined)
      throw new Failure("usage", `${shownName(file)} has the same content as ${nameWithin(packed.file)}.`, {
        hint: "Give only one of them: the same rows would be sent twice.",
      });
    this.#seen.set(contentSha256, [...same, { file, readAs }]);
    return alike.slice(0, 1).map((twin) => ({
      rule: "input-twice",
      message: `The input is the same as ${nameWithin(twin.file)}, byte for byte.`,
      hint: "What both say is sent once, unless a rule takes something from the file's name. Leave a copy out. If the same happened twice, give the rows times or their source a key.",
    }));
  }
}

const unpackedName = ({ path }: InputFile): string => path.replace(/\.(?:gz|zst)$/i, "");

/** A file's name within a sentence. */
const nameWithin = (file: InputFile): string => (file.name === "-" ? "standard input" : shownName(file));
