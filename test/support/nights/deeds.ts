/**
 * A world of tickets in which everything that happens is known, and the exports that a ticketing system writes of it: rows
 * that come late, rows with a damaged cell, times and users that are only filled in later, rolling windows, deltas; or, where
 * nothing goes wrong, tickets whose lives a service takes as they are, with rows that change and rows that go away.
 */

import type { Action, ActionName } from "../../../src/actions/actions.ts";
import type { Item } from "../service.ts";

/** Numbers from 0 to 1, the same ones for the same seed. */
export type Random = () => number;

/** Something that happened once, and the row that tells it. */
export interface Deed {
  readonly id: number;
  readonly kind: AnyKind;
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
  /** The day from which the export does not hold it. */
  readonly goneFrom: number;
  /** The day from which its row says something else. */
  readonly correctedFrom: number;
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
  readonly keyed: ReadonlySet<AnyKind>;
}

interface KindSpec {
  readonly file: string;
  readonly columns: readonly string[];
  readonly about: "ticketId" | "eventId";
  /** Whether the row can say when. */
  readonly timed: boolean;
  readonly cells: (deed: Deed) => Readonly<Record<string, string>>;
  /** What a row says once it is corrected. */
  readonly corrected?: (cells: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
}

interface HistorySpec extends KindSpec {
  /** The column whose cell is damaged. */
  readonly weakness: string;
  /** The content, read back from what the service was asked for. */
  readonly contentIn: (data: Item["data"]) => string;
}

const between = (text: unknown, before: string, after: string): string =>
  String(text).slice(before.length, String(text).length - after.length);

/** Kinds of which a ticket or event may have many. */
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
    corrected: () => ({ price: "11.00" }),
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
} as const satisfies Record<string, HistorySpec>;

export type Kind = keyof typeof KINDS;

const KIND_NAMES = Object.keys(KINDS) as readonly Kind[]; // the keys of a constant object literal

export const specOf = (kind: Kind): HistorySpec => KINDS[kind];

/** Everything that can happen, in the order in which the files of a job are read. */
const ALL_KINDS = {
  newEvent: {
    file: "events",
    columns: ["eventId", "currency", "eventName"],
    about: "eventId",
    timed: false,
    cells: () => ({ currency: "EUR", eventName: "Evening" }),
  },
  updateEvent: KINDS.updateEvent,
  soldTicket: {
    file: "sales",
    columns: ["eventId", "ticketId", "userId", "price", "orderTime"],
    about: "ticketId",
    timed: true,
    cells: ({ id, content }) => ({ eventId: content, userId: `owner-${id % 9973}`, price: `${20 + (id % 60)}.50` }),
    corrected: ({ userId = "" }) => (userId.endsWith("3") ? { userId: `corrected-${userId}` } : { price: "1.00" }),
  },
  resoldTicket: KINDS.resoldTicket,
  updateTicket: KINDS.updateTicket,
  scannedTicket: KINDS.scannedTicket,
  checkedInTicket: {
    file: "checkins",
    columns: ["ticketId", "orderTime"],
    about: "ticketId",
    timed: true,
    cells: () => ({}),
    corrected: ({ orderTime }) => ({ orderTime: String(Number(orderTime) + 1) }),
  },
  claimedTicket: KINDS.claimedTicket,
  invalidatedTicket: {
    file: "cancellations",
    columns: ["ticketId", "orderTime"],
    about: "ticketId",
    timed: true,
    cells: () => ({}),
  },
} as const satisfies Record<ActionName, KindSpec>;

type AnyKind = keyof typeof ALL_KINDS;

const JOB_KINDS = Object.keys(ALL_KINDS) as readonly AnyKind[]; // likewise

/** The files of a job's export, in the order in which they are to be read. */
export const JOB_FILES = JOB_KINDS.map((kind) => `${ALL_KINDS[kind].file}.csv`);

