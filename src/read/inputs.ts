import type { BigIntStats, Dirent, readdir as readDirectory } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join, resolve } from "node:path";
import { glob, isDynamicPattern } from "tinyglobby";
import { nearest } from "../actions/nearest.ts";
import { Failure } from "../failure.ts";
import { cleanText } from "../text.ts";
import { bomEncoding } from "./encoding.ts";
import {
  compressionOf,
  FORMAT_OF_ENDING,
  INPUT_FORMATS,
  type InputFormat,
  PACKED_ENDINGS,
  unpackedName,
} from "./file-names.ts";
import { fileFailure, type InputFile, openBytes, shownName } from "./input-file.ts";
import { firstNames, showRejects } from "./rejects-columns.ts";

export interface ResolveOptions {
  /** What relative paths and globs start from (the process's working directory). */
  readonly cwd?: string | undefined;
  /** `--format`: the format of every input, whatever its name. */
  readonly inputFormat?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const ARCHIVES: readonly string[] = ["zip", "xz", "bz2", "7z", "rar", "tar", "tgz", "z"];

/**
 * The inputs that the arguments of a command name, in their order; a glob's matches are sorted by name, with numbers as
 * numbers. An existing path wins over its meaning as a glob. Throws a usage failure for an input that is missing, unreadable,
 * a directory, a link that leads nowhere, a pipe that a glob matches, given twice, or of unknown format. Throws one for files
 * that `tickets` wrote, too, as far as their first lines show it: promises, and rejects that a glob named or that stand beside
 * other files.
 */
export async function resolveInputs(
  patterns: readonly string[],
  options: ResolveOptions = {},
): Promise<readonly InputFile[]> {
  const cwd = options.cwd ?? process.cwd();
  const inputFormat = options.inputFormat === undefined ? undefined : toInputFormat(options.inputFormat);
  const inputs: InputFile[] = [];
  const namedBy = new Map<string, string>();
  const apart = keepRejectsApart();
  for (const pattern of patterns) {
    for (const name of await namesOf(pattern, cwd, options)) {
      const isFromGlob = name !== pattern;
      const found = name === "-" ? undefined : await statOf(name, cwd, isFromGlob);
      /** The same for all names of one file, links included. */
      const identity = found === undefined ? name : `${found.dev}:${found.ino}`;
      const earlier = namedBy.get(identity);
      if (earlier !== undefined) {
        const twice = earlier === pattern ? "" : ` (by ${cleanText(earlier, 100)} and by ${cleanText(pattern, 100)})`;
        throw new Failure("usage", `${shownName({ name })} was given twice${twice}.`, { hint: "Name each file once." });
      }
      namedBy.set(identity, pattern);
      const input = toInputFile(name, cwd, inputFormat);
      // A pipe or a shell's <(...) gives its bytes once: never look into it before it is read.
      const isRejects = found?.isFile() === true ? await refuseOwnOutput(input, isFromGlob) : undefined;
      if (isRejects !== undefined) apart.see(input, isRejects);
      inputs.push(isRejects === true ? { ...input, isRejects } : input);
    }
  }
  return inputs;
}

function toInputFormat(text: string): InputFormat {
  const format = FORMAT_OF_ENDING.get(text);
  if (format !== undefined) return format;
  const near = nearest(text, INPUT_FORMATS);
  throw new Failure("usage", `There is no input format "${cleanText(text, 40)}".`, {
    hint: `${near === undefined ? "" : `Did you mean ${near}? `}Formats are ${INPUT_FORMATS.join(", ")}.`,
  });
}

async function namesOf(pattern: string, cwd: string, { signal }: ResolveOptions): Promise<readonly string[]> {
  signal?.throwIfAborted();
  if (pattern === "-") return [pattern];
  // Resolved, an empty name would be the working directory.
  if (pattern === "") throw new Failure("usage", "A file name is empty.", { hint: "Was a variable not set?" });
  if (!isDynamicPattern(pattern) || (await exists(resolve(cwd, pattern)))) return [pattern];
  const files = await filesOf(pattern, cwd, signal);
  if (files.length === 0)
    throw new Failure("usage", `No file matches ${cleanText(pattern, 300)}.`, {
      hint: "A relative pattern begins in the folder that the command runs in.",
    });
  // Runs of digits compare as numbers, so that updates-8.csv comes before updates-10.csv.
  const { compare } = new Intl.Collator("en", { numeric: true });
  return files.toSorted((a, b) => compare(a, b) || (a < b ? -1 : 1));
}

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined;

function toInputFile(name: string, cwd: string, inputFormat: InputFormat | undefined): InputFile {
  if (name === "-") return { path: "-", name, format: inputFormat ?? "detect", compression: "none" };
  const extension = /\.([^.]+)$/.exec(unpackedName(basename(name)))?.[1]?.toLowerCase() ?? "";
  const format = inputFormat ?? FORMAT_OF_ENDING.get(extension);
  if (format === undefined && ARCHIVES.includes(extension))
    throw new Failure("usage", `${shownName({ name })} is an archive, which can't be read.`, {
      hint: `Unpack it first. Only ${PACKED_ENDINGS.join(" and ")} are unpacked while they are read.`,
    });
  if (format === undefined)
    throw new Failure("usage", `The name of ${shownName({ name })} doesn't show its format.`, {
      hint: `Save a workbook as "CSV UTF-8". Else name the format with --format (${INPUT_FORMATS.join(", ")}), or end the name in ${Array.from(FORMAT_OF_ENDING.keys(), (ending) => `.${ending}`).join(", ")}.`,
    });
  return { path: resolve(cwd, name), name, format, compression: compressionOf(name) ?? "none" };
}

/** Throws for what is no file. A pipe may be named by itself alone: one that a glob finds may have no writer and never end. */
async function statOf(name: string, cwd: string, isFromGlob: boolean): Promise<BigIntStats> {
  const found = await stat(resolve(cwd, name), { bigint: true }).catch((cause) => {
    throw fileFailure({ name }, cause);
  });
  const shown = shownName({ name });
  if (found.isDirectory())
    throw new Failure("usage", `${shown} is a directory, not a file.`, {
      hint: `Name the files in it, such as "${shown.replace(/\/+$/, "")}/*.csv".`,
    });
  if (isFromGlob && !found.isFile())
    throw new Failure(
      "usage",
      `${shown} is a ${found.isFIFO() ? "named pipe" : "socket or device"}; a glob must not match it.`,
      { hint: "Name it by itself, or narrow the glob." },
    );
  return found;
}

const PROMISES_KEYS = ["environment", "run", "seq"] as const;

/**
 * Throws when the first line shows that `tickets` wrote the file: promises always, rejects when a glob found them.
 *
 * @returns whether the file holds rejects; undefined where its first line shows nothing.
 */
async function refuseOwnOutput(input: InputFile, isFromGlob: boolean): Promise<boolean | undefined> {
  const names = firstNames(await beginningOf(input));
  const isPromises =
    PROMISES_KEYS.every((key) => names.includes(key)) && (names.includes("actionPromise") || names.includes("status"));
  if (isPromises) {
    throw new Failure("usage", `${shownName(input)} is a promises file that tickets wrote, not an input.`, {
      hint: isFromGlob
        ? "Narrow the glob, or write results to another directory with --output."
        : "Name the file it was made from.",
    });
  }
  const isRejects = showRejects(names);
  if (isRejects && isFromGlob) throw refuseRejects(input, "a glob must not match it");
  return names.some((name) => name !== "") ? isRejects : undefined;
}

/** The first block as text; "" when it can't be read: opening the input will say why. */
async function beginningOf(input: InputFile): Promise<string> {
  await using source = await openBytes(input);
  const blocks = source.blocks();
  const head = await blocks.next().catch(() => undefined);
  await blocks.return();
  return head?.done === false ? new TextDecoder(bomEncoding(head.value)).decode(head.value) : "";
}

/**
 * The files that `pattern` matches, so that nothing of it is left out in silence. Throws a usage failure for a directory
 * on the way that can't be looked into.
 */
async function filesOf(pattern: string, cwd: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  let unreadable: Failure | undefined;
  const list = (
    path: string,
    _options: { readonly withFileTypes: true },
    done: (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void,
  ): void => {
    entriesOf(path).then(
      (entries) => done(null, entries),
      (cause) => {
        if (!["ENOENT", "ENOTDIR"].includes(cause.code)) unreadable ??= fileFailure({ name: path }, cause);
        done(cause, []);
      },
    );
  };
  const found = await glob(pattern, {
    cwd,
    absolute: isAbsolute(pattern),
    expandDirectories: false,
    fs: { readdir: list as typeof readDirectory }, // the only form that the glob calls
    ...(signal === undefined ? {} : { signal }),
  });
  if (unreadable !== undefined) throw unreadable;
  return found;
}

/** What a directory holds; pipes and dead links are shown as files, otherwise the glob would skip them. */
async function entriesOf(path: string): Promise<Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true });
  for (const entry of entries) {
    const leadsOn = entry.isSymbolicLink() && (await exists(join(path, entry.name)));
    if (!entry.isDirectory() && !leadsOn) entry.isFile = () => true;
  }
  return entries;
}

