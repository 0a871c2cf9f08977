/** Output files that the ledger gets to know again. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Ledger } from "../ledger/ledger.ts";
import { adoptOutput, knownOutputs } from "../ledger/outputs.ts";
import type { Session } from "./session.ts";
/** The files that these runs wrote and of which the imported file is an exact copy: they become known as well. */
export async function originalsOf(
  { ledger, runList }: Session,
  path: string,
  runs: readonly string[],
): Promise<readonly string[]> {
  const outputs = new Set(runs.flatMap((run) => runList.content.runs.get(run)?.outputs ?? []));
  const known = knownOutputs(ledger);
  const originals: string[] = [];
  for (const output of outputs)
    if (output !== path && !known.has(output) && (await areSameBytes(output, path))) originals.push(output);
  return originals;
}

async function areSameBytes(one: string, other: string): Promise<boolean> {
  const [found, expected] = await Promise.all([stat(one).catch(() => undefined), stat(other)]);
  if (found?.isFile() !== true || found.size !== expected.size) return false;
  return (await sha256Of(one)) === (await sha256Of(other));
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const block of createReadStream(path)) hash.update(block);
  return hash.digest("hex");
}

/** Makes the file the ledger's own again, so that later runs append to it. */
export async function adoptFile(ledger: Ledger, path: string): Promise<void> {
  const sha256 = await sha256Of(path);
  const { size, mtimeNs } = await stat(path, { bigint: true });
  adoptOutput(ledger, { path, length: Number(size), mtimeNs: String(mtimeNs), sha256 });
}