/** Of every ticket or event, how often a kind happens on a day; what begins and ends a life is decided otherwise. */
const JOB_RATES: Readonly<Partial<Record<AnyKind, number>>> = {
  updateEvent: 0.5,
  resoldTicket: 0.05,
  updateTicket: 0.06,
  scannedTicket: 0.08,
  checkedInTicket: 0.03,
  invalidatedTicket: 0.02,
};
/** Of so many rows, one goes away or changes in a later night. */
const GONE: Readonly<Partial<Record<AnyKind, number>>> = { soldTicket: 60, resoldTicket: 20, scannedTicket: 20 };
const CORRECTED: Readonly<Partial<Record<AnyKind, number>>> = { soldTicket: 50, resoldTicket: 20, checkedInTicket: 10 };

/** A world whose tickets live as the service wants it, exported whole every night. */
interface Job {
  readonly tickets: number;
  readonly days: number;
  /** Updates say what an earlier one said, so that only their order tells them apart. */
  readonly returns: boolean;
}

/** What the export of a job's night holds. */
export interface JobNight {
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
  /** The files of a job's night: all that happened so far, or what happened in the last `window` days. */
  jobNight(day: number, window?: number): JobNight;
}

export interface WorldOptions {
  /** Which kinds have keys; none without. */
  readonly keys?: Random | undefined;
  /** Every row comes on its day and is right, and contents come back. */
  readonly isWhole?: boolean;
  readonly job?: Job;
}

const SUBJECTS = 3;
const OPENING = 1_760_000_000;
const DAY = 86_400;
/** By how much a zone that is read wrongly moves all times. */
const ZONE = 7_200;
const NEVER = Number.POSITIVE_INFINITY;
/** First number in the names of the days' files, so that they grow from one digit to two. */
const FIRST_FILE = 8;

