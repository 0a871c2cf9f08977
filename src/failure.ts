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
 * `EXIT_CODES[code]`. `cause` is the error that was caught, for users of the library: no command prints it, so `message` says
 * what a person needs to know.
 */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  /** The message without the sentence about what was not sent. */
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

/** The system's name of an error, such as `ENOENT`; undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The first of an error and those thrown while cleaning up after it, which it may have caused. */
export function firstThrown(error: unknown): unknown {
  let first = error;
  // Older versions of Node have no such class, and make plain errors of that name.
  while (first instanceof Error && first.name === "SuppressedError" && "suppressed" in first) first = first.suppressed;
  return first;
}

/** Exit codes after a signal: 128 and its number, as in shells. */
export const SIGNAL_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type StopSignal = keyof typeof SIGNAL_CODES;

const isStopSignal = (reason: unknown): reason is StopSignal =>
  typeof reason === "string" && Object.hasOwn(SIGNAL_CODES, reason);

/** The exit code of a command that threw: the failure's, the signal's if that stopped it, else 1. */
export function exitCodeOfError(error: unknown, stop: AbortSignal): number {
  if (error instanceof Failure) return EXIT_CODES[error.code];
  return isStop(error, stop) && isStopSignal(stop.reason) ? SIGNAL_CODES[stop.reason] : EXIT_CODES.internal;
}

/** Whether the request to stop threw this error. */
export function isStop(error: unknown, stop: AbortSignal): boolean {
  return stop.aborted && (error === stop.reason || (error instanceof Error && error.name === "AbortError"));
}
