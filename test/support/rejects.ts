/** Rejects as a person handles them: corrected, streamed, and left unsent where they come too late. */

import { expect } from "vitest";
import type { Done, Field } from "./context.ts";

/** Puts a cell right in a rejects file. */
export async function mend(field: Field, name: string, ...[bad, good]: readonly [string, string]): Promise<void> {
  const rejects = await field.read(name);
  expect(rejects).toContain(bad);
  await field.write(name, rejects.replace(bad, good));
}

/** Rejects that come too late, or nobody knows whether they do, are reported, and nothing of them is sent. */
export function isLeft({ exitCode, said, summary }: Done, verdict: "late" | "unclear"): void {
  expect(exitCode, said).toBe(4);
  expect(summary?.actions, said).toMatchObject({ accepted: 0, [verdict]: 1 });
}
