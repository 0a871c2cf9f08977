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

function next(): void {
  const goOn = waiting.shift();
  if (waiting.length > 0) setImmediate(next);
  goOn?.();
}
