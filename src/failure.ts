/** Exit codes by failure code (design: the exit-code table). Scripts depend on them. */
export const EXIT_CODES = {
  ok: 0,
  internal: 1,
  usage: 2,
  "input-invalid": 3,
  "finished-with-rejects": 4,
  "not-let-in": 5,
  "in-doubt": 6,
  "stopped-early": 7,
  busy: 8,
  refused: 9,
  storage: 10,
} as const;

export type FailureCode = Exclude<keyof typeof EXIT_CODES, "ok">;

/**
 * A bad run, as opposed to a bad row (which is data: a `Problem` or an outcome).
 *
 * `message` says what happened and to what; `hint` what to do. Neither ever holds a secret. The process ends with
 * `EXIT_CODES[code]`; `cause` is kept for `--verbose`.
 */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;

  constructor(code: FailureCode, message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Failure";
    this.code = code;
    this.hint = options.hint;
  }
}
