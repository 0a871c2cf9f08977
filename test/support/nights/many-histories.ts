/**
 * Some hundred short histories in one world, each with its own luck, so that what is rare in one comes up in some of them: rows
 * that the service rejects, damaged cells, late rows, contents that come back, times that come and go, prices that are written
 * otherwise, windows; and between the nights their rejects, mended in part, sorted by a person, streamed late or once more.
 *
 * The judge knows none of the product's rules: nothing is accepted more often than it happened, nor behind what happened after
 * it, and in the end everything was accepted, or something was said of it.
 */

import { glob, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { expect } from "vitest";
import { EXIT_CODES, Failure } from "../../../src/failure.ts";
import { type Asked, makeContext, verbs } from "../context.ts";
import type { Summary } from "../counts.ts";
import { type Item, startService } from "../service.ts";
import type { SharedLedger } from "../shared-ledger.ts";
import type { Random } from "./deeds.ts";

/** How many histories a world has. */
const TICKETS = 250;
const DAY = 86_400;
const OPENING = 1_760_000_000;
const NEVER = Number.POSITIVE_INFINITY;
/** Rules by which a sound row is not sent although it was never accepted. */
const NOT_SENT_RULES: ReadonlySet<string> = new Set(["history-late", "history-superseded", "changed", "deed-repeated"]);

interface Deed {
  /** What tells it from the others of its history, whatever else its row says. */
  readonly content: string;
  readonly time: number;
  readonly price: string;
  /** Night from which exports have it; later than those before it for a row that came late. */
  readonly shownFrom: number;
  readonly isTimeless: boolean;
  /** Its time is written without seconds, always. */
  readonly isToTheMinute: boolean;
  /** Nights on which its row has lost its time. */
  readonly untimedOn: ReadonlySet<number>;
  /** Nights on which its row is damaged. */
  readonly damagedOn: ReadonlySet<number>;
}

interface History {
  readonly ticket: string;
  readonly deeds: readonly Deed[];
  /** Nights on which its rows have times. */
  readonly timed: { readonly from: number; readonly until: number };
  /** The night from which its prices are written otherwise. */
  readonly repricedFrom: number;
  /** By night, the first deed that its export shows. */
  readonly windowFrom: readonly number[];
}

interface KindSpec {
  readonly file: string;
  readonly columns: readonly string[];
  /** The column whose cell is damaged. */
  readonly weakness: string;
  readonly isTimed: boolean;
  /** Whether the last one counts, so that none may be accepted behind a later one. */
  readonly isOrdered: boolean;
  readonly contents: readonly string[];
  readonly cells: (content: string, price: string, time: string) => Readonly<Record<string, string>>;
  readonly contentIn: (data: Item["data"]) => string;
}

const KINDS = {
  updateTicket: {
    file: "updates",
    columns: ["ticketId", "imageUrl"],
    weakness: "imageUrl",
    isTimed: false,
    isOrdered: true,
    contents: ["a", "b", "c", "d"],
    cells: (content) => ({ imageUrl: `https://img.example/${content}` }),
    contentIn: ({ imageUrl }) => String(imageUrl).slice(-1),
  },
  resoldTicket: {
    file: "resales",
    columns: ["ticketId", "userId", "price", "orderTime"],
    weakness: "price",
    isTimed: true,
    isOrdered: true,
    contents: ["a", "b", "c", "d"],
    cells: (content, price, orderTime) => ({ userId: `user-${content}`, price, orderTime }),
    contentIn: ({ userId }) => String(userId).slice(-1),
  },
  scannedTicket: {
    file: "scans",
    columns: ["ticketId", "gate", "orderTime", "action"],
    weakness: "action",
    isTimed: true,
    isOrdered: false,
    contents: [""],
    cells: (_content, _price, orderTime) => ({ gate: "north", orderTime, action: "scannedTicket" }),
    contentIn: () => "",
  },
} as const satisfies Record<string, KindSpec>;

type Kind = keyof typeof KINDS;

/** What a world is like; the same for all of its histories. */
interface Habits {
  readonly kind: Kind;
  readonly nights: number;
  /** Every export has the same name, and so the same rejects. */
  readonly hasOneName: boolean;
  readonly isSortedByHand: boolean;
  readonly hasWindows: boolean;
  readonly rejectRate: number;
  readonly damageRate: number;
  readonly timesVary: boolean;
  /** Every row of every export has its time. */
  readonly alwaysTimed: boolean;
  /** What happens to a ticket happens within a minute or two. */
  readonly isHasty: boolean;
  /** How many rows lose their times on a night. */
  readonly timeLossRate: number;
  readonly repeats: boolean;
  readonly hasLate: boolean;
  /** What the system's times are: some systems write whole minutes, some do so in some of their rows. */
  readonly clock: "seconds" | "minutes" | "either";
  /** Its exports begin with what happened last. */
  readonly isNewestFirst: boolean;
  /** A second file of every night has some of its rows once more, with times of its own. */
  readonly hasSecondFile: boolean;
  /** A night whose export has its times without their seconds, or in another zone. */
  readonly toldOtherwise: { readonly on: number; readonly how: "without seconds" | "in another zone" } | undefined;
}

/** What the service accepted, and in which command. */
interface Accepted {
  readonly content: string;
  readonly command: number;
}

/** What was wrong with a history. */
interface Finding {
  readonly what: "doubled" | "out of order" | "neither sent nor told" | "sent once more";
  /** All that happened to it. */
  readonly story: string;
}

export interface PlayedWorld {
  readonly findings: readonly Finding[];
  readonly accepted: number;
  readonly told: number;
  readonly mended: number;
}

/** Plays one world; the same random numbers make the same one, whatever holds the ledger. */
export async function playHistories(random: Random, shared?: SharedLedger): Promise<PlayedWorld> {
  const habits = habitsOf(random);
  const histories = Array.from({ length: TICKETS }, (_, number) => historyOf(`T${number}`, habits, random));
  const folder = await mkdtemp(join(tmpdir(), "tickets-histories-"));
  try {
    return await play({ folder, shared }, habits, histories, random);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function habitsOf(random: Random): Habits {
  const hasWindows = random() < 0.25;
  const oneOf = <T>(...choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T; // within them
  const kind = oneOf<Kind>(
    "updateTicket",
    "updateTicket",
    "resoldTicket",
    "resoldTicket",
    "resoldTicket",
    "scannedTicket",
  );
  const timesVary = random() < 0.5;
  // Rows without times say nothing of their order, nor of whether two of them are one.
  const alwaysTimed = KINDS[kind].isTimed && !timesVary && random() < 0.5;
  const isHasty = random() < 0.25;
  const clock = oneOf<Habits["clock"]>("seconds", "seconds", "seconds", "minutes", "either");
  return {
    kind,
    nights: oneOf(2, 3, 4, 5),
    hasOneName: random() < 0.5,
    isSortedByHand: random() < 0.5,
    hasWindows,
    rejectRate: oneOf(0.15, 0.3, 0.5),
    damageRate: oneOf(0, 0.15, 0.3),
    timesVary,
    alwaysTimed,
    isHasty,
    timeLossRate: alwaysTimed ? 0 : oneOf(0, 0, 0.1, 0.25),
    clock,
    // What happened within a minute stands in its order, as far as anybody can tell.
    isNewestFirst: alwaysTimed && !isHasty && clock === "seconds" && random() < 0.3,
    hasSecondFile: alwaysTimed && random() < 0.3,
    // Of contents that come back, a part of the history does not say which of them it shows.
    repeats: random() < 0.6 && !hasWindows,
    hasLate: random() < 0.4,
    toldOtherwise:
      random() < 0.25 ? { on: Math.floor(random() * 5), how: oneOf("without seconds", "in another zone") } : undefined,
  };
}

function historyOf(ticket: string, habits: Habits, random: Random): History {
  const { nights, repeats, hasLate, timesVary, damageRate, hasWindows } = habits;
  const { contents, isTimed } = KINDS[habits.kind] as KindSpec;
  const pick = (choices: number): number => Math.floor(random() * choices);
  const nightsWhere = (is: () => boolean): readonly number[] =>
    Array.from({ length: nights }, (_, each) => each).filter(is);
  const count = 1 + pick(4);
  const isMixed = timesVary && random() < 0.25;
  const deeds: Deed[] = [];
  let night = 0;
  for (let at = 0; at < count; at += 1) {
    if (pick(3) === 0) night += 1;
    const last = deeds.at(-1)?.content;
    const others = repeats ? contents.slice(0, 3).filter((each) => each !== last) : contents.slice(at, at + 1);
    deeds.push({
      content: others[pick(others.length)] ?? contents[0] ?? "",
      time: OPENING + night * DAY + (habits.isHasty ? at * 20 + pick(15) : at * 3600 + pick(50)),
      price: ["18.00", "18.50", "20.00"][pick(3)] ?? "",
      shownFrom: Math.min(night, nights - 1) + (hasLate && random() < 0.15 ? 1 + pick(2) : 0),
      isTimeless: isMixed && random() < 0.4,
      isToTheMinute: habits.clock === "minutes" || (habits.clock === "either" && random() < 0.3),
      untimedOn: new Set(nightsWhere(() => random() < habits.timeLossRate)),
      damagedOn: new Set(nightsWhere(() => random() < damageRate)),
    });
  }
  const always = habits.alwaysTimed || random() < 0.5;
  const from = timesVary ? ([0, NEVER, pick(nights)][pick(3)] ?? 0) : always ? 0 : NEVER;
  const until = timesVary && random() < 0.3 ? pick(nights + 1) : NEVER;
  return {
    ticket,
    deeds,
    timed: isTimed ? { from, until } : { from: NEVER, until: NEVER },
    repricedFrom: random() < 0.2 ? pick(nights) : NEVER,
    windowFrom: Array.from({ length: nights }, () => (hasWindows && random() < 0.5 ? pick(count) : 0)),
  };
}

async function play(
  { folder, shared }: { readonly folder: string; readonly shared: SharedLedger | undefined },
  habits: Habits,
  histories: readonly History[],
  random: Random,
): Promise<PlayedWorld> {
  const { kind, nights, hasOneName, isSortedByHand, rejectRate } = habits;
  const { file, columns, weakness, isOrdered, contentIn, cells } = KINDS[kind] as KindSpec;
  const byTicket = new Map(histories.map((history) => [history.ticket, history]));
  const accepted = new Map(histories.map(({ ticket }): [string, Accepted[]] => [ticket, []]));
  const stories = new Map(
    histories.map(({ ticket, deeds }): [string, string[]] => [
      ticket,
      [
        JSON.stringify(habits),
        `what happened: ${deeds.map(({ content, shownFrom }) => `${content}@${shownFrom}`).join(" ")}`,
      ],
    ]),
  );
  const note = (ticket: string, text: string): unknown => stories.get(ticket)?.push(text);
  const findings = new Map<string, Finding>();
  /** `COMMAND TICKET` where a person gave rows in another order, or left some out. */
  const byHand = new Set<string>();
  let command = 0;
  let isHonest = false;
  let mended = 0;

  const take = (item: Item, isRejected: boolean): void => {
    const [ticket, content] = [String(item.data.ticketId), contentIn(item.data)];
    note(ticket, `    ${isRejected ? "rejected" : "accepted"} ${content}`);
    if (!isRejected) accepted.get(ticket)?.push({ content, command });
  };
  /** The next answer is lost, before the service took anything or after it took all of it. */
  let lost: "before" | "after" | undefined;
  const service = await startService({
    answer: ({ items }) => {
      if (lost === undefined) return undefined;
      if (lost === "after") for (const item of items) if (item.action === kind) take(item, false);
      return { status: 500, body: "{}" };
    },
    failureOf: (item) => {
      if (item.action !== kind) return undefined;
      const isRejected = !isHonest && random() < rejectRate;
      take(item, isRejected);
      return isRejected ? { status: "failed", reason: "not tonight" } : undefined;
    },
  });
  await mkdir(join(folder, "home"));
  const settings = ["maxRejected: 100000", ...(shared === undefined ? [] : [shared.settings])].join(", ");
  await writeFile(join(folder, "tickets.config.yaml"), `environments: {playground: {${settings}}}\n`);
  const env = {
    HOME: join(folder, "home"),
    TICKETS_ENV: "playground",
    TICKETS_STATE_DIR: join(folder, "state"),
    ...service.env,
    ...shared?.env,
  };

  const run = async (work: (context: Asked["context"]) => Promise<number>) => {
    const asked = makeContext(folder, env);
    const exitCode = await work(asked.context).catch((cause: unknown) => {
      if (!(cause instanceof Failure)) throw cause;
      asked.context.reporter.error(cause.message);
      return EXIT_CODES[cause.code];
    });
    return { exitCode, out: asked.out(), said: asked.said() };
  };
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(folder, name), text);
    // No export that is being written just now, whose end would be watched.
    const aWhileAgo = new Date(Date.now() - 3_600_000);
    await utimes(join(folder, name), aWhileAgo, aWhileAgo);
  };
  const judge = (): void => {
    for (const { ticket, deeds } of histories) {
      const isByHand = (number: number): boolean => byHand.has(`${number} ${ticket}`);
      const what = judgeHistory(deeds, accepted.get(ticket) ?? [], kind, isByHand);
      if (what !== undefined) find(ticket, what);
    }
  };
  const find = (ticket: string, what: Finding["what"]): void => {
    if (!findings.has(ticket)) findings.set(ticket, { what, story: (stories.get(ticket) ?? []).join("\n") });
  };
  const streamOnce = (names: readonly string[]) =>
    run((context) =>
      verbs.stream(
        { files: names, output: "promises.ndjson", maxInvalid: { rows: 100_000 }, json: true, flags: { retries: 0 } },
        context,
      ),
    );
  const send = async (names: readonly string[]): Promise<void> => {
    command += 1;
    lost = !isHonest && random() < 0.1 ? (random() < 0.5 ? "before" : "after") : undefined;
    let done = await streamOnce(names);
    if (lost !== undefined && done.exitCode === 6) {
      const decision = lost === "after" ? "sent" : "not-sent";
      for (const { ticket } of histories) note(ticket, `    no answer, and settled as ${decision}`);
      lost = undefined;
      const { run: inDoubt } = JSON.parse(done.out) as Summary; // `--json` of a command that stopped in doubt
      await run((context) => verbs.settle({ run: String(inDoubt), decision, json: true }, context));
      done = await streamOnce(names);
    }
    lost = undefined;
    expect([0, 3, 4], `exit ${done.exitCode}\n${done.said}`).toContain(done.exitCode);
    judge();
  };

  const timeOn = (night: number, deed: Deed): number => {
    const { on, how } = habits.toldOtherwise ?? {};
    const time = deed.isToTheMinute ? toTheMinute(deed.time) : deed.time;
    if (on !== night) return time;
    return how === "in another zone" ? time + 3600 : toTheMinute(time);
  };

  /** Writes a night's export; the tickets of its rows. */
  const writeExport = async (night: number, name: string): Promise<readonly (readonly string[])[]> => {
    const rows = histories.flatMap((history) => {
      const shown = history.deeds.filter(
        ({ shownFrom }, at) => shownFrom <= night && at >= (history.windowFrom[night] ?? 0),
      );
      const own = shown.map((deed) => {
        const isTimed =
          night >= history.timed.from && night < history.timed.until && !deed.isTimeless && !deed.untimedOn.has(night);
        const price = night >= history.repricedFrom ? deed.price.replace(/\.?0+$/, "") : deed.price;
        const time = isTimed ? String(timeOn(night, deed)) : "";
        const values = { ...cells(deed.content, price, time), ticketId: history.ticket };
        const isDamaged = deed.damagedOn.has(night);
        const damaged = isDamaged ? { ...values, [weakness]: `bad ${history.deeds.indexOf(deed)}` } : values;
        return columns.map((column) => (damaged as Readonly<Record<string, string>>)[column] ?? "");
      });
      if (own.length > 0) note(history.ticket, `${command + 1}. ${name}: ${listed(own)}`);
      return habits.isNewestFirst ? own.reverse() : own;
    });
    await write(name, stringify([columns, ...rows]));
    return rows;
  };

  /** Some rows of a night's export, as a second system tells them. */
  const writeSecond = async (name: string, rows: readonly (readonly string[])[]): Promise<void> => {
    const at = columns.indexOf("orderTime");
    const told = rows
      .filter(() => random() < 0.2)
      .map((row) => {
        const time = Number(row[at]);
        // What two systems say of the order of resales, nobody can tell: a wrong hour would be taken for what happened later.
        const others = isOrdered ? [time, toTheMinute(time)] : [time, toTheMinute(time), time + 7200];
        const other = others[Math.floor(random() * others.length)];
        note(row[0] ?? "", `${command + 1}. ${name}: ${listed([row.with(at, String(other))])}`);
        return row.with(at, String(other));
      });
    await write(name, stringify([columns, ...told]));
  };

  /** What a person makes of a rejects file: most of its bad cells are put right, and some of its rows left out. */
  const mend = async (name: string, isSorted: boolean): Promise<string | undefined> => {
    const rows = parse<Record<string, string>>(await readFile(join(folder, name)), { columns: true, bom: true });
    const groups = Map.groupBy(rows, ({ ticketId = "" }) => ticketId);
    const given = [...groups].flatMap(([ticket, all]) => {
      const own = all.filter(() => random() > 0.08);
      if (own.length < all.length || isSorted) byHand.add(`${command + 1} ${ticket}`);
      for (const row of own) {
        const [, at] = /^bad (\d+)$/.exec(row[weakness] ?? "") ?? [];
        const deed = at === undefined || random() > 0.85 ? undefined : byTicket.get(ticket)?.deeds[Number(at)];
        if (deed !== undefined) row[weakness] = cells(deed.content, deed.price, "")[weakness] ?? "";
      }
      return isSorted ? own.sort(() => random() - 0.5) : own;
    });
    if (given.length === 0) return undefined;
    const mendedName = hasOneName
      ? `${file}-m.csv`
      : `${file}-${command}m${name.replace(file, "").replaceAll(".rejects", "")}`;
    await write(mendedName, stringify(given, { header: true }));
    const isKept = random() < 0.3;
    if (!isKept) await rm(join(folder, name));
    for (const [ticket, own] of Map.groupBy(given, ({ ticketId = "" }) => ticketId)) {
      const words = `${isSorted ? ", sorted by hand" : ""}${isKept ? ", kept" : ""}`;
      note(ticket, `${command + 1}. ${name}${words}: ${listed(own.map((row) => columns.map((each) => row[each])))}`);
    }
    mended += given.length;
    return mendedName;
  };

  const rejectsFiles = async (): Promise<readonly string[]> =>
    (await Array.fromAsync(glob("*.rejects.csv", { cwd: folder }))).toSorted();
  const streamRejects = async (earlier: string[]): Promise<void> => {
    const names = await rejectsFiles();
    const areTogether = !hasOneName && random() < 0.2;
    const together: string[] = [];
    for (const name of names) {
      if (random() < 0.35) continue;
      const mendedName = await mend(name, isSortedByHand && random() < 0.5);
      if (mendedName === undefined) continue;
      together.push(mendedName);
      if (areTogether) continue;
      isHonest = random() < 0.4;
      await send(together.splice(0));
      if (random() < 0.3) earlier.push(mendedName);
    }
    if (together.length > 0) await send(together);
    const again = random() < 0.2 ? earlier[Math.floor(random() * earlier.length)] : undefined;
    if (again === undefined) return;
    for (const { ticket } of histories) {
      byHand.add(`${command + 1} ${ticket}`);
      note(ticket, `${command + 1}. ${again} once more`);
    }
    isHonest = random() < 0.4;
    await send([again]);
  };

  await write("sales.csv", salesOf(histories));
  await send(["sales.csv"]);
  const earlier: string[] = [];
  for (let night = 0; night < nights; night += 1) {
    const name = hasOneName ? `${file}.csv` : `${file}-${night}.csv`;
    isHonest = random() < 0.15;
    const rows = await writeExport(night, name);
    if (habits.hasSecondFile) {
      const second = name.replace(file, `${file}-box`);
      await writeSecond(second, rows);
      await send([name, second]);
    } else {
      await send([name]);
    }
    if (random() < 0.55) await streamRejects(earlier);
  }
  // In the end all that happened is shown, the latest rows too, and right.
  isHonest = true;
  const last = `${file}-last.csv`;
  const tickets = (await writeExport(nights + 2, last)).map(([ticket = ""]) => ticket);
  const checked = await run((context) =>
    verbs.validate({ files: [last], json: true, flags: {}, maxProblems: 100_000 }, context),
  );
  const { problems } = JSON.parse(checked.out) as { problems: readonly Problem[] }; // `--json` of a command that ran
  const toldLines = new Set(
    problems
      .filter(({ rule, severity }) => severity === "error" || NOT_SENT_RULES.has(rule))
      .map(({ line }) => Number(line)),
  );
  await send([last]);
  for (const [ticket, own] of Map.groupBy(tickets.entries(), ([, ticket]) => ticket)) {
    const told = own.filter(([at]) => toldLines.has(at + 2)).length;
    if (told + (accepted.get(ticket)?.length ?? 0) < own.length) find(ticket, "neither sent nor told");
  }
  const before = new Map([...accepted].map(([ticket, own]) => [ticket, own.length]));
  await send([last]);
  for (const [ticket, own] of accepted) if (own.length > (before.get(ticket) ?? 0)) find(ticket, "sent once more");
  const all = [...accepted.values()].reduce((sum, own) => sum + own.length, 0);
  return { findings: [...findings.values()], accepted: all, told: toldLines.size, mended };
}

const toTheMinute = (time: number): number => time - (time % 60);

interface Problem {
  readonly line: number;
  readonly rule: string;
  readonly severity: string;
}

/** Its rows without their tickets. */
const listed = (rows: readonly (readonly (string | undefined)[])[]): string =>
  rows.map(([, ...cells]) => cells.join(",")).join(" | ");

function salesOf(histories: readonly History[]): string {
  const sales = histories.map(({ ticket }) => `soldTicket,E,,${ticket},user-z,10.00,${OPENING - DAY}`);
  return `${["action,eventId,currency,ticketId,userId,price,orderTime", "newEvent,E,EUR,,,,", ...sales].join("\n")}\n`;
}

/** Whether what was accepted can be read as deeds of the history: each once, and in their order but where a person gave another. */
function judgeHistory(
  deeds: readonly Deed[],
  accepted: readonly Accepted[],
  kind: Kind,
  isByHand: (command: number) => boolean,
): "doubled" | "out of order" | undefined {
  const { isOrdered }: KindSpec = KINDS[kind];
  const left = deeds.map(({ content }) => content);
  for (const { content } of accepted) {
    const at = left.indexOf(content);
    if (at === -1) return "doubled";
    left.splice(at, 1);
  }
  if (!isOrdered) return undefined;
  /** @param places those of the deeds that the accepted ones before it are. */
  const canBeRead = (places: readonly number[]): boolean => {
    const next = accepted[places.length];
    if (next === undefined) return true;
    return deeds.some(({ content }, place) => {
      if (content !== next.content || places.includes(place)) return false;
      const isInOrder = places.every((before, at) => {
        const isOfOneCommand = accepted[at]?.command === next.command;
        return before < place || (isOfOneCommand && isByHand(next.command));
      });
      return isInOrder && canBeRead([...places, place]);
    });
  };
  return canBeRead([]) ? undefined : "out of order";
}
