/** The actions of a plan, written to a file. */

import { constants, createReadStream, createWriteStream } from "node:fs";
import { copyFile, link, realpath, rename, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { displayPath } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { SAME_AGAIN, storageFailure } from "../ledger/open-ledger.ts";
import { isPlainFile, makeWayFor, readBeginning } from "../outputs/output-file.ts";
import type { RunContext } from "./context.ts";

/**
 * Writes actions as NDJSON that is itself valid input: whole or not at all, where it is no device or pipe. Only a file that holds
 * actions too, as an earlier plan does, is replaced.
 *
 * @param actions the file that holds them, which is removed and not changed afterwards.
 * @param inputs files that must not be overwritten.
 * @returns the path that was written.
 * @throws Failure `usage` for one of the inputs, or a file that holds something else; `storage` for what can't be written.
 */
export async function writeActions(
  { cwd }: Pick<RunContext, "cwd">,
  actions: string,
  output: string,
  inputs: readonly string[],
): Promise<string> {
  const target = resolve(cwd, output);
  const own = await fileAt(target);
  for (const input of inputs) {
    const path = resolve(cwd, input);
    if (path === target || (own !== undefined && own === (await fileAt(path))))
      throw new Failure("usage", `${displayPath(target, cwd)} is one of the inputs; it is not overwritten.`, {
        hint: "Name another file with --output.",
      });
  }
  await makeWayFor(target);
  if (!(await isPlainFile(target)))
    await toFile(target, pipeline(createReadStream(actions), createWriteStream(target)));
  else {
    if (own !== undefined && !(await holdsActions(target)))
      throw new Failure(
        "usage",
        `${displayPath(target, cwd)} holds no actions of an earlier plan; it is not overwritten.`,
        {
          hint: "Name another file with --output, or remove this one.",
        },
      );
    await toFile(target, putFile(actions, own === undefined ? target : await realpath(target)));
  }
  return target;
}

/** The same for all names of one file, links included; undefined where there is none. */
async function fileAt(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}

const ACTION = '{"action":"';

async function holdsActions(path: string): Promise<boolean> {
  const beginning = await readBeginning(path, ACTION.length);
  return beginning === "" || beginning === ACTION;
}

const toFile = (target: string, written: Promise<void>): Promise<void> =>
  written.catch((cause: unknown) => Promise.reject(storageFailure(target, cause, SAME_AGAIN)));

/** A second name takes no time; there is none on another file system, and on some at all. */
async function putFile(from: string, target: string): Promise<void> {
  const beside = `${target}.${process.pid}.tmp`;
  try {
    await rm(beside, { force: true });
    await link(from, beside).catch(() => copyFile(from, beside, constants.COPYFILE_EXCL));
    await rename(beside, target);
  } finally {
    await rm(beside, { force: true });
  }
}
