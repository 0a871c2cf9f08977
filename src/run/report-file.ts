/** The file of a report: where it may stand, looked at before anything is sent, and how it is written. */

import { constants } from "node:fs";
import { access, lstat, open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { displayPath, quoted } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { writeWhole } from "../write/output-file.ts";
import type { RunContext } from "./context.ts";

/**
 * The absolute path of a report that can be written.
 *
 * @param taken other files of the command, which a report must not replace.
 * @throws Failure `usage` for a file that is no earlier report, and a folder that is missing or can't be written.
 */
export async function reportPath(
  { cwd }: Pick<RunContext, "cwd">,
  file: string,
  { taken, isToSend }: { readonly taken: readonly (string | undefined)[]; readonly isToSend: boolean },
): Promise<string> {
  const refuse = (why: string, hint = "Name another file with --report.", cause?: unknown): Failure =>
    new Failure("usage", `--report ${why}${isToSend ? " Nothing was sent." : ""}`, { hint, cause });
  if (!/\.html?$/i.test(file))
    throw refuse(
      `${quoted(file, 200)} does not end in .html.`,
      "A report is an HTML page: name a file such as report.html.",
    );
  const named = resolve(cwd, file);
  const shown = displayPath(named, cwd);
  // What a link leads to is replaced, and the link stays.
  const path = await realpath(named).catch(() => named);
  if (taken.some((other) => other !== undefined && other !== "-" && resolve(cwd, other) === named))
    throw refuse(`${shown} is also the file of another flag or an input.`);
  const folder = dirname(path);
  const place = displayPath(folder, cwd);
  const above = await stat(folder).catch(() => undefined);
  if (!above?.isDirectory())
    throw refuse(
      `${shown}: ${above === undefined ? "there is no folder" : "no folder is"} ${place}.`,
      "Create it, or name another file.",
    );
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw refuse(`${shown}: the folder ${place} is not writable.`, undefined, cause);
  });
  // Only an earlier report and an empty file are replaced.
  const found = await stat(path).catch(() => undefined);
  if (found === undefined && (await lstat(path).catch(() => undefined))?.isSymbolicLink())
    throw refuse(`${shown} is a link to a file that does not exist.`, "Name another file, or remove the link.");
  if (found?.isDirectory()) throw refuse(`${shown} is a folder.`);
  if (!found?.isFile() || found.size === 0) return path; // a device or a pipe takes what is written
  const { REPORT_MARK } = await import("../write/report/page.ts");
  const beginning = await readBeginning(path, Buffer.byteLength(REPORT_MARK)).catch((cause: unknown) => {
    throw refuse(`${shown} can't be read, so it is not known what it is.`, undefined, cause);
  });
  if (beginning === REPORT_MARK) return path;
  throw refuse(`${shown} is not replaced: it is no report of tickets.`, "Name another file, or move this one away.");
}

/**
 * Writes a report whole or not at all. What a run came to does not depend on it.
 *
 * @returns why it could not be written.
 */
export async function writeReport(path: string, page: string): Promise<Failure | undefined> {
  try {
    await writeWhole(path, page);
    return undefined;
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
}

/** The first bytes of a file, as text. */
async function readBeginning(path: string, length: number): Promise<string> {
  await using file = await open(path, "r");
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, 0);
  return bytes.toString("utf8", 0, bytesRead);
}
