/** `ticket-stream` as a library; docs/reference.md#the-library shows each function. */

export { ACTION_NAMES, type Action, type ActionName } from "./actions/actions.ts";
export type { PlacedProblem as Problem } from "./actions/problem.ts";
export { actionSchemas, type JsonSchema } from "./actions/schemas.ts";
export { EXIT_CODES, Failure, type FailureCode } from "./failure.ts";
export {
  type CheckOptions,
  plan,
  type ResumeOptions,
  resume,
  type SettleOptions,
  type StreamOptions,
  type Surroundings,
  settle,
  status,
  statusOfRun,
  stream,
  validate,
} from "./library.ts";
export type { CheckedInput, Progress, RunEvent, WorkUnderWay } from "./run/context.ts";
export type { RunDetails, RunStatus, Status } from "./run/runs.ts";
export type { SettleResult } from "./run/settle.ts";
export type { StreamResult } from "./run/stream.ts";
export type { RunEnd, Summary } from "./run/summary.ts";
export { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox/server.ts";
