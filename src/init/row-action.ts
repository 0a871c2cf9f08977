/** Which action the rows of an unknown layout most likely are. */

import type { ActionName } from "../actions/actions.ts";
import { actionOfFileName } from "../map/columns.ts";
import { actionInFileName, mayTellSale, tellsLog, tellsSale, timeKindOf } from "./header-words.ts";
import type { Evidence } from "./sample.ts";
import { isTime } from "./time-evidence.ts";
import type { Columns } from "./unknown-columns.ts";

export const AS_FILE_NAME = "as the file's name says";

/** What the rows of an unknown layout are taken for. */
interface Taken {
  readonly action: ActionName;
  readonly why: string;
  /** What the user must answer first, where the file's name suggests an action but not by the naming convention. */
  readonly doubt?: string;
}

export function takenFor(
  { fileName, columns }: Evidence,
  { price, all, order, currency, called: find }: Columns,
): Taken {
  const taken = (action: ActionName, why: string): Taken => ({ action, why });
  const said = actionOfFileName(fileName);
  if (said !== undefined) return taken(said, AS_FILE_NAME);
  const hinted = actionInFileName(fileName);
  if (hinted !== undefined)
    return {
      action: hinted,
      why: "guess: by a word of the file's name",
      doubt: `a word of the file's name means ${hinted}, as below: remove this line if so, else write sources of your own`,
    };
  const mayBeEvents =
    find("eventName").length > 0 &&
    (currency !== undefined || (find("userId").length === 0 && find("startTime").some(isTime)));
  const speakOfSales = columns.filter(({ name }) => mayTellSale(name));
  const hasSales = price !== undefined || order !== undefined || speakOfSales.length > 0;
  if (mayBeEvents && !hasSales) return taken("newEvent", "guess: the file holds events");
  const isScans =
    price === undefined &&
    (/scan|entr|gate|access|check/i.test(fileName) ||
      all.some(({ name }) => /gate|scan|entry/i.test(name)) ||
      // Sales may name a device too, but also the buyer.
      (all.some(({ name }) => tellsLog(name)) &&
        order === undefined &&
        find("userId").length === 0 &&
        !all.some(({ name }) => timeKindOf(name) === "sale")));
  if (isScans)
    return taken(
      "scannedTicket",
      "guess: the file holds scans; checkedInTicket, which ends a ticket's life, could be meant too",
    );
  const isSale = !mayBeEvents || speakOfSales.some(({ name }) => tellsSale(name));
  return isSale
    ? taken("soldTicket", "guess: nothing says that the file holds anything but sales")
    : {
        action: "soldTicket",
        why: "guess: some of its columns may be of sales",
        doubt:
          "the rows may be sales, as below, or events: remove this line if they are sales, else write a source of newEvent",
      };
}
