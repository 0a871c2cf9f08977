/** What a person does after a power cut, and what must then be true. */

import { existsSync, readdirSync } from "node:fs";
import { expect } from "vitest";
import type { Ended } from "../bin.ts";
import { readPromises, readTable } from "../tables.ts";
import { FILES, OPEN_ROWS, plannedRows } from "./stories.ts";
import type { ToldStory } from "./told.ts";

/** More than any state needs. */
const MOST_ROUNDS = 8;
const DONE = [0, 4];
const IN_DOUBT = 6;

/** Types a command again until it is done; each doubt is settled by what the service has. */
export async function putRight(told: ToldStory, args: readonly string[], said: string[]): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const ended = await type(told, args, said);
    if (DONE.includes(ended.exitCode ?? -1)) return;
    if (ended.exitCode !== IN_DOUBT) throw new Error(`unexpected exit code ${ended.exitCode}`);
    await settleByTruth(told, ended, said);
    if (args[0] === "settle") return;
  }
  throw new Error(`not done after ${MOST_ROUNDS} rounds`);
}

export async function type({ place, env }: ToldStory, args: readonly string[], said: string[]): Promise<Ended> {
  const ended = await place.tickets(args, { env, isWarm: true });
  said.push(`$ tickets ${args.join(" ")}\n${ended.stderr}exit ${ended.exitCode}`);
  return ended;
}

async function settleByTruth(told: ToldStory, { stderr }: Ended, said: string[]): Promise<void> {
  const [, run] = /tickets settle ([0-9a-f]{8})/.exec(stderr) ?? [];
  if (run === undefined) throw new Error("no run is named that could be settled");
  const settle = ["settle", run, "--env", "playground"];
  const { stderr: shown } = await type(told, settle, said);
  const has = new Set(acceptedBy(told).map(({ deed }) => deed));
  const chunks = chunksIn(shown);
  expect(chunks.length, shown).toBeGreaterThan(0);
  for (const { chunk, deeds } of chunks) {
    const first = deeds.findIndex((deed) => !has.has(deed));
    const taken = first === -1 ? deeds.length : first;
    if (deeds.slice(taken).some((deed) => has.has(deed))) throw new Error(`only a part of ${deeds} was taken`);
    const part = taken > 0 && taken < deeds.length ? ["--first", String(taken)] : [];
    const answer = taken > 0 ? "--sent" : "--not-sent";
    await type(told, [...settle, answer, "--chunk", chunk, ...part, "--reason", "looked"], said);
  }
}

/** The chunks in doubt that `settle` shows, with their actions. */
function chunksIn(shown: string): readonly { readonly chunk: string; readonly deeds: readonly string[] }[] {
  const deedAt = new Map(plannedRows(Object.keys(FILES)).map(({ place, deed }) => [place, deed]));
  return shown.split(/^(?=Chunk \d)/m).flatMap((text) => {
    const [, chunk] = /^Chunk (\d+)/.exec(text) ?? [];
    const deeds = [...text.matchAll(/^ {2}(\S+:\d+) \w/gm)].map(([, place = ""]) => deedAt.get(place) ?? place);
    return chunk === undefined ? [] : [{ chunk, deeds }];
  });
}

const processedBy = ({ service }: ToldStory) => service.processed().flatMap(({ actions }) => actions);
const acceptedBy = (told: ToldStory) => processedBy(told).filter(({ promise }) => promise !== undefined);

/**
 * Nothing is lost, doubled, out of order or untold, once commands with these files were put right.
 *
 * @param isSettled whether somebody may have had to say that something was sent.
 */
export function expectPutRight(told: ToldStory, files: readonly string[]): void {
  const { place, story } = told;
  const rows = plannedRows(files);
  const { refusedTicket } = story.rules;
  const wanted = rows.filter(({ deed }) => deed !== `soldTicket ${refusedTicket}`);
  const accepted = acceptedBy(told);
  for (const [eventId, ofEvent] of Map.groupBy(wanted, (row) => row.eventId)) {
    const [first, ...taken] = accepted.filter((each) => each.eventId === eventId).map(({ deed }) => deed);
    const [event, ...sales] = ofEvent.map(({ deed }) => deed);
    expect(first, `what the service has taken of ${eventId}`).toBe(event);
    // Lanes send the sales of one event beside each other.
    const order = (deeds: readonly string[]) => (story.lanes > 1 ? deeds.toSorted() : deeds);
    expect(order(taken), `what the service has taken of ${eventId}`).toEqual(order(sales));
  }
  expect(accepted.length).toBe(wanted.length);

  const text = place.read(story.output);
  const lines = story.output.endsWith(".csv") ? readTable(text) : readPromises(text);
  const promised = lines.filter(({ status }) => status === "success" || status === "settled");
  const shown = promised.map(({ source, line, actionPromise }) => `${source}:${line} ${actionPromise || "by hand"}`);
  const byHand = new Set(promised.filter((each) => !each.actionPromise).map(({ source, line }) => `${source}:${line}`));
  const promises = new Map(accepted.map(({ deed, promise }) => [deed, promise]));
  expect(shown.toSorted(), story.output).toEqual(
    wanted.map(({ place: at, deed }) => `${at} ${byHand.has(at) ? "by hand" : promises.get(deed)}`).toSorted(),
  );
  const refusals = processedBy(told).length - accepted.length;
  expect(lines.length - promised.length, "lines of rejections").toBeLessThanOrEqual(refusals);
  if (refusals > 0) expect(lines.length).toBeGreaterThan(promised.length);

  for (const name of files) {
    const open = OPEN_ROWS[name];
    if (open === undefined) continue;
    const rejects = readTable(place.read(name.replace(".csv", ".rejects.csv")));
    expect(
      rejects.map(({ ticketId }) => ticketId),
      `rejects of ${name}`,
    ).toEqual(open);
  }
  expectNothingElse(told, files);
}

/** Nothing was set aside, and nothing was written elsewhere. */
function expectNothingElse({ place, story }: ToldStory, files: readonly string[]): void {
  const rejects = files.filter((name) => OPEN_ROWS[name]).map((name) => name.replace(".csv", ".rejects.csv"));
  const known = [...Object.keys(FILES), ...rejects, story.output, "home", "state", "tmp"];
  expect(readdirSync(place.folder).toSorted()).toEqual(known.toSorted());
  expect(existsSync(place.path("state/playground/ledger.db"))).toBe(true);
}
