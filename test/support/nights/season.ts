/**
 * One season of nights, played against a service that rejects some actions and loses some answers, and judged by what is
 * known of the world: nothing twice, nothing out of order, nothing left out without a word.
 *
 * The judge knows none of the product's rules. It counts what the service accepted of each history and looks for every row
 * of the night among what was accepted, rejected or told.
 */

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { glob } from "tinyglobby";
import { expect } from "vitest";
import { EXIT_CODES, Failure } from "../../../src/failure.ts";
import { makeContext, verbs } from "../context.ts";
import type { Summary } from "../counts.ts";
import { type Item, type Service, startService } from "../service.ts";
import { configOf, type SharedLedger } from "../shared-ledger.ts";
import {
  createWorld,
  DAMAGED,
  type Deed,
  type Extent,
  historyOf,
  KINDS,
  type Kind,
  type NightFile,
  type Random,
  specOf,
  type World,
} from "./deeds.ts";

/** Rules by which a sound row is not sent although it was never accepted. */
const NOT_SENT_RULES: ReadonlySet<string> = new Set(["history-late", "history-superseded", "changed"]);

/** What the service has of a history, in the order in which it came. */
interface Accepted {
  readonly history: string;
  readonly content: string;
  readonly night: number;
}

/** What the service was asked for of a history, in the order in which it came. */
interface Asked extends Accepted {
  readonly isTaken: boolean;
}

export interface Played {
  readonly nights: number;
  readonly accepted: number;
  readonly told: number;
  readonly mended: number;
  readonly doubts: number;
}

/** What a night was given, for who judges its order. */
interface Input {
  readonly isReversed: boolean;
  /** History and content of each row. */
  readonly shown: ReadonlySet<string>;
}

export interface SeasonOptions {
  /** For a season in which rows have numbers that the config takes for their keys. */
  readonly keys?: Random | undefined;
  /** Every night gives all that happened, in order, and contents come back. */
  readonly isWhole?: boolean;
  readonly shared?: SharedLedger | undefined;
}

/** Plays a season; fails where a night was neither right nor said what it did not do. */
export async function playSeason(random: Random, options: SeasonOptions = {}): Promise<Played> {
  const { keys, isWhole = false, shared } = options;
  const world = createWorld(random, { keys, isWhole });
  await using desk = await openDesk(world, random, shared);
  const played = { nights: 0, told: 0, mended: 0, doubts: 0 };
  const judge = (files: readonly NightFile[], night: Night, extent: Extent): void => {
    played.nights += 1;
    played.told += night.named.size;
    played.doubts += night.doubts;
    judgeNight(world.deeds, desk.accepted, files, night, extent, desk.story());
  };

  for (let day = 0; day < world.days; day += 1) {
    const extent = day === 0 || isWhole ? "full" : (EXTENTS[Math.floor(random() * EXTENTS.length)] ?? "full");
    const isReversed = extent === "full" && random() < 0.15 && !isWhole;
    const files = world.files(day, extent, isReversed);
    const night = await desk.night(files, { isReversed, isHonest: false });
    judge(files, night, extent);
    if (isWhole) judgeUnclear(world, night, desk.story());
    if (random() < 0.4) played.mended += await desk.streamMendedRejects(day);
    judgeCounts(world.deeds, desk.accepted, desk.story());
    judgeOrder(world, desk);
    judgeTimes(world, desk);
    judgeMixedTimes(world, desk);
    judgeTriedAgain(world, desk);
  }

  // In the end an honest night: everything that can be known is there, or is told; and once more, nothing is sent.
  const files = world.files(world.days + 5, "full", false);
  judge(files, await desk.night(files, { isReversed: false, isHonest: true }), "full");
  const before = desk.accepted.length;
  judge(files, await desk.night(files, { isReversed: false, isHonest: true }), "full");
  expect(desk.accepted.length, `the same night once more\n${desk.story()}`).toBe(before);
  judgeOrder(world, desk);
  judgeTriedAgain(world, desk);
  return { ...played, accepted: desk.accepted.length };
}

/** What a night's export holds; as often as it stands here. */
const EXTENTS = ["full", "full", "window", "delta"] as const satisfies readonly Extent[];

/** What a night came to. */
interface Night {
  /** Numbers of the deeds of whose rows it told something, or that were rejected. */
  readonly named: ReadonlySet<number>;
  /** Histories of which it said that it can't be told what was accepted. */
  readonly unclear: ReadonlySet<string>;
  readonly doubts: number;
  /** Nothing was sent at all, which was said. */
  readonly isStopped: boolean;
}

