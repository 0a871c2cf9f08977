import { isActionName } from "../../../src/actions/actions.ts";
import { draftOf } from "../../../src/actions/draft.ts";
import type { Problem } from "../../../src/actions/problem.ts";
import { validateItem } from "../../../src/actions/validate.ts";
import { checkDraft } from "../../../src/check/check-draft.ts";

/** Everything that is found in one item, as in the row of an NDJSON file. @param now in Unix seconds. */
export function checkItem(item: unknown, now = 1_780_000_000): readonly Problem[] {
  const { action, data } = Object(item);
  const isSound = typeof action === "string" && isActionName(action) && typeof data === "object" && data !== null;
  return isSound && !Array.isArray(data) ? checkDraft(draftOf(action, data), now) : validateItem(item);
}
