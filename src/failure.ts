/** Exit codes by failure code (docs/commands.md, Exit codes). Scripts depend on them. */
export const EXIT_CODES = {
  ok: 0,
  internal: 1,
  usage: 2,
  "input-invalid": 3,
  "finished-with-rejects": 4,
  "authentication-failed": 5,
  "in-doubt": 6,
  "stopped-early": 7,
  busy: 8,
  refused: 9,
  storage: 10,
} as const;

export type FailureCode = Exclude<keyof typeof EXIT_CODES, "ok">;

export interface FailureOptions {
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** The message also says that nothing was sent; names of files: that nothing of them was, since an earlier run came first. */
  readonly nothingSent?: boolean | readonly string[] | undefined;
}

/**
 * A bad run, as opposed to a bad row (which is data: a `Problem` or an outcome).
 *
 * `message` says what happened and to what; `hint` what to do. Neither ever holds a secret. The process ends with
 * `EXIT_CODES[code]`. `cause` is the error that was caught, for who debugs it or uses the library: no command prints it, so
 * what a person needs of it stands in `message`.
 */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  /** What happened, without what was not sent. */
  readonly happened: string;
  readonly nothingSent: boolean | readonly string[];

  constructor(code: FailureCode, happened: string, options: FailureOptions = {}) {
    const { hint, cause, nothingSent = false } = options;
    super(`${happened}${sentText(happened, nothingSent)}`, cause === undefined ? undefined : { cause });
    this.name = "Failure";
    this.code = code;
    this.hint = hint;
    this.happened = happened;
    this.nothingSent = nothingSent;
  }

  /** The same failure in other words: what is not given stays as it is. */
  with(changes: FailureOptions & { readonly code?: FailureCode; readonly happened?: string }): Failure {
    const { code, happened, ...options } = { ...this, cause: this.cause, ...changes };
    return new Failure(code, happened, options);
  }
}

function sentText(happened: string, nothingSent: boolean | readonly string[]): string {
  if (nothingSent === false) return "";
  const of = nothingSent === true ? "" : ` of ${nothingSent.join(", ")}`;
  // A list of faults has a line for each.
  return `${happened.includes("\n") ? "\n" : " "}Nothing${of} was sent.`;
}

/** What the system calls an error, such as `ENOENT`; undefined for those that it does not name. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Of an error and those that came while it was cleaned up after, the first: the others may come from it. */
export function firstThrown(error: unknown): unknown {
  let first = error;
  // A Node without such errors of its own makes plain ones of that name.
  while (first instanceof Error && first.name === "SuppressedError" && "suppressed" in first) first = first.suppressed;
  return first;
}

/** Exit codes of what a signal stopped: 128 and the signal's number, as shells have it. */
export const SIGNAL_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type StopSignal = keyof typeof SIGNAL_CODES;

const isStopSignal = (reason: unknown): reason is StopSignal =>
  typeof reason === "string" && Object.hasOwn(SIGNAL_CODES, reason);

/** The exit code of a command that threw. What the request to stop itself threw is that signal's; a fault is 1. */
export function exitCodeOfError(error: unknown, stop: AbortSignal): number {
  if (error instanceof Failure) return EXIT_CODES[error.code];
  return isStop(error, stop) && isStopSignal(stop.reason) ? SIGNAL_CODES[stop.reason] : EXIT_CODES.internal;
}

/** Whether an error is only what the request to stop threw; anything else is reported as what it is. */
export function isStop(error: unknown, stop: AbortSignal): boolean {
  return stop.aborted && (error === stop.reason || (error instanceof Error && error.name === "AbortError"));
}
