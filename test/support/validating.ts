/** `tickets validate --json` without a process. */

import { Readable } from "node:stream";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
import { makeContext, type Options, verbs } from "./context.ts";
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
  /** What was thrown where the file can't be used at all. */
  readonly message: string;
}

type ActionFlag = Options<"validate">["action"];

export async function validateFiles(
  files: readonly string[],
  options: { readonly cwd: string; readonly action?: ActionFlag; readonly stdin?: string },
): Promise<Validated> {
  const asked = makeContext(options.cwd, {});
  try {
    const exitCode = await verbs.validate(
      { files, json: true, ...(options.action !== undefined && { action: options.action }) },
      { ...asked.context, stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]) },
    );
    const { problems, counts } = JSON.parse(asked.out());
    return { exitCode, problems, rows: counts.rows, message: "" };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return {
      exitCode: EXIT_CODES[error.code],
      problems: [],
      rows: { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0 },
      message: error.message,
    };
  }
}
