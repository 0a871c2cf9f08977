/** Turns of the event loop for work that keeps its thread busy for about a millisecond. */

const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop of its own: of all that wait, whichever lane they are of, one goes on, and what came
 * meanwhile is looked at before the next does. With many lanes their steps would follow each other without a look otherwise.
 */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(next);
  });
}

/** Goes through steps of which each takes about a millisecond, with a turn of its own for each but the first. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await turn();
  }
}

/** Goes through steps without a pause. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function next(): void {
  const goOn = waiting.shift();
  if (waiting.length > 0) setImmediate(next);
  goOn?.();
}
