/**
 * A world of tickets in which everything that happens is known, and the exports that a ticketing system writes of it: rows
 * that come late, rows with a damaged cell, times and users that are only filled in later, rolling windows, deltas.
 */

import type { Item } from "../service.ts";

/** Numbers from 0 to 1, the same ones for the same seed. */
export type Random = () => number;

/** Something that happened once, and the row that tells it. */
export interface Deed {
  readonly id: number;
  readonly kind: Kind;
  /** Id of the ticket or event. */
  readonly subject: string;
  /** What tells it from the others of its history, whatever is added to its row later. */
  readonly content: string;
  readonly time: number;
  /** Day in whose file it stands. */
  readonly day: number;
  /** Day from which the export has it; later than `day` for a row that came late. */
  readonly shownFrom: number;
  /** Days on which a cell of its row is damaged: from, and the first day on which it is right. */
  readonly damaged: { readonly from: number; readonly until: number };
}

/** A history: the deeds of one kind of one ticket or event. */
export const historyOf = ({ kind, subject }: Pick<Deed, "kind" | "subject">): string => `${kind} ${subject}`;

/** How the rows of a season give what may be missing. */
interface Habits {
  /** Contents come back in a history, as in A, B, A. */
  readonly repeats: boolean;
  /** Day from which rows have times: 0 always, infinity never. */
  readonly timedFrom: number;
  /** Day from which claims name their user. */
  readonly namedFrom: number;
  /** Kinds whose rows have a number of their own, by which a source of the config tells them apart. */
  readonly keyed: ReadonlySet<Kind>;
}

interface KindSpec {
  readonly file: string;
  readonly columns: readonly string[];
  readonly about: "ticketId" | "eventId";
  /** Whether the row can say when. */
  readonly timed: boolean;
  /** The column whose cell is damaged. */
  readonly weakness: string;
  readonly cells: (deed: Deed) => Readonly<Record<string, string>>;
  /** The content, read back from what the service was asked for. */
  readonly contentIn: (data: Item["data"]) => string;
}

const between = (text: unknown, before: string, after: string): string =>
  String(text).slice(before.length, String(text).length - after.length);

export const KINDS = {
  updateEvent: {
    file: "event-updates",
    columns: ["action", "eventId", "eventName"],
    about: "eventId",
    timed: false,
    weakness: "eventName",
    cells: ({ content }) => ({ action: "updateEvent", eventName: `Evening ${content}` }),
    contentIn: ({ eventName }) => between(eventName, "Evening ", ""),
  },
  updateTicket: {
    file: "updates",
    columns: ["ticketId", "imageUrl"],
    about: "ticketId",
    timed: false,
    weakness: "imageUrl",
    cells: ({ content }) => ({ imageUrl: `https://img.example/${content}.png` }),
    contentIn: ({ imageUrl }) => between(imageUrl, "https://img.example/", ".png"),
  },
  resoldTicket: {
    file: "resales",
    columns: ["ticketId", "userId", "price", "orderTime"],
    about: "ticketId",
    timed: true,
    weakness: "price",
    cells: ({ content }) => ({ userId: `user-${content}`, price: "10.00" }),
    contentIn: ({ userId }) => between(userId, "user-", ""),
  },
  scannedTicket: {
    file: "scans",
    columns: ["ticketId", "orderTime", "action"],
    about: "ticketId",
    timed: true,
    weakness: "orderTime",
    cells: () => ({ action: "scannedTicket" }),
    contentIn: () => "",
  },
  claimedTicket: {
    file: "claims",
    columns: ["ticketId", "to", "userId", "orderTime"],
    about: "ticketId",
    timed: true,
    weakness: "to",
    cells: ({ content }) => ({ to: `0x${content.padStart(40, "0")}` }),
    contentIn: ({ to }) => String(to).replace(/^0x0*/, "") || "0",
  },
} as const satisfies Record<string, KindSpec>;

export type Kind = keyof typeof KINDS;

const KIND_NAMES = Object.keys(KINDS) as readonly Kind[]; // the keys of a constant object literal

export const specOf = (kind: Kind): KindSpec => KINDS[kind];

/** A row of a night's file. */
interface Row {
  readonly deed: Deed;
  readonly isDamaged: boolean;
  /** As it stands in the file, so that the line of a rejects file can be told. */
  readonly cells: readonly string[];
}

export interface NightFile {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly text: string;
}

/** What a night's export holds. */
export type Extent = "full" | "window" | "delta";

