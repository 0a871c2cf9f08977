/** What is told of a ledger that can't be relied on. */

import { cleanText } from "../actions/text.ts";
import { Failure } from "../failure.ts";

/** A failure with exit code 10. */
export function damaged(path: string, why: string, cause?: unknown): Failure {
  return new Failure("storage", `The ledger ${path} is damaged: ${cleanText(why, 200)}. Nothing more was sent.`, {
    hint: "Restore it from a backup; or move it away and fill a new one from the promises files: tickets results --import <promises file>",
    cause,
  });
}
