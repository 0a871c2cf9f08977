/** Lines of a log. */

import { expect } from "vitest";

export type Line = Readonly<Record<string, unknown>> & { readonly event: string };

/** Each line a JSON object with what all of them have; throws otherwise. */
export function linesOf(log: string): readonly Line[] {
  return log
    .replace(/\n$/, "")
    .split("\n")
    .map((text) => {
      const line = JSON.parse(text) as Line; // judged here
      expect(line).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        event: expect.any(String),
        level: expect.stringMatching(/^(info|warn|error)$/),
        message: expect.any(String),
      });
      return line;
    });
}
