/** `tickets validate --json` without a process. */

import { Readable, Writable } from "node:stream";
import { newTrace } from "../../src/commands/trace.ts";
import { validate } from "../../src/commands/validate.ts";
import { EXIT_CODES, Failure } from "../../src/failure.ts";
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

type ActionFlag = Parameters<typeof validate>[0]["action"];

export async function validateFiles(
  files: readonly string[],
  options: { readonly cwd: string; readonly action?: ActionFlag; readonly stdin?: string },
): Promise<Validated> {
  let out = "";
  const nothing = (): void => {};
  const { signal } = new AbortController();
  const saying = {
    info: nothing,
    warn: nothing,
    warnAgain: nothing,
    notice: nothing,
    error: nothing,
    detail: nothing,
    log: nothing,
  };
  const reporter = { ...saying, progress: nothing, ask: undefined };
  try {
    const exitCode = await validate(
      { files, json: true, flags: {}, ...(options.action !== undefined && { action: options.action }) },
      {
        cwd: options.cwd,
        env: {},
        stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
        stdout: new Writable(),
        reporter: { ...reporter, out: (text) => (out += text) },
        now: () => new Date("2026-12-01T00:00:00Z"),
        isStdoutTaken: false,
        version: () => "0.0.0",
        verbose: false,
        stop: signal,
        abort: signal,
        trace: newTrace(),
      },
    );
    const { problems, counts } = JSON.parse(out);
    return { exitCode, problems, rows: counts.rows, message: "" };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return {
      exitCode: EXIT_CODES[error.code],
      problems: [],
      rows: { read: 0, mapped: 0, skipped: 0, invalid: 0, held: 0, mended: 0 },
      message: error.message,
    };
  }
}
