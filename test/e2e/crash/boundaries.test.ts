/** A kill at each boundary of a chunk's life: the same command puts it right. */

import { describe, expect } from "vitest";
import type { CrashPoint } from "../../../src/disk/crash-points.ts";
import { dies, processedCount, salesRig, settleByTruth, states, summaryIn } from "../../support/interrupted.ts";
import { expectAllShown, readTruth } from "../../support/invariant/truth.ts";
import { NEEDS_POSTGRES, WITHOUT_POSTGRES } from "../../support/postgres.ts";
import { type SharedLedger, sharedLedger } from "../../support/shared-ledger.ts";
import { testEach } from "../../support/walks.ts";

interface Boundary {
  readonly point: CrashPoint;
  /** Chunk states when the process has died at its n-th pass of four; undefined: no run yet. */
  readonly at: (time: number) => string | undefined;
  /** What the same command ends with. */
  readonly next: (time: number) => number;
}

const CHUNKS = 4;

/** The states of four chunks, by what was `done`, and what comes after. */
const row = (answered: number, ...then: readonly string[]): string =>
  [...Array<string>(answered).fill("answered"), ...then, ...Array<string>(CHUNKS).fill("planned")]
    .slice(0, CHUNKS)
    .join(" ");

/** A chunk is answered with the intent of the next one. */
const whileNextFlies = (time: number): string => row(time, "in doubt");

const BOUNDARIES: readonly Boundary[] = [
  { point: "planned", at: () => undefined, next: () => 0 },
  { point: "entered", at: () => row(0), next: () => 0 },
  { point: "listed", at: () => row(0), next: () => 0 },
  {
    point: "intended",
    at: (time) => row(time - 1, "in doubt"),
    next: () => 6,
  },
  { point: "answered", at: (time) => row(time - 1, "in doubt"), next: () => 6 },
  { point: "settled", at: whileNextFlies, next: (time) => (time < CHUNKS ? 6 : 0) },
  { point: "projected", at: whileNextFlies, next: (time) => (time < CHUNKS ? 6 : 0) },
  { point: "rejects written", at: () => row(CHUNKS), next: () => 0 },
  { point: "ended", at: () => row(CHUNKS), next: () => 0 },
];

const ONCE: readonly CrashPoint[] = ["planned", "entered", "listed", "rejects written", "ended"];

/** Which pass, of how many chunks: the only one, one in the middle, the last one. */
const PASSES = BOUNDARIES.flatMap(({ point, at, next }) =>
  (ONCE.includes(point)
    ? ([
        [1, 1],
        [1, CHUNKS],
      ] as const)
    : ([
        [1, 1],
        [2, CHUNKS],
        [CHUNKS, CHUNKS],
      ] as const)
  ).map(([time, chunks]) => ({ point, time, chunks, at, next })),
);

describe("a process that dies at a boundary of a chunk's life", () => {
  const isPutRight = async (pass: (typeof PASSES)[number], shared?: SharedLedger): Promise<void> => {
    const { point, time, chunks, at, next } = pass;
    const rig = await salesRig(20, shared);
    // What a process that died was sending is waited for, where another one may be sending it still.
    const limits = shared === undefined ? [] : ["TICKETS_TIMEOUT=2s", "--wait-lock", "1m"];
    const command = rig.stream(`TICKETS_CHUNK_SIZE=${20 / chunks}`, "--json", ...limits);
    await dies(rig, command, point, time);
    if (chunks === CHUNKS) expect(await states(rig)).toBe(at(time) ?? "");

    const shown = JSON.parse((await rig.run(["status", "--env", "playground", "--json"])).stdout);
    const again = await rig.run(command);
    const expected = chunks === CHUNKS ? next(time) : point === "intended" || point === "answered" ? 6 : 0;
    expect(again.exitCode).toBe(expected);
    if (point !== "planned")
      expect(shown.runs[0].actions.inDoubt, "status names the doubts that the next command finds").toBe(
        expected === 6 ? 20 / chunks : 0,
      );
    if (expected === 6) {
      const { questions } = await readTruth(rig, rig.placed);
      expect(questions).toHaveLength(1);
      expect(again.stderr).toContain(`tickets settle ${questions[0]?.run}`);
      const before = processedCount(rig);
      expect((await rig.run(command)).exitCode, "the doubt stays until a person has settled it").toBe(6);
      expect(processedCount(rig)).toBe(before);
      await settleByTruth(rig, rig.placed);
      expect((await rig.run(command)).exitCode).toBe(0);
    }
    await expectAllShown(rig, rig.placed);
    expect(rig.requests().map(({ length }) => length)).toEqual(Array(chunks).fill(20 / chunks));
    expect(summaryIn(await rig.run(command)).state).toBe("nothing new");
    expect(processedCount(rig)).toBe(20);
  };
  /** Those around what the service may have got. */
  const OFTEN: readonly CrashPoint[] = ["intended", "answered"];
  const isShort = ({ point, time, chunks }: (typeof PASSES)[number]) =>
    chunks === CHUNKS && time < CHUNKS && OFTEN.includes(point);
  const NAME = "$point, pass $time of $chunks: the same command puts it right";
  testEach(NAME, PASSES, isShort, (pass) => isPutRight(pass));

  describe.skipIf(WITHOUT_POSTGRES)(`with the ledger in PostgreSQL${NEEDS_POSTGRES}`, () =>
    testEach(NAME, PASSES, isShort, async (pass) => isPutRight(pass, await sharedLedger())),
  );
});