interface Desk extends AsyncDisposable {
  /** All that the service has accepted of the world's histories. */
  readonly accepted: readonly Accepted[];
  /** The same, with what it rejected. */
  readonly asked: readonly Asked[];
  /** What each night was given, by its number. */
  readonly inputs: ReadonlyMap<number, Input>;
  night(files: readonly NightFile[], how: { readonly isReversed: boolean; readonly isHonest: boolean }): Promise<Night>;
  /** Mends the damaged cells in the rejects files, streams each, sometimes twice, and takes it away; how many there were. */
  streamMendedRejects(day: number): Promise<number>;
  /** What has happened so far, for a failure. */
  story(): string;
}

async function openDesk(world: World, random: Random, shared: SharedLedger | undefined): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-nights-"));
  const exports = join(folder, "exports");
  await mkdir(join(folder, "home"));
  const config = `${world.config}${shared === undefined ? "" : configOf("playground", shared)}`;
  if (config !== "") await writeFile(join(folder, "tickets.config.yaml"), config);
  const accepted: Accepted[] = [];
  const asked: Asked[] = [];
  const inputs = new Map<number, Input>();
  const story: string[] = world.config === "" ? [] : [world.config];
  /** Histories and contents that the service rejected tonight. */
  let rejected: string[] = [];
  let night = 0;
  let isHonest = false;
  let cut: "before" | "after" | undefined;

  const take = (item: Item): void => {
    const found = historyOfItem(item);
    if (found === undefined) return;
    accepted.push({ ...found, night });
    asked.push({ ...found, night, isTaken: true });
  };
  const isRejected = (item: Item): boolean => {
    const found = historyOfItem(item);
    if (isHonest || found === undefined || random() > 0.08) return false;
    rejected.push(`${found.history} ${found.content}`);
    asked.push({ ...found, night, isTaken: false });
    return true;
  };
  const service: Service = await startService({
    answer: ({ items, headers }) => {
      if (headers["x-api-key"] !== service.key) return undefined;
      const lost = cut;
      cut = undefined;
      if (lost === "before") return { status: 500, body: "{}" };
      const data = items.map((item) => {
        // Who settles a lost answer says one thing of all its actions, so then they share their fate.
        if (lost === undefined && isRejected(item)) return { status: "failed", reason: "not tonight" };
        take(item);
        const { eventId, ticketId } = item.data;
        const named = item.action === "soldTicket" || ticketId === undefined ? { eventId } : {};
        return {
          status: "success",
          action: item.action,
          ...named,
          ...(ticketId !== undefined && { ticketId }),
          actionPromise: crypto.randomUUID(),
        };
      });
      return lost === "after"
        ? { status: 500, body: "{}" }
        : { status: 200, body: JSON.stringify({ status: "success", data }) };
    },
  });
  const env = {
    HOME: join(folder, "home"),
    TICKETS_ENV: "playground",
    TICKETS_STATE_DIR: join(folder, "state"),
    ...service.env,
    ...shared?.env,
  };

  const run = async (command: (context: ReturnType<typeof makeContext>["context"]) => Promise<number>) => {
    const asked = makeContext(folder, env);
    let exitCode: number;
    try {
      exitCode = await command(asked.context);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      exitCode = EXIT_CODES[cause.code];
      asked.context.reporter.error(cause.message);
    }
    return { exitCode, out: asked.out(), said: asked.said() };
  };

  const streamOnce = (names: readonly string[], maxInvalid: number) =>
    run((context) =>
      verbs.stream(
        {
          files: names,
          output: "promises.ndjson",
          maxInvalid: { rows: maxInvalid },
          json: true,
          flags: { retries: 0, chunkSize: 7 },
        },
        context,
      ),
    );

  /** Streams until no answer is missing: a doubt is settled by what the service knows, and the same command given again. */
  const streamAll = async (names: readonly string[], maxInvalid: number) => {
    let doubts = 0;
    for (;;) {
      const isTaken = cut === "after";
      const done = await streamOnce(names, maxInvalid);
      story.push(`  exit ${done.exitCode}`, indented(done.said));
      if (done.exitCode !== 6) return { ...done, doubts };
      doubts += 1;
      const decision = isTaken ? "sent" : "not-sent";
      const settled = await run((context) => verbs.settle({ run: lastRun(done.out), decision, json: true }, context));
      story.push(`  settled --${decision}: exit ${settled.exitCode}`);
    }
  };

  const checkOnce = async (names: readonly string[]) => {
    const done = await run((context) =>
      verbs.validate({ files: names, json: true, flags: {}, maxProblems: 10_000 }, context),
    );
    const found: { problems: readonly { source: string; line: number; rule: string; severity: string }[] } =
      done.out === "" ? { problems: [] } : JSON.parse(done.out);
    return found.problems;
  };

  /** Streams files, and writes down what came of it. */
  const tell = async (names: readonly string[], input: Input, maxInvalid: number) => {
    const before = accepted.length;
    inputs.set(night, input);
    const done = await streamAll(names, maxInvalid);
    expect([0, 3, 4], `exit ${done.exitCode}\n${story.join("\n")}`).toContain(done.exitCode);
    const sent = accepted.slice(before);
    story.push(...sent.map(({ history, content }) => `  accepted ${history} ${content}`));
    story.push(...rejected.map((each) => `  rejected ${each}`));
    const isStopped = done.exitCode === 3;
    if (isStopped) expect(sent, `an invalid input sends nothing\n${story.join("\n")}`).toEqual([]);
    return { doubts: done.doubts, isStopped };
  };

  return {
    accepted,
    asked,
    inputs,
    story: () => story.join("\n"),
    async night(files, { isReversed, isHonest: honest }) {
      night += 1;
      isHonest = honest;
      rejected = [];
      await rm(exports, { recursive: true, force: true });
      await mkdir(exports);
      for (const { name, text } of files) await writeFile(join(exports, name), text);
      const names = files.map(({ name }) => join("exports", name));
      story.push(
        `night ${night}${honest ? ", honest" : ""}`,
        ...files.map(({ name, text }) => `  ${name}\n${indented(text)}`),
      );
      const problems = await checkOnce(names);
      const named = new Set<number>();
      const unclear = new Set<string>();
      for (const { name, rows } of files) {
        for (const [at, { deed }] of rows.entries()) {
          const told = problems.filter(
            ({ source, line, rule, severity }) =>
              source.endsWith(name) && line === at + 2 && (severity === "error" || NOT_SENT_RULES.has(rule)),
          );
          if (told.length > 0) named.add(deed.id);
          if (told.some(({ rule }) => rule === "history-unclear")) unclear.add(historyOf(deed));
          for (const { source, line, rule } of told) story.push(`  told ${source}:${line} ${rule}`);
        }
      }
      if (!honest && random() < 0.1) cut = random() < 0.5 ? "before" : "after";
      const rows = files.flatMap((file) => file.rows);
      const shown = new Set(rows.map(({ deed }) => `${historyOf(deed)} ${deed.content}`));
      const came = await tell(names, { isReversed, shown }, honest || random() < 0.85 ? 100_000 : 0);
      cut = undefined;
      for (const { deed } of rows) if (rejected.includes(`${historyOf(deed)} ${deed.content}`)) named.add(deed.id);
      return { named, unclear, ...came };
    },
    async streamMendedRejects(day) {
      isHonest = true;
      const names = (await glob(["**/*.rejects.csv"], { cwd: folder })).toSorted();
      for (const name of names) {
        const kind = (Object.keys(KINDS) as Kind[]).find((each) => name.includes(`${specOf(each).file}-`)); // the keys of a constant object literal
        if (kind === undefined) continue;
        night += 1;
        rejected = [];
        const rows = parse<Record<string, string>>(await readFile(join(folder, name)), { columns: true, bom: true });
        const right = rows.map((row) => mend(row, kind, world, day));
        await rm(join(folder, name));
        const mendedName = `${specOf(kind).file}-mended.csv`;
        const text = stringify(right, { header: true });
        await writeFile(join(folder, mendedName), text);
        story.push(`mended ${name}, night ${night}\n${indented(text)}`);
        const shown = new Set(
          right.map(
            (data) => `${historyOf({ kind, subject: String(data[specOf(kind).about]) })} ${contentOfRow(kind, data)}`,
          ),
        );
        const input = { isReversed: false, shown };
        // Also by a service that rejects some of it again, and once more as it is.
        const isGivenTwice = random() < 0.5;
        isHonest = !isGivenTwice || random() < 0.5;
        const first = await tell([mendedName], input, 100_000);
        const isDone = isHonest && !first.isStopped;
        isHonest = true;
        if (!isGivenTwice) continue;
        const before = accepted.length;
        night += 1;
        rejected = [];
        story.push(`the same once more, night ${night}`);
        await tell([mendedName], input, 100_000);
        if (isDone) expect(accepted.length, `the same rejects once more\n${story.join("\n")}`).toBe(before);
      }
      return names.length;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

const indented = (text: string): string => text.trimEnd().replaceAll(/^/gm, "    ");

function lastRun(out: string): string {
  const { run } = JSON.parse(out) as Summary; // `--json` of a command that stopped in doubt
  expect(run).not.toBeNull();
  return String(run);
}

/** The history and content of what the service was asked for; undefined for events and sales. */
function historyOfItem({ action, data }: Item): { readonly history: string; readonly content: string } | undefined {
  if (!(action in KINDS)) return undefined;
  const kind = action as Kind; // looked up just now
  const { about, contentIn } = specOf(kind);
  return { history: historyOf({ kind, subject: String(data[about]) }), content: contentIn(data) };
}

/** A row with its damaged cell put right, as a person does who knows what happened. */
function mend(row: Readonly<Record<string, string>>, kind: Kind, world: World, day: number): Record<string, string> {
  const { weakness } = specOf(kind);
  const cell = row[weakness] ?? "";
  if (!cell.startsWith(DAMAGED[kind])) return { ...row };
  const deed = world.deeds[Number(cell.slice(DAMAGED[kind].length))];
  return deed === undefined ? { ...row } : { ...row, [weakness]: world.rightCell(deed, day) };
}

/** The content that a row of a file gives. */
function contentOfRow(kind: Kind, row: Readonly<Record<string, string>>): string {
  return specOf(kind).contentIn(row);
}

/** Nothing is accepted more often than it happened. */
function judgeCounts(deeds: readonly Deed[], accepted: readonly Accepted[], story: string): void {
  const happened = countBy(deeds.map((deed) => `${historyOf(deed)} ${deed.content}`));
  for (const [what, times] of countBy(accepted.map(({ history, content }) => `${history} ${content}`)))
    expect(times, `${what} was accepted ${times} times\n${story}`).toBeLessThanOrEqual(happened.get(what) ?? 0);
}

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Every row of the night was accepted, tonight or earlier, or something was said of it. */
function judgeNight(
  deeds: readonly Deed[],
  accepted: readonly Accepted[],
  files: readonly NightFile[],
  { named, isStopped }: Night,
  extent: Extent,
  story: string,
): void {
  judgeCounts(deeds, accepted, story);
  if (isStopped) return;
  const which = (deed: Deed): string => `${historyOf(deed)} ${deed.content}`;
  const taken = countBy(accepted.map(({ history, content }) => `${history} ${content}`));
  const happened = countBy(deeds.map(which));
  const rows = files.flatMap((file) => file.rows);
  for (const [what, shown] of Map.groupBy(rows, ({ deed }) => which(deed))) {
    // Of contents that come back, a part of the history does not say which of them it shows.
    if (extent !== "full" && (happened.get(what) ?? 0) > 1) continue;
    const told = shown.filter(({ deed }) => named.has(deed.id)).length;
    expect(
      (taken.get(what) ?? 0) + told,
      `${what} stands in ${shown.length} rows, of which ${told} were told\n${story}`,
    ).toBeGreaterThanOrEqual(shown.length);
  }
}

/**
 * Where every night gives all that happened, in order, it can be told what was accepted of a history without times, whatever the
 * service rejected and though contents come back; but not of resales whose prices are written otherwise.
 */
function judgeUnclear({ habits, isRepriced }: World, { unclear }: Night, story: string): void {
  const untimed = [...unclear].filter(
    (history) =>
      history.startsWith("update") ||
      (habits.timedFrom === Number.POSITIVE_INFINITY && !(isRepriced && history.startsWith("resold"))),
  );
  expect(untimed, story).toEqual([]);
}

/**
 * What has no times was accepted in the order in which it happened; but for what a night gave in another order (of which
 * only a person can know that it is another one), and for what was streamed on its own, without anything that was accepted
 * before.
 */
function judgeOrder({ deeds, habits }: World, { accepted, inputs, story }: Desk): void {
  const untimed = accepted.filter(
    ({ history }) =>
      history.startsWith("update") || (history.startsWith("resold") && habits.timedFrom === Number.POSITIVE_INFINITY),
  );
  for (const [history, taken] of Map.groupBy(untimed, (each) => each.history)) {
    const happened = deeds.filter((deed) => historyOf(deed) === history).map(({ content }) => content);
    if (new Set(happened).size < happened.length) continue;
    for (const [at, later] of taken.entries()) {
      const before = taken.slice(0, at);
      const overtaken = before.find(({ content }) => happened.indexOf(content) > happened.indexOf(later.content));
      if (overtaken === undefined) continue;
      const input = inputs.get(later.night);
      const isAsGiven = input?.isReversed === true;
      const isAlone = !before.some(
        ({ night, content }) => night < later.night && input?.shown.has(`${history} ${content}`),
      );
      expect(isAsGiven || isAlone, `${history}: ${later.content} after ${overtaken.content}\n${story()}`).toBe(true);
    }
  }
}

/** A resale with a time is accepted behind none of a later time that an earlier night brought. */
function judgeTimes({ deeds, habits, retoldOn, lacksTime }: World, { accepted, story }: Desk): void {
  if (habits.timedFrom > 0 || retoldOn < Number.POSITIVE_INFINITY) return;
  const resales = accepted.filter(({ history }) => history.startsWith("resold"));
  for (const [history, taken] of Map.groupBy(resales, (each) => each.history)) {
    const happened = deeds.filter((deed) => historyOf(deed) === history);
    if (new Set(happened.map(({ content }) => content)).size < happened.length) continue;
    const timeOf = (content: string): number => happened.find((deed) => deed.content === content)?.time ?? 0;
    const isTimed = (content: string): boolean => happened.some((deed) => deed.content === content && !lacksTime(deed));
    for (const { content, night } of taken.filter((each) => isTimed(each.content))) {
      const later = taken.find(
        (each) => each.night < night && isTimed(each.content) && timeOf(each.content) > timeOf(content),
      );
      expect(later, `${history}: ${content} came after ${later?.content}\n${story()}`).toBe(undefined);
    }
  }
}

/** Where only some resales have times, one is accepted behind no later one that stands behind it in its night. */
function judgeMixedTimes({ deeds, isMixed, lacksTime }: World, { accepted, inputs, story }: Desk): void {
  if (!isMixed) return;
  const resales = accepted.filter(({ history }) => history.startsWith("resold"));
  for (const [history, taken] of Map.groupBy(resales, (each) => each.history)) {
    const happened = deeds.filter((deed) => historyOf(deed) === history);
    if (new Set(happened.map(({ content }) => content)).size < happened.length) continue;
    const placeOf = (content: string): number => happened.findIndex((deed) => deed.content === content);
    const isUntimed = (content: string): boolean =>
      happened.some((deed) => deed.content === content && lacksTime(deed));
    for (const { content, night } of taken.filter((each) => inputs.get(each.night)?.isReversed !== true)) {
      const later = taken.find(
        (each) =>
          each.night < night &&
          placeOf(each.content) > placeOf(content) &&
          (isUntimed(each.content) || isUntimed(content)) &&
          inputs.get(night)?.shown.has(`${history} ${each.content}`) === true,
      );
      expect(later, `${history}: ${content} came after ${later?.content}\n${story()}`).toBe(undefined);
    }
  }
}

/** A resale that was rejected is not tried again once one of a later time was accepted; but those of one night go in its order. */
function judgeTriedAgain({ deeds, retoldOn }: World, { asked, inputs, story }: Desk): void {
  if (retoldOn < Number.POSITIVE_INFINITY) return;
  const resales = asked.filter(({ history }) => history.startsWith("resold"));
  for (const [history, tried] of Map.groupBy(resales, (each) => each.history)) {
    const happened = deeds.filter((deed) => historyOf(deed) === history);
    if (new Set(happened.map(({ content }) => content)).size < happened.length) continue;
    const timeOf = (content: string): number => happened.find((deed) => deed.content === content)?.time ?? 0;
    for (const [at, { content, isTaken, night }] of tried.entries()) {
      const rejected = tried.slice(0, at).findLastIndex((each) => each.content === content && !each.isTaken);
      if (!isTaken || rejected === -1) continue;
      const isAsGiven = (each: Asked): boolean => each.night === night && inputs.get(night)?.isReversed === true;
      const later = tried
        .slice(rejected, at)
        .find((each) => each.isTaken && timeOf(each.content) > timeOf(content) && !isAsGiven(each));
      expect(later, `${history}: ${content} was rejected, and sent again after ${later?.content}\n${story()}`).toBe(
        undefined,
      );
    }
  }
}
