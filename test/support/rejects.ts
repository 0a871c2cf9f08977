/** Rejects as a person handles them: mended, streamed, and left unsent where they come too late. */

import { expect } from "vitest";
import type { Done, Field } from "./context.ts";

/** Puts a cell right in a rejects file. */
export async function mend(field: Field, name: string, ...[bad, good]: readonly [string, string]): Promise<void> {
  const rejects = await field.read(name);
  expect(rejects).toContain(bad);
  await field.write(name, rejects.replace(bad, good));
}

/** Rejects that come too late are told by a rule, and nothing of them is sent. */
export function isLeft({ exitCode, said, summary }: Done, rule: string): void {
  expect(said).toContain(rule);
  expect(exitCode, said).toBe(rule === "history-superseded" || rule === "history-late" ? 0 : 3);
  expect(summary?.actions, said).toMatchObject({ accepted: 0 });
}
