/** What a person does after a power cut, and what must then be true. */

import { existsSync, readdirSync } from "node:fs";
import { expect } from "vitest";
import type { Ended } from "../bin.ts";
import { readPromises, readTable } from "../tables.ts";
import type { RecordedStory } from "./recorded.ts";
import { FILES, OPEN_ROWS, plannedRows } from "./stories.ts";

/** More than any state needs. */
const MOST_ROUNDS = 8;
const DONE = [0, 4];
const IN_DOUBT = 6;

/** Types a command again until it is done; each doubt is settled by what the service has. */
export async function putRight(recorded: RecordedStory, args: readonly string[], said: string[]): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const ended = await type(recorded, args, said);
    if (DONE.includes(ended.exitCode ?? -1)) return;
    if (ended.exitCode !== IN_DOUBT) throw new Error(`unexpected exit code ${ended.exitCode}`);
    await settleByTruth(recorded, ended, said);
    if (args[0] === "settle") return;
  }
  throw new Error(`not done after ${MOST_ROUNDS} rounds`);
}

export async function type({ place, env }: RecordedStory, args: readonly string[], said: string[]): Promise<Ended> {
  const ended = await place.tickets(args, { env });
  said.push(`$ tickets ${args.join(" ")}\n${ended.stderr}exit ${ended.exitCode}`);
  return ended;
}

async function settleByTruth(recorded: RecordedStory, { stderr }: Ended, said: string[]): Promise<void> {
  const [, run] = /tickets settle ([0-9a-f]{8})/.exec(stderr) ?? [];
  if (run === undefined) throw new Error("no run is named that could be settled");
  const settle = ["settle", run, "--env", "playground"];
  const { stderr: shown } = await type(recorded, settle, said);
  const has = new Set(acceptedBy(recorded).map(({ action }) => action));
  const chunks = chunksIn(shown);
  expect(chunks.length, shown).toBeGreaterThan(0);
  for (const { chunk, actions } of chunks) {
    const first = actions.findIndex((action) => !has.has(action));
    const taken = first === -1 ? actions.length : first;
    if (actions.slice(taken).some((action) => has.has(action))) throw new Error(`only a part of ${actions} was taken`);
    const part = taken > 0 && taken < actions.length ? ["--first", String(taken)] : [];
    const answer = taken > 0 ? "--sent" : "--not-sent";
    await type(recorded, [...settle, answer, "--chunk", chunk, ...part, "--reason", "looked"], said);
  }
}

/** The chunks in doubt that `settle` shows, with their actions. */
function chunksIn(shown: string): readonly { readonly chunk: string; readonly actions: readonly string[] }[] {
  const actionAt = new Map(plannedRows(Object.keys(FILES)).map(({ place, action }) => [place, action]));
  return shown.split(/^(?=Chunk \d)/m).flatMap((text) => {
    const [, chunk] = /^Chunk (\d+)/.exec(text) ?? [];
    const actions = [...text.matchAll(/^ {2}(\S+:\d+) \w/gm)].map(([, place = ""]) => actionAt.get(place) ?? place);
    return chunk === undefined ? [] : [{ chunk, actions }];
  });
}

const processedBy = ({ service }: RecordedStory) => service.processed().flatMap(({ actions }) => actions);
const acceptedBy = (recorded: RecordedStory) => processedBy(recorded).filter(({ promise }) => promise !== undefined);

/** Nothing is lost, doubled, out of order or untold, once commands with these files were put right. */
export function expectPutRight(recorded: RecordedStory, files: readonly string[]): void {
  const { place, story } = recorded;
  const rows = plannedRows(files);
  const { refusedTicket } = story.rules;
  const wanted = rows.filter(({ action }) => action !== `soldTicket ${refusedTicket}`);
  const accepted = acceptedBy(recorded);
  for (const [eventId, ofEvent] of Map.groupBy(wanted, (row) => row.eventId)) {
    const [first, ...taken] = accepted.filter((each) => each.eventId === eventId).map(({ action }) => action);
    const [event, ...sales] = ofEvent.map(({ action }) => action);
    expect(first, `what the service has taken of ${eventId}`).toBe(event);
    // Lanes send the sales of one event beside each other.
    const order = (actions: readonly string[]) => (story.lanes > 1 ? actions.toSorted() : actions);
    expect(order(taken), `what the service has taken of ${eventId}`).toEqual(order(sales));
  }
  expect(accepted.length).toBe(wanted.length);

  const text = place.read(story.output);
  const lines = story.output.endsWith(".csv") ? readTable(text) : readPromises(text);
  const promised = lines.filter(({ status }) => status === "success" || status === "settled");
  const shown = promised.map(({ source, line, actionPromise }) => `${source}:${line} ${actionPromise || "by hand"}`);
  const byHand = new Set(promised.filter((each) => !each.actionPromise).map(({ source, line }) => `${source}:${line}`));
  const promises = new Map(accepted.map(({ action, promise }) => [action, promise]));
  expect(shown.toSorted(), story.output).toEqual(
    wanted.map(({ place: at, action }) => `${at} ${byHand.has(at) ? "by hand" : promises.get(action)}`).toSorted(),
  );
  const refusals = processedBy(recorded).length - accepted.length;
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
  expectNothingElse(recorded, files);
}

/** Nothing was set aside, and nothing was written elsewhere. */
function expectNothingElse({ place, story }: RecordedStory, files: readonly string[]): void {
  const rejects = files.filter((name) => OPEN_ROWS[name]).map((name) => name.replace(".csv", ".rejects.csv"));
  const known = [...Object.keys(FILES), ...rejects, story.output, "home", "state", "tmp"];
  expect(readdirSync(place.folder).toSorted()).toEqual(known.toSorted());
  expect(existsSync(place.path("state/playground/ledger.db"))).toBe(true);
}
