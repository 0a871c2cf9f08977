/** JSON lines on standard output: their very bytes for a program, and for a terminal the same without what would steer it. */

import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { escapeUnseen } from "../actions/text.ts";
import type { Context } from "./context.ts";

export async function copyToOutput(path: string, { stdout }: Pick<Context, "stdout">): Promise<void> {
  if (!("isTTY" in stdout) || stdout.isTTY !== true) return pipeline(createReadStream(path), stdout, { end: false });
  const escaped = async function* (parts: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const part of parts) yield escapeUnseen(part);
  };
  return pipeline(createReadStream(path, "utf8"), escaped, stdout, { end: false });
}
