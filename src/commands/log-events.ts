/** What a log can hold: the one table of its events and fields, from which types, JSON Schema and docs/reference.md derive. */

export const EVENT_FIELDS = {
  command: { type: "string", meaning: "`stream`, `resume`, …" },
  version: { type: "string", meaning: "version of `tickets`" },
  file: { type: "string", meaning: "input file, as it was named" },
  line: { type: "integer", meaning: "physical line where the row starts; of a JSON array the index, from 0" },
  rule: { type: "string", meaning: "id of a rule" },
  field: { type: "string", meaning: "field or column" },
  action: { type: "string", meaning: "kind of the action" },
  count: { type: "integer", meaning: "how many there are of these" },
  counts: { type: "counts", meaning: "rows or actions by what became of them, called as in the summary" },
  chunk: { type: "integer", meaning: "number of the chunk in its run" },
  chunks: { type: "integer", meaning: "how many chunks the run has to send" },
  lane: { type: "integer", meaning: "lane of the chunk" },
  attempt: { type: "integer", meaning: "which attempt at the chunk, from 1" },
  actions: { type: "integer", meaning: "how many actions" },
  waitMs: { type: "integer", meaning: "milliseconds until the next attempt" },
  detail: { type: "string", meaning: "what the service, or the way to it, answered" },
  reason: {
    type: "string",
    meaning: "why: `in doubt`, `refused`, `authentication failed`, `not reachable`, `too many rejections`, `stopped`",
  },
  resumed: { type: "boolean", meaning: "the run was begun by an earlier command" },
  doing: { type: "string", meaning: "what is under way" },
  done: { type: "integer", meaning: "how much of it is done" },
  total: { type: "integer", meaning: "of how much" },
  code: { type: "string", meaning: "why it failed, in a word that stays the same (see the exit codes)" },
  hint: { type: "string", meaning: "what to do" },
  next: { type: "string", meaning: "the command that goes on" },
  exitCode: { type: "integer", meaning: "exit code of the command" },
  durationMs: { type: "integer", meaning: "milliseconds since the command began" },
} as const satisfies Record<string, LogField>;

export interface LogField {
  readonly type: "string" | "integer" | "boolean" | "counts";
  readonly meaning: string;
}

export interface LogEventSpec {
  readonly when: string;
  readonly fields: readonly (keyof typeof EVENT_FIELDS)[];
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
    when: "a chunk was certainly not taken, or a question about a promise not answered, and is tried again",
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
  failure: { when: "why the command failed; also before there is a run", fields: ["code", "hint", "exitCode"] },
  warning: { when: "anything else that someone should know", fields: [] },
  error: { when: "anything else that is wrong", fields: [] },
  note: { when: "anything else that is said", fields: [] },
  "command.ended": { when: "last of all", fields: ["command", "counts", "next", "exitCode", "durationMs"] },
} as const satisfies Record<string, LogEventSpec>;

type LogEventName = keyof typeof LOG_EVENTS;

interface TypeOf {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly counts: object;
}

/** What a line says beside its words; undefined is left out. */
export type LogEvent = {
  readonly [Name in LogEventName]: { readonly event: Name } & {
    readonly [Field in (typeof LOG_EVENTS)[Name]["fields"][number]]?:
      | TypeOf[(typeof EVENT_FIELDS)[Field]["type"]]
      | undefined;
  };
}[LogEventName];
