import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** Resolves once it is so, looked at in each turn of the event loop. Nothing but the test's own limit ends the wait, on however busy a machine. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  while (!(await isSo()) && !isOver) await setImmediate();
}
