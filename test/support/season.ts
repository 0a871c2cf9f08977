/** A season as a ticketing system exports it night after night: growing, with rows that change and rows that go away. */

import type { Action, ActionData, ActionName } from "../../src/actions/actions.ts";
import { randomOf } from "./random.ts";

export interface SeasonOptions {
  readonly seed: number;
  readonly tickets: number;
  readonly days: number;
  /** Updates without times say what an earlier one said, so that only their order tells them apart (true). */
  readonly returns?: boolean;
}

export interface Night {
  /** The files of the export, in the order in which they are to be read. */
  readonly files: Readonly<Record<string, string>>;
  /** Number of its rows. */
  readonly rows: number;
  /** What happened that day, in the order of the files. */
  readonly fresh: readonly Action[];
  /** How many rows say of an earlier deed something else than what they said when it was new. */
  readonly changed: number;
  /** Tickets that stand and whose sale is not in the export any more, in the order of their ids. */
  readonly vanished: readonly string[];
}

export interface Season {
  /** The export of the night after a day, from 0: all that happened so far, or what happened in the last `window` days. */
  readonly night: (day: number, window?: number) => Night;
}

/** A row, and what becomes of it. */
interface Deed {
  readonly file: string;
  readonly day: number;
  readonly action: ActionName;
  readonly data: ActionData;
  /** The day from which the export does not hold it. */
  readonly goneFrom: number;
  /** The day from which it says something else. */
  readonly changedFrom: number;
  readonly changedData: ActionData;
}

/** File → its columns, in the order in which the files are read. No file name means updateEvent, so its file says it. */
const FILES = {
  "events.csv": ["eventId", "currency", "eventName"],
  "event-updates.csv": ["action", "eventId", "eventName"],
  "sales.csv": ["eventId", "ticketId", "userId", "price", "orderTime"],
  "resales.csv": ["ticketId", "userId", "price", "orderTime"],
  "updates.csv": ["ticketId", "imageUrl"],
  "scans.csv": ["ticketId", "orderTime"],
  "checkins.csv": ["ticketId", "orderTime"],
  "claims.csv": ["ticketId", "userId", "orderTime"],
  "cancellations.csv": ["ticketId", "orderTime"],
} as const satisfies Record<string, readonly ("action" | keyof ActionData)[]>;

export const SEASON_FILES = Object.keys(FILES);

const DAY = 86_400;
const OPENING = 1_750_000_000;
const NEVER = Number.POSITIVE_INFINITY;

