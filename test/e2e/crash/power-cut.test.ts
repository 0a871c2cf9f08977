/**
 * Power cuts: small runs are traced, and from the trace come the states that a disk may show after a power cut at any of their
 * moments. In each, the same command puts it right, against a service that has what it had processed by then.
 *
 * What such a state may show (`test/support/power-cut/`):
 *
 * - What was forced to the disk (fsync, fdatasync) before is there, whole.
 * - Of a file's later changes, any part is: none, the first few, the next one torn at any byte, or each sector of 512 or 4096
 *   bytes as it ever was since; zeros stand where the file had grown and nothing arrived.
 * - A new, renamed or removed name counts as done from the fsync of its folder on, and of the folders above it. Until then
 *   each name is as before or as after, whatever became of others; a rename is done whole or not at all, and what was done to
 *   one name later is not there without what was done to it before. An fsync of the file does not keep its name.
 * - Of the memory that SQLite shares (`-shm`), anything is, or nothing.
 * - A request that had left was processed or not; one whose answer had left the service was.
 *
 * That is harsher than file systems with a journal are (on ext4 and XFS an fsync of a new file keeps its name and all names
 * that were made before), and as harsh as POSIX allows, but for renames and for bytes that were on the disk already: as SQLite
 * does, we rely on a sector that is written anew being old or new, and on its neighbours staying as they are.
 *
 * `CUTS=3000` does more; `FIRST_CUT=4711` begins elsewhere. Threads take turns as they like, so that the same number finds
 * the same kind of state, and not always the same one.
 */

import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { cutBy, HARDEST_CUT } from "../../support/power-cut/cuts.ts";
import { momentOf, momentOfRequest, processedBy } from "../../support/power-cut/moments.ts";
import { type RecordedStory, recordStory } from "../../support/power-cut/recorded.ts";
import { expectPutRight, putRight, type } from "../../support/power-cut/recovery.ts";
import { FILES, STORIES, type Story } from "../../support/power-cut/stories.ts";
import { randomOf } from "../../support/random.ts";
import { HAS_STRACE } from "../../support/strace.ts";

/** How many and from where on: `vitest.config.ts`. */
const CUTS = Number(process.env.CUTS);
const FIRST_CUT = Number(process.env.FIRST_CUT);
/** Two, since a machine of CI has no more cores. */
const AT_ONCE = 2;
/** So many of one story follow each other, since to trace it costs as much as some of its states. */
const OF_ONE_STORY = 4;
/** Of these: as a request leaves, nothing has arrived that was not forced to the disk; and the same, with the ledger lost. */
const [HARDEST, HARDEST_WITHOUT_LEDGER] = [0, 1];
const NEEDS = HAS_STRACE ? "" : " (needs Debian's strace, and the right to trace)";
const USAGE = 2;

test.skipIf(!HAS_STRACE)(
  `nothing is lost, doubled or out of order after ${CUTS} power cuts${NEEDS}`,
  { tags: ["both"], timeout: 120_000 + CUTS * 60_000 },
  async () => {
    const seeds = Array.from({ length: CUTS }, (_, at) => FIRST_CUT + at);
    const ofStory = Map.groupBy(seeds, (seed) => Math.floor((seed - 1) / OF_ONE_STORY) % STORIES.length);
    const left = [...ofStory].values();
    let hasFailed = false;
    const carryOut = async (story: Story, ofOne: readonly number[]): Promise<void> => {
      const recorded = await recordStory(story);
      for (const seed of ofOne) if (!hasFailed) await cutOnce(recorded, seed);
    };
    const work = async (): Promise<void> => {
      for (const [at, ofOne] of left) {
        if (hasFailed) return;
        await carryOut(STORIES[at] as Story, ofOne).catch((cause: unknown) => {
          hasFailed = true;
          throw cause;
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  },
);

async function cutOnce(recorded: RecordedStory, seed: number): Promise<void> {
  const random = randomOf(seed);
  const nth = (seed - 1) % OF_ONE_STORY;
  const isHardest = nth === HARDEST || nth === HARDEST_WITHOUT_LEDGER;
  const moment = isHardest ? momentOfRequest(recorded, random) : momentOf(recorded, random);
  const cut = isHardest ? HARDEST_CUT : cutBy(random, moment.torn);
  const said: string[] = [];
  const processed = processedBy(recorded, moment, random, isHardest ? 1 : undefined);
  recorded.service.restore(processed);
  recorded.disk().play(recorded.trace, moment.at).write(cut);
  const step = recorded.steps.findLastIndex(({ from }) => from < moment.at);
  try {
    if (nth === HARDEST_WITHOUT_LEDGER) await expectLossNoticed(recorded, step, said);
    else await expectRecovery(recorded, step, random() < 0.3, said);
  } catch (cause) {
    const { operation } = recorded.trace.findLast(({ end }) => end <= moment.at) ?? {};
    throw new Error(
      [
        cause instanceof Error ? cause.message : String(cause),
        `FIRST_CUT=${seed} CUTS=1: ${recorded.story.name}`,
        `cut in step ${step + 1} after ${JSON.stringify(operation, (key, value) => (key === "bytes" ? undefined : value))}`,
        `of ${recorded.sent.length} requests, ${processed.length - recorded.earlier.length} were processed`,
        ...cut.story,
        ...said,
      ].join("\n"),
    );
  }
}

async function expectRecovery(recorded: RecordedStory, cut: number, goesOn: boolean, said: string[]): Promise<void> {
  const done = recorded.story.before
    .map(({ args }) => args)
    .concat(recorded.steps.slice(0, cut).map(({ args }) => args));
  for (const [at, { args }] of recorded.steps.entries()) {
    if (at < cut || (at > cut && !goesOn && done.at(-1)?.[0] === "stream")) continue;
    // What was in doubt is settled by now, perhaps in another run.
    if (at > cut && args[0] === "settle") continue;
    await putRight(recorded, args, said);
    done.push(args);
  }
  const files = Object.keys(FILES).filter((name) => done.some((args) => args.includes(name)));
  expectPutRight(recorded, files);
}

/** Where the ledger is lost in the power cut, the list of runs tells of it. */
async function expectLossNoticed(recorded: RecordedStory, step: number, said: string[]): Promise<void> {
  const { place, service, story } = recorded;
  const before = service.processed().length;
  const names = ["ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-journal"];
  const lost = [...names.map((name) => `state/playground/${name}`), story.output];
  for (const name of lost) rmSync(place.path(name), { recursive: true, force: true });
  said.push(`lost: ${lost.join(", ")}`);
  const { exitCode } = await type(recorded, recorded.steps[step]?.args ?? [], said);
  expect(exitCode).toBe(USAGE);
  expect(service.processed().length).toBe(before);
}
