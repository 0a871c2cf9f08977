/** The two sums that hold at the end of every command: rows and actions are equal to their parts. */

import { expect } from "vitest";
import type { Ended } from "./bin.ts";

/** The document of `--json`, as docs/commands.md has it; written down here again so that a slip in the program shows. */
export interface Summary {
  readonly run: string | null;
  readonly environment: string | null;
  readonly state: string;
  readonly exitCode: number;
  readonly rows: {
    readonly read: number;
    readonly mapped: number;
    readonly skipped: number;
    readonly invalid: number;
    readonly held: number;
  };
  readonly actions: {
    readonly total: number;
    readonly accepted: number;
    readonly rejected: number;
    readonly inDoubt: number;
    readonly notSent: number;
    readonly alreadySent: number;
    readonly changed: number;
    readonly late: number;
    readonly unclear: number;
  };
  readonly byAction: Readonly<Record<string, number>>;
  readonly chunks: { readonly total: number; readonly settled: number };
  readonly problems: { readonly errors: number; readonly warnings: number };
  readonly output: string | null;
  readonly rejects: readonly string[];
  readonly durationMs: number;
  readonly next: string | null;
  readonly resumed: Summary | null;
}

const SUMMARY_KEYS =
  "run environment state exitCode rows actions byAction chunks problems output rejects durationMs next resumed".split(
    " ",
  );

/** Checks every count that a command gave, in its summary and in its words. */
export function expectCountsToAddUp(ended: Ended): void {
  const command = ended.args.find((argument) => !argument.startsWith("-"));
  if (command === "stream" && ended.args.includes("--json") && ended.stdout !== "") {
    const summary = JSON.parse(ended.stdout) as Summary; // looked at key by key below
    // A kill may come between the last word and the end.
    if (ended.exitCode !== null) expect(ended.exitCode).toBe(summary.exitCode);
    // A command that could not even begin has nothing to count.
    if ("error" in summary) return;
    for (let each: Summary | null = summary; each !== null; each = each.resumed) expectSummary(each);
  }
  for (const [whole, ...parts] of sumsIn(ended.stderr)) {
    expect(
      parts.reduce((sum, part) => sum + part, 0),
      ended.stderr,
    ).toBe(whole);
  }
}

function expectSummary(summary: Summary): void {
  expect(Object.keys(summary)).toEqual(SUMMARY_KEYS);
  const { rows, actions } = summary;
  expect(Object.keys(rows)).toEqual(["read", "mapped", "skipped", "invalid", "held"]);
  const { mapped, skipped, invalid, held } = rows;
  expect(mapped + skipped + invalid + held, "rows = mapped + skipped + invalid + held").toBe(rows.read);
  const { accepted, rejected, inDoubt, notSent, alreadySent, changed, late, unclear, total } = actions;
  expect(
    accepted + rejected + inDoubt + notSent + alreadySent + changed + late + unclear,
    "actions = accepted + rejected + in doubt + not sent + already sent + changed + late + unclear",
  ).toBe(total);
  const byAction = Object.values(summary.byAction).reduce((sum, count) => sum + count, 0);
  expect(byAction, "every action has a name").toBe(total);
  expect(summary.chunks.settled).toBeLessThanOrEqual(summary.chunks.total);
}

const COUNT = "\\d[\\d,]*";
const ROWS = new RegExp(`(${COUNT}) rows?: ((?:${COUNT} (?:mapped|skipped|invalid|held)(?:, )?)+)`, "g");
const OUTCOMES = "accepted|rejected|in doubt|in flight|not sent|already sent|changed|late|unclear|held";
const ACTIONS = new RegExp(`(${COUNT}) actions?: ((?:${COUNT} (?:${OUTCOMES})(?:, )?)+)`, "g");

/** `40 rows: 38 mapped, 2 invalid` as `[40, 38, 2]`, wherever such a sum stands. */
function sumsIn(text: string): readonly (readonly number[])[] {
  return [...text.matchAll(ROWS), ...text.matchAll(ACTIONS)].map(([, whole = "", parts = ""]) =>
    [whole, ...(parts.match(new RegExp(COUNT, "g")) ?? [])].map((count) => Number(count.replaceAll(",", ""))),
  );
}
