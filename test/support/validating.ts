/** `tickets validate --json` without a process. */

import { Readable } from "node:stream";
import { exitCodeOf, makeContext, type Options, verbs } from "./context.ts";
import type { Summary } from "./counts.ts";

interface FoundProblem {
  readonly source: string;
  readonly line: number;
  readonly pointer?: string;
  readonly rule: string;
  readonly severity: "warn" | "error";
  readonly field?: string;
  readonly value?: string;
  readonly message: string;
  readonly hint: string;
}

export interface Validated {
  readonly exitCode: number;
  readonly problems: readonly FoundProblem[];
  readonly rows: Summary["rows"];
  /** Why the file can't be used at all. */
  readonly message: string;
}

type ActionFlag = Options<"validate">["action"];

export async function validateFiles(
  files: readonly string[],
  options: { readonly cwd: string; readonly action?: ActionFlag; readonly stdin?: string },
): Promise<Validated> {
  const asked = makeContext(options.cwd, {});
  const stdin = Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]);
  const command = { files, json: true, ...(options.action !== undefined && { action: options.action }) };
  const exitCode = await exitCodeOf(asked, () => verbs.validate(command, { ...asked.context, stdin }));
  if (asked.out() === "") return { exitCode, problems: [], rows: NO_ROWS, message: asked.said() };
  const { problems, counts } = JSON.parse(asked.out());
  return { exitCode, problems, rows: counts.rows, message: "" };
}

const NO_ROWS = { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0 };