type Named = { readonly name: string };

interface Seen {
  readonly file: Named;
  readonly line: number | undefined;
}

/** Looks at the inputs of a command, or at their rows, one after the other. */
export function keepRejectsApart() {
  let rejects: Seen | undefined;
  let other: Seen | undefined;
  return {
    /**
     * Throws a usage failure once rejects and something else were seen: a row that stands in both is one to a person
     * and two to the ledger, of which one would stand behind what comes later.
     *
     * @param line of the row that shows it, where the file may hold both.
     */
    see(file: Named, isRejects: boolean, line?: number): void {
      if (isRejects) rejects ??= { file, line };
      else other ??= { file, line };
      if (rejects !== undefined && other !== undefined) throw refuseTogether(rejects, other);
    },
  };
}

function refuseTogether(rejects: Seen, other: Seen): Failure {
  if (rejects.file !== other.file)
    return refuseRejects(
      rejects.file,
      `it can't be read together with ${shownName(other.file)}, which may hold the same rows`,
    );
  return new Failure(
    "usage",
    `${shownName(rejects.file)} holds a row of a rejects file in line ${rejects.line} and another row in line ${other.line}; the two can't be read together.`,
    { hint: `${STREAM_APART} A row that was added by hand needs "tickets:row": "".` },
  );
}

const STREAM_APART = "Fix the rejects and stream them first, by themselves; then the export.";

/** @param because why, as the end of the sentence. */
function refuseRejects(file: Named, because: string): Failure {
  return new Failure("usage", `${shownName(file)} is a rejects file that tickets wrote; ${because}.`, {
    hint: `${STREAM_APART} If a pattern such as *.csv matched them, narrow it.`,
  });
}
