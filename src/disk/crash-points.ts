/**
 * Moments of a run at which tests kill the process, as if the machine had been switched off. The hidden variable
 * `TICKETS_TEST_CRASH_AT` names one, and after a colon which time it counts (1): `settled:3`.
 */

export const CRASH_POINTS = [
  "planned",
  "entered",
  "listed",
  "intended",
  "answered",
  "settled",
  "projected",
  "rejects written",
  "ended",
] as const;

/** Moments that only some runs have: where a row is not sent, and where a person closes the run. */
const RARE_CRASH_POINTS = ["rejects placed", "closing"] as const;
export type CrashPoint = (typeof CRASH_POINTS | typeof RARE_CRASH_POINTS)[number];

const [point, time = "1"] = (process.env.TICKETS_TEST_CRASH_AT ?? "").split(":");
let passed = 0;

export function crashPoint(name: CrashPoint): void {
  if (name !== point) return;
  passed += 1;
  if (passed === Number(time)) process.kill(process.pid, "SIGKILL");
}