export interface World {
  readonly days: number;
  /** The day on which the files tell all times otherwise; infinity for none. */
  readonly retoldOn: number;
  /** Whether prices are written otherwise on some day, or from some day on. */
  readonly isRepriced: boolean;
  /** Whether every second resale never has a time. */
  readonly isMixed: boolean;
  /** All deeds in the order in which they happened. */
  readonly deeds: readonly Deed[];
  readonly habits: Habits;
  /** Whether the row of a deed never has a time, though others do. */
  lacksTime(deed: Deed): boolean;
  /** The config by which the rows are read; empty where they need none. */
  readonly config: string;
  /** What the cell of a deed's weakness holds when it is right, on a day. */
  rightCell(deed: Deed, today: number): string;
  /** The files of a night, in the order in which they are given. */
  files(day: number, extent: Extent, reversed: boolean): readonly NightFile[];
}

const SUBJECTS = 3;
const OPENING = 1_760_000_000;
const DAY = 86_400;
/** By how much a zone that is read wrongly moves all times. */
const ZONE = 7_200;
const NEVER = Number.POSITIVE_INFINITY;
/** First number in the names of the days' files, so that they grow from one digit to two. */
const FIRST_FILE = 8;

/**
 * The same random numbers make the same world.
 *
 * @param keys which kinds have keys; none without.
 * @param isWhole every row comes on its day and is right, and contents come back.
 */
export function createWorld(random: Random, keys?: Random, isWhole = false): World {
  const pick = (choices: number): number => Math.floor(random() * choices);
  const days = 4 + pick(4);
  const habits: Habits = {
    repeats: random() < 0.35 || isWhole,
    timedFrom: ([0, NEVER, 2] as const)[pick(3)] ?? 0,
    namedFrom: random() < 0.5 ? 0 : 2,
    keyed: new Set(keys === undefined ? [] : KIND_NAMES.filter(() => keys() < 0.6)),
  };
  const deeds: Deed[] = [];
  for (let day = 0; day < days; day += 1) {
    for (const kind of KIND_NAMES) {
      for (let subject = 1; subject <= SUBJECTS; subject += 1) {
        if (random() < 0.45) continue;
        for (let times = 1 + pick(2); times > 0; times -= 1) add(kind, subject, day);
      }
    }
  }

  function add(kind: Kind, subject: number, day: number): void {
    const { about, timed } = specOf(kind);
    const isLate = day < days - 1 && random() < 0.08 && !isWhole;
    const isDamaged = random() < 0.08 && !isWhole;
    const from = day + (isLate ? 1 : 0) + (random() < 0.3 ? 1 : 0);
    const earlier = deeds.filter((deed) => deed.kind === kind && deed.subject === nameOf(about, subject));
    const last = earlier.at(-1);
    // A deed of the very same second as the one before it happens, too.
    const isSameSecond = timed && last !== undefined && last.day === day && random() < 0.1;
    const content = contentOf(kind, earlier);
    deeds.push({
      id: deeds.length,
      kind,
      subject: nameOf(about, subject),
      content,
      time: isSameSecond ? last.time : OPENING + day * DAY + deeds.length * 60,
      day,
      shownFrom: isLate ? day + 1 + pick(days - day - 1) : day,
      damaged: isDamaged ? { from, until: random() < 0.3 ? NEVER : from + 1 + pick(2) } : { from: NEVER, until: NEVER },
    });
  }

  function contentOf(kind: Kind, earlier: readonly Deed[]): string {
    if (kind === "scannedTicket") return "";
    // A claim is one deed for a ticket and its wallet, so its contents never come back.
    if (!habits.repeats || kind === "claimedTicket") return String(earlier.length + 1);
    const last = earlier.at(-1)?.content;
    const others = ["1", "2", "3"].filter((content) => content !== last);
    return others[pick(others.length)] ?? "1";
  }

  // Without a random number, so that the seasons are what they were.
  const retoldOn = deeds.length % 2 === 0 ? 1 + (deeds.length % (days - 1)) : NEVER;
  const timeOn = (today: number, time: number): number => {
    if (today !== retoldOn) return time;
    return deeds.length % 4 === 0 ? time + ZONE : time - (time % 60);
  };

  /** A spreadsheet that saves an export leaves out the zeros: once, or every night from then on. */
  const repricedOn = deeds.length % 3 === 0 ? 1 + (deeds.length % (days - 1)) : NEVER;
  const isRepricedOn = (today: number): boolean =>
    deeds.length % 2 === 0 ? today === repricedOn : today >= repricedOn;

  const isMixed = deeds.length % 5 < 2;
  const lacksTime = ({ kind, id }: Deed): boolean => isMixed && kind === "resoldTicket" && id % 2 === 0;

  const valuesOf = (deed: Deed, today: number): Record<string, string> => {
    const { about, cells } = specOf(deed.kind);
    const values: Record<string, string> = { id: `n${deed.id}`, [about]: deed.subject, ...cells(deed) };
    if (values.price !== undefined && isRepricedOn(today)) values.price = "10";
    if (today >= habits.timedFrom && !lacksTime(deed)) values.orderTime = String(timeOn(today, deed.time));
    if (deed.kind === "claimedTicket" && today >= habits.namedFrom) values.userId = `claimer-${deed.content}`;
    return values;
  };
  const rowOf = (deed: Deed, today: number): Row => {
    const { weakness } = specOf(deed.kind);
    const values = valuesOf(deed, today);
    const isDamaged = today >= deed.damaged.from && today < deed.damaged.until;
    if (isDamaged) values[weakness] = `${DAMAGED[deed.kind]}${deed.id}`;
    return { deed, isDamaged, cells: columnsOf(deed.kind, habits).map((column) => values[column] ?? "") };
  };

  return {
    days,
    retoldOn,
    isRepriced: repricedOn < NEVER,
    isMixed,
    deeds,
    habits,
    lacksTime,
    config: configOf(habits),
    rightCell: (deed, today) => valuesOf(deed, today)[specOf(deed.kind).weakness] ?? "",
    files(today, extent, reversed) {
      const first = extent === "window" ? Math.max(0, today - 1) : 0;
      const files: NightFile[] = [];
      if (extent !== "delta" || today === 0) files.push(salesFile());
      for (const kind of KIND_NAMES) {
        const ofKind: NightFile[] = [];
        for (let day = first; day <= today; day += 1) {
          const rows = deeds
            .filter(
              (deed) =>
                deed.kind === kind && deed.shownFrom <= today && (extent === "delta" ? deed.shownFrom === today : true),
            )
            .filter((deed) => deed.day === day)
            .map((deed) => rowOf(deed, today));
          if (rows.length > 0)
            ofKind.push(fileOf(columnsOf(kind, habits), `${specOf(kind).file}-${FIRST_FILE + day}.csv`, rows));
        }
        files.push(...(reversed ? ofKind.toReversed() : ofKind));
      }
      return files;
    },
  };
}

