/** What a log can hold: the one table of its events, from which the type of a line and docs/reference.md derive. */

interface LogEventSpec {
  readonly when: string;
  /** Beside those that every line has. */
  readonly fields: readonly string[];
}

/** The names are stable: programs and alerts depend on them. */
export const LOG_EVENTS = {
  "command.started": { when: "first of all", fields: ["command", "version"] },
  "ledger.opened": { when: "the environment and its ledger are known", fields: [] },
  "lock.waiting": { when: "another run holds the ledger", fields: [] },
  "input.read": { when: "it is known how a file is read", fields: ["file", "action"] },
  problem: {
    when: "a check found something: once for each rule and field, with the first place",
    fields: ["rule", "file", "line", "field", "action", "count"],
  },
  "plan.made": { when: "the input is checked, and something is to be sent", fields: ["counts", "actions"] },
  "run.published": { when: "a run is in the ledger, for workers to send", fields: ["actions", "chunks"] },
  "run.first": { when: "an unfinished run is finished before the input is read", fields: [] },
  "run.started": { when: "a run is about to be sent, or its rest", fields: ["resumed", "actions", "chunks"] },
  "chunk.sent": {
    when: "a request is about to leave; its intent is on disk",
    fields: ["chunk", "lane", "attempt", "actions"],
  },
  "chunk.settled": { when: "the answer decided about a chunk", fields: ["chunk", "lane", "counts"] },
  wait: {
    when: "a chunk was certainly not taken, and is tried again",
    fields: ["chunk", "lane", "waitMs", "detail"],
  },
  progress: { when: "every half minute of work", fields: ["doing", "done", "total"] },
  doubt: {
    when: "a chunk is in doubt, or a run has doubts: a person decides",
    fields: ["chunk", "lane", "actions", "detail"],
  },
  rejection: { when: "one of the first actions that the service rejected", fields: ["file", "line", "action"] },
  "run.stopped": { when: "why a run stopped before its end", fields: ["reason", "chunk", "lane", "detail"] },
  "run.ended": { when: "a run ended, for now or for good", fields: ["counts", "next", "exitCode", "durationMs"] },
  question: { when: "a person on the terminal is asked", fields: [] },
  failure: { when: "why the command failed; also before there is a run", fields: ["code", "exitCode"] },
  warning: { when: "anything else that someone should know", fields: [] },
  error: { when: "anything else that is wrong", fields: [] },
  note: { when: "anything else that is said", fields: [] },
  "command.ended": { when: "last of all", fields: ["command", "counts", "next", "exitCode", "durationMs"] },
} as const satisfies Record<string, LogEventSpec>;

type LogEventName = keyof typeof LOG_EVENTS;

/** What a line says beside its words; undefined is left out. */
export type LogEvent = {
  readonly [Name in LogEventName]: { readonly event: Name } & {
    readonly [Field in (typeof LOG_EVENTS)[Name]["fields"][number]]?: string | number | boolean | object | undefined;
  };
}[LogEventName];
