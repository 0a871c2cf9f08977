import { type ActionData, type ActionName, acceptedFields, actionSpec } from "../actions/actions.ts";
import { contentText, digestHex, personText } from "../actions/identity.ts";
import type { HistoryDeed, Said } from "./history.ts";
import { CONTENT_BYTES } from "./index-file.ts";

/** The deed of an action, whose data is read only when it is asked for. */
export function historyDeed(action: ActionName, content: string, readData: () => ActionData | undefined): HistoryDeed {
  let known: Said | undefined;
  return {
    content,
    said() {
      known ??= canBeTimed(action)
        ? saidBy(action, content, readData())
        : { time: undefined, rest: content, holder: undefined };
      return known;
    },
  };
}

const canBeTimed = (action: ActionName): boolean => acceptedFields(action).includes("orderTime");

function saidBy(action: ActionName, content: string, data: ActionData | undefined): Said {
  const time = timeOf(data?.orderTime);
  const holder = actionSpec(action).effect === "resell-ticket" ? personText(data?.userId) : undefined;
  if (data === undefined || time === undefined) return { time: undefined, rest: content, holder };
  const { orderTime: _, ...rest } = data;
  return { time, rest: contentDigest(action, rest), holder };
}

/** As the index has it, in hexadecimal. */
function contentDigest(action: ActionName, data: ActionData): string {
  return digestHex(contentText({ action, data })).slice(0, CONTENT_BYTES * 2);
}

export function timeOf(orderTime: unknown): bigint | undefined {
  if (typeof orderTime === "bigint") return orderTime;
  return typeof orderTime === "number" && Number.isInteger(orderTime) ? BigInt(orderTime) : undefined;
}
