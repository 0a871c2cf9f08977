/** The actions of one chunk: the body that is sent, and each as it stands in the plan. */

import type { Action, ActionName } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";

export interface ChunkActions {
  /** The request body: a JSON array of the actions. */
  readonly body: Buffer;
  readonly count: number;
  /** Reads an action by its place, from 0. */
  read(at: number): ReadAction;
}

/** What an answer must echo of an action. */
interface SentAction {
  readonly action: ActionName;
  readonly data: Readonly<Partial<Record<"eventId" | "ticketId" | "nftId", string | null | undefined>>>;
}

interface ReadAction {
  readonly eventId: string | undefined;
  readonly ticketId: string | undefined;
  readonly nftId: string | undefined;
  readonly action: ActionName;
  /** The JSON text of its data. */
  readonly data: string;
  /** Bytes of the action, without what separates it from the next. */
  readonly length: number;
}

/** @param text lines of a plan, each ending in a newline. */
export function toChunkActions(text: string, count: number): ChunkActions {
  const lines = text.split("\n");
  if (lines.pop() !== "" || lines.length !== count)
    throw new Error("the plan's chunk has another number of actions than it says");
  const actions = lines.map(readLine);
  return {
    body: Buffer.from(`[${lines.join(",")}]`),
    count,
    read(at) {
      const action = actions[at];
      if (action === undefined) throw new Error(`the chunk has no action ${at}`);
      return action;
    },
  };
}

function readLine(line: string): ReadAction {
  const { action, data } = parseJson(line) as Action; // written by the planner
  return {
    action,
    eventId: data.eventId ?? undefined,
    ticketId: data.ticketId ?? undefined,
    nftId: data.nftId ?? undefined,
    data: dataTextOf(line, action),
    length: Buffer.byteLength(line),
  };
}

/** The text of `data` in a line of the plan. */
const dataTextOf = (line: string, action: ActionName): string => line.slice(`{"action":"${action}","data":`.length, -1);

/** What the answer to a chunk must echo. */
export function sentActions(chunk: ChunkActions): readonly SentAction[] {
  return Array.from({ length: chunk.count }, (_, at) => {
    const { action, eventId, ticketId, nftId } = chunk.read(at);
    return { action, data: { eventId, ticketId, nftId } };
  });
}
