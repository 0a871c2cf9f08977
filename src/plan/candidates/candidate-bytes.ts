/** A candidate as the bytes of its files. */

import type { Action } from "../../actions/actions.ts";
import { contentText, digestHex } from "../../actions/identity.ts";
import { stringifyJson } from "../../actions/json.ts";
import { type RecordOrigin, recordOf } from "../files/index-file.ts";
import { type CandidateBytes, factsOf } from "./facts.ts";

/** @param identity hex. */
export function candidateBytes(
  { action, data }: Action,
  origin: Omit<RecordOrigin, "action" | "untimed">,
  identity: string,
): CandidateBytes {
  // The action's name first, so that the data can be cut out of the line again.
  const lines = Buffer.from(`${stringifyJson({ action, data })}\n`);
  const { record, texts } = factsOf({ action, data }, lines.length);
  const untimed = data.orderTime == null;
  const index = recordOf({ ...origin, action, untimed }, identity, digestHex(contentText({ action, data })));
  return { lines, index, facts: record, texts: Buffer.from(texts) };
}
