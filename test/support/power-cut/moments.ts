/** When the power is cut, and what the service had processed by then. */

import type { RecordedStory } from "./recorded.ts";
import type { ProcessedRequest } from "./service.ts";

/** So many calls after a request has left: its answer, and what comes of it. */
const NEAR = 12;

export interface Moment {
  /** A place of the log, at which a call had just ended. */
  readonly at: number;
  /** What was about to be forced to the disk, where that is why this moment was chosen. */
  readonly torn?: string | undefined;
}

/** Any moment, one near a request, or one at which a file was about to be forced to the disk: each file as often as any other. */
export function momentOf({ trace, sent }: RecordedStory, random: () => number): Moment {
  const anyOf = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T; // none is empty
  const after = (call: number): number => (trace[Math.max(0, call)] ?? trace.at(-1))?.end ?? 0;
  switch (anyOf(["any", "request", "sync"] as const)) {
    case "any":
      return { at: after(Math.floor(random() * trace.length)) };
    case "request": {
      const { leftAt } = anyOf(sent);
      return { at: after(trace.findIndex(({ start }) => start === leftAt) + Math.floor(random() * NEAR)) };
    }
    case "sync": {
      const syncs = trace.flatMap(({ operation: { kind, ...call } }, at) =>
        kind === "sync" && "path" in call ? [{ at, path: call.path }] : [],
      );
      const { at, path } = anyOf(anyOf([...Map.groupBy(syncs, (sync) => sync.path).values()]));
      return { at: after(at - 1), torn: path };
    }
  }
}

/** A place of the log at which a request had just left. */
export function momentOfRequest({ trace, sent }: RecordedStory, random: () => number): Moment {
  const leftAt = sent[Math.floor(random() * sent.length)]?.leftAt;
  return { at: trace.find(({ start }) => start === leftAt)?.end ?? 0 };
}

/**
 * What had been processed, and of what had left as much as chance has it.
 *
 * @param chance of each request that may or may not have been processed.
 */
export function processedBy(
  { earlier, sent }: RecordedStory,
  { at }: Moment,
  random: () => number,
  chance = 0.5,
): readonly ProcessedRequest[] {
  let count = sent.findLastIndex(({ processedAt }) => processedAt < at) + 1;
  const mayBe = (): boolean => (sent[count]?.leftAt ?? at) < at;
  while (mayBe() && random() < chance) count += 1;
  return [...earlier, ...sent.slice(0, count).map(({ request }) => request)];
}