/** The same random numbers make the same world. */
export function createWorld(random: Random, { keys, isWhole = false, job }: WorldOptions = {}): World {
  const pick = (choices: number): number => Math.floor(random() * choices);
  const days = job?.days ?? 4 + pick(4);
  const habits: Habits =
    job === undefined
      ? {
          repeats: random() < 0.35 || isWhole,
          timedFrom: ([0, NEVER, 2] as const)[pick(3)] ?? 0,
          namedFrom: random() < 0.5 ? 0 : 2,
          keyed: new Set(keys === undefined ? [] : KIND_NAMES.filter(() => keys() < 0.6)),
        }
      : { repeats: job.returns, timedFrom: 0, namedFrom: 0, keyed: new Set() };
  const deeds: Deed[] = [];
  const histories = new Map<string, Deed[]>();
  const lives = job === undefined ? undefined : livesOf(job, random);
  for (let day = 0; day < days; day += 1) {
    for (const kind of lives === undefined ? KIND_NAMES : JOB_KINDS) {
      const subjects = lives?.subjectsOf(kind) ?? SUBJECTS;
      for (let subject = 1; subject <= subjects; subject += 1) {
        if (lives?.isTime(kind, subject, day) ?? random() >= 0.45)
          for (let times = lives === undefined ? 1 + pick(2) : 1; times > 0; times -= 1) add(kind, subject, day);
      }
    }
  }

  function add(kind: AnyKind, subject: number, day: number): void {
    const { about, timed } = ALL_KINDS[kind];
    const isRight = isWhole || lives !== undefined;
    const isLate = day < days - 1 && random() < 0.08 && !isRight;
    const isDamaged = random() < 0.08 && !isRight;
    const from = day + (isLate ? 1 : 0) + (random() < 0.3 ? 1 : 0);
    const history = historyOf({ kind, subject: nameOf(about, subject) });
    const earlier = histories.get(history) ?? [];
    histories.set(history, earlier);
    const last = earlier.at(-1);
    // A deed of the very same second as the one before it happens, too.
    const isSameSecond = timed && last !== undefined && last.day === day && random() < 0.1;
    const content = lives?.contentOf(kind, subject) ?? contentOf(kind, earlier);
    const deed: Deed = {
      id: deeds.length,
      kind,
      subject: nameOf(about, subject),
      content,
      time: isSameSecond ? last.time : (lives?.timeOf(kind, subject, day) ?? OPENING + day * DAY + deeds.length * 60),
      day,
      shownFrom: isLate ? day + 1 + pick(days - day - 1) : day,
      damaged: isDamaged ? { from, until: random() < 0.3 ? NEVER : from + 1 + pick(2) } : { from: NEVER, until: NEVER },
      goneFrom: lives?.someNight(day, GONE[kind]) ?? NEVER,
      correctedFrom: lives?.someNight(day, CORRECTED[kind]) ?? NEVER,
    };
    deeds.push(deed);
    earlier.push(deed);
  }

  function contentOf(kind: AnyKind, earlier: readonly Deed[]): string {
    if (kind === "scannedTicket") return "";
    // A claim is one deed for a ticket and its wallet, so its contents never come back.
    if (!habits.repeats || kind === "claimedTicket") return String(earlier.length + 1);
    const last = earlier.at(-1)?.content;
    const others = ["1", "2", "3"].filter((content) => content !== last);
    return others[pick(others.length)] ?? "1";
  }

  // Without a random number, so that the seasons are what they were.
  const retoldOn = job === undefined && deeds.length % 2 === 0 ? 1 + (deeds.length % (days - 1)) : NEVER;
  const timeOn = (today: number, time: number): number => {
    if (today !== retoldOn) return time;
    return deeds.length % 4 === 0 ? time + ZONE : time - (time % 60);
  };

  /** A spreadsheet that saves an export leaves out the zeros: once, or every night from then on. */
  const repricedOn = job === undefined && deeds.length % 3 === 0 ? 1 + (deeds.length % (days - 1)) : NEVER;
  const isRepricedOn = (today: number): boolean =>
    deeds.length % 2 === 0 ? today === repricedOn : today >= repricedOn;

  const isMixed = job === undefined && deeds.length % 5 < 2;
  const lacksTime = ({ kind, id }: Deed): boolean => isMixed && kind === "resoldTicket" && id % 2 === 0;

  const valuesOf = (deed: Deed, today: number): Record<string, string> => {
    const { about, cells, corrected }: KindSpec = ALL_KINDS[deed.kind];
    const values: Record<string, string> = { id: `n${deed.id}`, [about]: deed.subject, ...cells(deed) };
    if (values.price !== undefined && isRepricedOn(today)) values.price = "10";
    if (today >= habits.timedFrom && !lacksTime(deed)) values.orderTime = String(timeOn(today, deed.time));
    if (deed.kind === "claimedTicket" && today >= habits.namedFrom) values.userId = `claimer-${deed.content}`;
    return today >= deed.correctedFrom ? { ...values, ...corrected?.(values) } : values;
  };
  const rowOf = (deed: Deed, today: number): Row => {
    const values = valuesOf(deed, today);
    const isDamaged = today >= deed.damaged.from && today < deed.damaged.until;
    if (isDamaged) values[weaknessOf(deed)] = `${DAMAGED[deed.kind as Kind]}${deed.id}`; // only histories have damaged rows
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
    rightCell: (deed, today) => valuesOf(deed, today)[weaknessOf(deed)] ?? "",
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
    jobNight(today, window = NEVER) {
      const shown = deeds.filter(({ day, goneFrom }) => day <= today && day > today - window && goneFrom > today);
      const byKind = Map.groupBy(shown, ({ kind }) => kind);
      const files = JOB_KINDS.map((kind) =>
        fileOf(
          columnsOf(kind, habits),
          `${ALL_KINDS[kind].file}.csv`,
          (byKind.get(kind) ?? []).map((deed) => rowOf(deed, today)),
        ),
      );
      const sold = new Set(byKind.get("soldTicket")?.map(({ subject }) => subject));
      const ended = new Set(subjectsOf("invalidatedTicket", today));
      return {
        files: Object.fromEntries(files.map(({ name, text }) => [name, text])),
        rows: shown.length,
        fresh: JOB_KINDS.flatMap((kind) =>
          (byKind.get(kind) ?? [])
            .filter(({ day }) => day === today)
            .map((deed) => actionOf(rowOf(deed, today), habits)),
        ),
        changed: shown.filter(({ correctedFrom }) => correctedFrom <= today).length,
        vanished: subjectsOf("soldTicket", today).filter((ticketId) => !sold.has(ticketId) && !ended.has(ticketId)),
      };
    },
  };

  /** Whom something of a kind has happened to by a day, in the order of their names. */
  function subjectsOf(kind: AnyKind, today: number): readonly string[] {
    return deeds
      .filter((deed) => deed.kind === kind && deed.day <= today)
      .map(({ subject }) => subject)
      .toSorted();
  }
}

