/** Candidates as the bytes of their files. */

import type { Action } from "../../actions/actions.ts";
import { contentText, digestHex, identityText, ownKeyText } from "../../actions/identity.ts";
import { stringifyJson } from "../../actions/json.ts";
import { type RecordOrigin, recordOf } from "../files/index-file.ts";
import { type CandidateBytes, factsOf } from "./facts.ts";

/** Where an action comes from. */
type Origin = Pick<RecordOrigin, "input" | "line" | "row" | "nth">;

/** Collects candidates. */
export class CandidateWriter {
  #lines: string[] = [];
  #index: Buffer[] = [];
  #facts: Buffer[] = [];
  #texts: string[] = [];
  /** Bytes of the lines that were added. */
  lineBytes = 0;
  /** Identities of the row's actions that have a key. */
  readonly #ofRow = { row: 0, identities: new Set<string>() };

  get count(): number {
    return this.#lines.length;
  }

  /** @param key of the source itself, which says which deed it is. */
  add(action: Action, origin: Origin, key: string | undefined): void {
    const keyed = key !== undefined;
    const identity = digestHex(keyed ? ownKeyText(action, key) : identityText(action));
    // The action's name first, so that the data can be cut out of the line again.
    const line = `${stringifyJson({ action: action.action, data: action.data })}\n`;
    const lineBytes = Buffer.byteLength(line);
    const { record, texts } = factsOf(action, lineBytes);
    const further = keyed && origin.nth > 0 && this.#isFurther(origin.row, identity);
    const untimed = action.data.orderTime == null;
    this.#index.push(
      recordOf({ ...origin, action: action.action, untimed, keyed, further }, identity, digestHex(contentText(action))),
    );
    this.#lines.push(line);
    this.#facts.push(record);
    this.#texts.push(texts);
    this.lineBytes += lineBytes;
  }

  #isFurther(row: number, identity: string): boolean {
    const ofRow = this.#ofRow;
    if (ofRow.row !== row) {
      ofRow.row = row;
      ofRow.identities.clear();
    }
    const isKnown = ofRow.identities.has(identity);
    ofRow.identities.add(identity);
    return isKnown;
  }

  /** Gives everything and begins anew. */
  take(): CandidateBytes {
    const taken = {
      lines: Buffer.from(this.#lines.join("")),
      index: Buffer.concat(this.#index),
      facts: Buffer.concat(this.#facts),
      texts: Buffer.from(this.#texts.join("")),
    };
    this.#lines = [];
    this.#index = [];
    this.#facts = [];
    this.#texts = [];
    this.lineBytes = 0;
    this.#ofRow.row = 0;
    return taken;
  }
}