/** The same seed makes the same season. */
export function createSeason({ seed, tickets, days, returns = true }: SeasonOptions): Season {
  const random = randomOf(seed);
  const deeds: Deed[] = [];
  const events = Math.max(3, Math.round(tickets / 1000));

  const add = (
    file: keyof typeof FILES,
    action: ActionName,
    day: number,
    data: ActionData,
    later: { readonly goneFrom?: number; readonly changedFrom?: number; readonly changedData?: ActionData } = {},
  ): void => {
    const { goneFrom = NEVER, changedFrom = NEVER, changedData = data } = later;
    deeds.push({ file, action, day, data, goneFrom, changedFrom, changedData });
  };
  /** A later night, for one row of so many; otherwise never. */
  const someNight = (day: number, oneOf: number): number =>
    random() * oneOf < 1 ? day + 1 + Math.floor(random() * 3) : NEVER;

  for (let event = 0; event < events; event += 1) {
    // Some events are announced while the season runs.
    const day = Math.max(0, Math.floor((event / events) * days - days / 2));
    const eventId = `event-${event + 1}`;
    add("events.csv", "newEvent", day, { eventId, currency: "EUR", eventName: "Evening" });
    // There and back again, so that only the order tells an old one from a new one.
    for (let later = day + 1 + (event % 3); later < days; later += 2)
      add("event-updates.csv", "updateEvent", later, {
        eventId,
        eventName: returns ? ((later - day) % 4 < 2 ? "Night" : "Evening") : `Night ${later}`,
      });
  }
  for (let ticket = 0; ticket < tickets; ticket += 1) {
    const event = Math.floor(random() * events);
    const eventId = `event-${event + 1}`;
    const ticketId = `T-${String(ticket + 1).padStart(6, "0")}`;
    const onSale = Math.max(0, Math.floor((event / events) * days - days / 2));
    let day = onSale + Math.floor(random() * (days - onSale));
    let time = OPENING + day * DAY + Math.floor(random() * 40_000);
    /** Lets time pass; false when the season is over by then. */
    const pass = (mostDays: number): boolean => {
      time += 1 + Math.floor(random() * mostDays * DAY);
      day = Math.floor((time - OPENING) / DAY);
      return day < days;
    };
    const price = `${20 + (ticket % 60)}.${ticket % 2 === 0 ? "50" : "00"}`;
    const sale = { eventId, ticketId, userId: `user-${ticket % 9973}`, price, orderTime: time };
    add("sales.csv", "soldTicket", day, sale, {
      goneFrom: someNight(day, 60),
      changedFrom: someNight(day, 50),
      changedData: ticket % 3 === 0 ? { ...sale, userId: `corrected-${ticket}` } : { ...sale, price: "1.00" },
    });
    let updates = 0;
    for (;;) {
      const what = random();
      if (what < 0.45 || !pass(2)) break;
      const at = { ticketId, orderTime: time };
      if (what < 0.6) {
        const resale = { ...at, userId: `buyer-${ticket}-${time}`, price: "30.00" };
        const changedData = { ...resale, price: "31.00" };
        add("resales.csv", "resoldTicket", day, resale, {
          goneFrom: someNight(day, 20),
          changedFrom: someNight(day, 20),
          changedData,
        });
      } else if (what < 0.7) {
        updates += 1; // likewise
        const image = returns ? (updates % 2 === 0 ? "moon" : "sun") : `phase-${updates}`;
        const imageUrl = `https://img.example/${image}.png`;
        add("updates.csv", "updateTicket", day, { ticketId, imageUrl });
      } else if (what < 0.9) {
        add("scans.csv", "scannedTicket", day, at, { goneFrom: someNight(day, 20) });
      } else if (what < 0.96) {
        const changedData = { ...at, orderTime: time + 1 };
        add("checkins.csv", "checkedInTicket", day, at, { changedFrom: someNight(day, 10), changedData });
        if (pass(1)) add("claims.csv", "claimedTicket", day, { ticketId, userId: `wallet-${ticket}`, orderTime: time });
        break;
      } else {
        add("cancellations.csv", "invalidatedTicket", day, at);
        break;
      }
    }
  }
  // Rows of a file stand in the order in which they came about, however the exporter thinks of tickets.
  const byFile = new Map(SEASON_FILES.map((file) => [file, deeds.filter((deed) => deed.file === file)]));
  for (const rows of byFile.values()) rows.sort((a, b) => a.day - b.day);

  return {
    night(day, window = NEVER) {
      const files: Record<string, string> = {};
      const fresh: Action[] = [];
      const shownSales = new Set<string>();
      let rows = 0;
      let changed = 0;
      for (const [file, columns] of Object.entries(FILES)) {
        const lines = [columns.join(",")];
        for (const deed of byFile.get(file) ?? []) {
          if (deed.day > day || deed.day <= day - window || deed.goneFrom <= day) continue;
          const isChanged = deed.changedFrom <= day;
          const data = isChanged ? deed.changedData : deed.data;
          lines.push(columns.map((column) => (column === "action" ? deed.action : (data[column] ?? ""))).join(","));
          rows += 1;
          if (isChanged) changed += 1;
          if (deed.day === day) fresh.push({ action: deed.action, data: inOrder(deed.data, columns) });
          if (deed.action === "soldTicket") shownSales.add(String(deed.data.ticketId));
        }
        files[file] = `${lines.join("\n")}\n`;
      }
      return { files, rows, fresh, changed, vanished: vanishedBy(day, shownSales) };
    },
  };

  function vanishedBy(day: number, shown: ReadonlySet<string>): readonly string[] {
    const ids = (file: string): readonly string[] =>
      (byFile.get(file) ?? []).filter((deed) => deed.day <= day).map(({ data }) => String(data.ticketId));
    const cancelled = new Set(ids("cancellations.csv"));
    return ids("sales.csv")
      .filter((id) => !shown.has(id) && !cancelled.has(id))
      .toSorted();
  }
}

/** The fields as the columns of a file give them. */
function inOrder(data: ActionData, columns: readonly ("action" | keyof ActionData)[]): ActionData {
  return Object.fromEntries(columns.flatMap((column) => (column === "action" ? [] : [[column, data[column]]])));
}
