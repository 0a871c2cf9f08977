import { type ActionData, type ActionName, acceptedFields, actionSpec } from "../../actions/actions.ts";
import { contentText, digestHex, personText } from "../../actions/identity.ts";
import { CONTENT_BYTES } from "../files/index-file.ts";
import type { HistoryDeed, Said } from "../histories/history.ts";

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

/** The same, but for its content prices that are one number are one: a spreadsheet that saves an export leaves out their zeros. */
export function plainlyPriced(
  action: ActionName,
  content: string,
  readData: () => ActionData | undefined,
): HistoryDeed {
  const data = readData();
  if (data?.price == null) return historyDeed(action, content, () => data);
  const plain = { ...data, price: plainPrice(String(data.price)) };
  return historyDeed(action, contentDigest(action, plain), () => plain);
}

function plainPrice(price: string): string {
  const [, whole = "", fraction = ""] = /^0*(\d+?)(?:\.(\d*?)0*)?$/.exec(price) ?? [];
  if (whole === "") return price;
  return fraction === "" ? whole : `${whole}.${fraction}`;
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
