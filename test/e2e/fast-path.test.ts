/**
 * Real-sized exports with and without the fast paths: the same actions, the same problems, the same words. `ROWS=1000000` has
 * more of each; from 16 MiB on, workers plan them.
 */

import { expect, test } from "vitest";
import { salesCsv, salesNdjson } from "../../bench/generate.ts";
import { declaredConfig, declaredCsv, invalidCsv, unusualCsv } from "../../bench/plans.ts";
import { openWorkplace } from "../support/bin.ts";

const ROWS = Number(process.env.ROWS ?? 20_000);
const SPAN = { seed: 7, first: 0, rows: ROWS };

test.each([
  ["sales", salesCsv, 0],
  ["sales of which some are unusual", unusualCsv, 0],
  ["sales of which some are invalid", invalidCsv, 3],
  ["orders of a declared source", declaredCsv, 0],
  ["sales as NDJSON", salesNdjson, 0],
] as const)("%s are planned and told alike both ways", { tags: ["long"] }, async (_, write, exitCode) => {
  const place = openWorkplace();
  const file = write(place.folder, SPAN);
  const config = ["--config", declaredConfig(place.folder)];
  const [fast, reference] = ["on", "off"].map(async (how) => {
    const env = { TICKETS_FAST_PATH: how };
    const output = `actions-${how}.ndjson`;
    const planned = await place.tickets(["plan", file, "-o", output, ...config], { env });
    const validated = await place.tickets(["validate", file, "--json", ...config], { env });
    const told = [planned.stderr.replaceAll(output, "actions.ndjson"), validated.stderr, validated.stdout];
    return {
      exitCodes: [planned.exitCode, validated.exitCode],
      // Of a million, the slower one says meanwhile how far it is.
      told: told.map((text) => text.replace(/^checking .*\n|"durationMs":\d+|in [\d.]+ s/gm, "")),
      actions: exitCode === 0 ? place.read(output) : undefined,
    };
  });
  const [one, other] = [await fast, await reference];
  expect(one?.exitCodes).toEqual([exitCode, exitCode]);
  expect(one?.told).toEqual(other?.told);
  // Compared as one, since a difference would be shown as a page of a million lines.
  expect(one?.actions === other?.actions).toBe(true);
  expect(one?.actions?.split("\n").length ?? ROWS).toBeGreaterThan(ROWS * 0.9);
});
