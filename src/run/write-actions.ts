/** The actions of a plan, written to a file. */

import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, link } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { displayPath } from "../actions/text.ts";
import { Failure } from "../failure.ts";
import { storageFailure } from "../ledger/open-ledger.ts";
import { isPlainFile, makeWayFor } from "../outputs/output-file.ts";
import type { RunContext } from "./context.ts";

/**
 * Writes actions as NDJSON that is itself valid input.
 *
 * @param actions the file that holds them, which is removed and not changed afterwards.
 * @param inputs files that must not be overwritten.
 * @returns the path that was written.
 * @throws Failure `usage` for one of the inputs, `storage` for what can't be written.
 */
export async function writeActions(
  { cwd }: Pick<RunContext, "cwd">,
  actions: string,
  output: string,
  inputs: readonly string[],
): Promise<string> {
  const target = resolve(cwd, output);
  if (inputs.some((file) => resolve(cwd, file) === target)) {
    throw new Failure("usage", `${displayPath(target, cwd)} is one of the inputs; it is not overwritten.`, {
      hint: "Name another file with --output.",
    });
  }
  await makeWayFor(target);
  // Copying puts a file in the place of the target, or nothing: a device or a pipe is written to.
  const written = (await isPlainFile(target))
    ? putFile(actions, target)
    : pipeline(createReadStream(actions), createWriteStream(target));
  await written.catch((cause: unknown) => Promise.reject(storageFailure(target, cause)));
  return target;
}

/** A second name takes no time; there is none where a file stands already, on another file system, and on some at all. */
async function putFile(from: string, target: string): Promise<void> {
  try {
    await link(from, target);
  } catch {
    await copyFile(from, target);
  }
}