/** What a row that is right makes the service do, its fields in the order of the columns. */
function actionOf({ deed, cells }: Row, habits: Habits): Action {
  const fields = columnsOf(deed.kind, habits).flatMap((column, at) =>
    column === "action" || cells[at] === "" ? [] : [[column, column === "orderTime" ? Number(cells[at]) : cells[at]]],
  );
  return { action: deed.kind, data: Object.fromEntries(fields) } as Action; // as the columns say
}

/** The column whose cell is damaged in the row of a deed that has a history. */
const weaknessOf = ({ kind }: Deed): string => specOf(kind as Kind).weakness; // only those are damaged

/** Lives that a service takes as they are: a sale first, nothing after a cancellation, and after a check-in only a claim. */
function livesOf({ tickets, days }: Job, random: Random) {
  const events = Math.max(3, Math.round(tickets / 1000));
  const eventOf = (ticket: number): number => 1 + (ticket % events);
  // Some events are announced while the season runs.
  const announcedOn = (event: number): number => Math.max(0, Math.floor(((event - 1) / events) * days - days / 2));
  const soldOn = Array.from({ length: tickets }, (_, at) => {
    const first = announcedOn(eventOf(at + 1));
    return first + Math.floor(random() * (days - first));
  });
  const isEnd = (kind: AnyKind): boolean =>
    kind === "checkedInTicket" || kind === "claimedTicket" || kind === "invalidatedTicket";
  const ended = new Map<number, AnyKind>();
  const isAlive = (ticket: number, day: number): boolean => day >= (soldOn[ticket - 1] ?? NEVER) && !ended.has(ticket);
  /** An update has no time, so that a window does not tell whether an end of the same day came first. */
  const updatedOn = new Map<number, number>();

  /** Whether it happens, which it then has. */
  const isTime = (kind: AnyKind, subject: number, day: number): boolean => {
    if (kind === "newEvent") return day === announcedOn(subject);
    if (kind === "updateEvent") return day > announcedOn(subject) && random() < (JOB_RATES[kind] ?? 0);
    if (kind === "soldTicket") return day === soldOn[subject - 1];
    const happens =
      kind === "claimedTicket"
        ? ended.get(subject) === "checkedInTicket" && random() < 0.5
        : isAlive(subject, day) &&
          random() < (JOB_RATES[kind] ?? 0) &&
          !(isEnd(kind) && updatedOn.get(subject) === day);
    if (happens && kind === "updateTicket") updatedOn.set(subject, day);
    if (happens && isEnd(kind)) ended.set(subject, kind);
    return happens;
  };
  return {
    isTime,
    subjectsOf: (kind: AnyKind): number => (ALL_KINDS[kind].about === "eventId" ? events : tickets),
    contentOf: (kind: AnyKind, subject: number): string | undefined =>
      kind === "soldTicket" ? nameOf("eventId", eventOf(subject)) : undefined,
    /** The kinds of a life's day follow each other; the lives of a day stand in no order. */
    timeOf: (kind: AnyKind, subject: number, day: number): number =>
      OPENING + day * DAY + ((subject * 7_919) % 40_000) + JOB_KINDS.indexOf(kind) * 60,
    /** A later night, for one row of so many; otherwise never. */
    someNight: (day: number, oneOf = NEVER): number =>
      random() * oneOf < 1 ? day + 1 + Math.floor(random() * 3) : NEVER,
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

const columnsOf = (kind: AnyKind, { keyed }: Habits): readonly string[] => [
  ...(keyed.has(kind) ? ["id"] : []),
  ...ALL_KINDS[kind].columns,
];

function configOf({ keyed }: Habits): string {
  const sources = [...keyed].map((kind) => {
    const { file, columns } = ALL_KINDS[kind];
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