/** How a damaged cell begins; the number of its deed follows. */
export const DAMAGED: Readonly<Record<Kind, string>> = {
  updateEvent: "x".repeat(300),
  updateTicket: "not an address ",
  resoldTicket: "ten ",
  scannedTicket: "this evening ",
  claimedTicket: "0xd",
};

const nameOf = (about: "ticketId" | "eventId", subject: number): string =>
  about === "eventId" ? `event-${subject}` : `T-${subject}`;

const columnsOf = (kind: Kind, { keyed }: Habits): readonly string[] => [
  ...(keyed.has(kind) ? ["id"] : []),
  ...specOf(kind).columns,
];

function configOf({ keyed }: Habits): string {
  const sources = [...keyed].map((kind) => {
    const { file, columns } = specOf(kind);
    const fields = columns.filter((column) => column !== "action").map((column) => `${column}: "{${column}}"`);
    return `  ${file}:
    match: "${file}-*.csv"
    key: "{id}"
    actions: [{${kind}: {fields: {${fields.join(", ")}}}}]
`;
  });
  return sources.length === 0 ? "" : `sources:\n${sources.join("")}`;
}

function fileOf(columns: readonly string[], name: string, rows: readonly Row[]): NightFile {
  const lines = [columns.join(","), ...rows.map(({ cells }) => cells.join(","))];
  return { name, rows, text: `${lines.join("\n")}\n` };
}

/** The events and sales that everything else is about; each night's files begin with them. */
function salesFile(): NightFile {
  const lines = Array.from({ length: SUBJECTS }, (_, at) => at + 1).flatMap((subject) => [
    `newEvent,${nameOf("eventId", subject)},EUR,,,,`,
    `soldTicket,${nameOf("eventId", subject)},,${nameOf("ticketId", subject)},user-0,10.00,${OPENING - DAY}`,
  ]);
  const header = "action,eventId,currency,ticketId,userId,price,orderTime";
  return { name: "all-sales.csv", rows: [], text: `${[header, ...lines].join("\n")}\n` };
}
