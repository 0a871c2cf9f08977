import { expect, test } from "vitest";
import { runContextOf } from "../../../src/commands/run-context.ts";
import { type RemoteStatusSettings, remoteStatus } from "../../../src/run/remote-status.ts";
import { loadSettings } from "../../../src/run/settings.ts";
import { makeContext, openField } from "../../support/context.ts";

test("watches until all are final, longer between rounds in which nothing changes", async () => {
  const field = await openField("statusPath: /actions/{actionPromise}");
  await field.write("events.csv", "eventId,currency\nE,EUR\nF,EUR\n");
  expect((await field.stream(["events.csv"])).exitCode).toBe(0);
  const { engine } = field.sandbox;
  const [first, second] = Array.from(engine.processed(), ({ actionPromise }) => actionPromise ?? "");
  const rounds: unknown[] = [];
  for (const promise of [first, second]) engine.setStatus(promise ?? "", "pending");
  const onRound: RemoteStatusSettings["onRound"] = ({ final, promises }, waitMs) => {
    rounds.push([final, promises, waitMs]);
    if (rounds.length === 3) engine.setStatus(first ?? "", "confirmed");
    if (rounds.length === 4) engine.setStatus(second ?? "", "confirmed");
  };
  const core = runContextOf(makeContext(field.folder, field.env).context);
  const settings = await loadSettings(core, { flags: {} });
  const found = await remoteStatus(core, { settings, watch: true, watchMs: 1, onRound });
  expect(rounds).toEqual([
    [0, 2, 1],
    [0, 2, 2],
    [0, 2, 4],
    [1, 2, 1],
  ]);
  expect(found).toMatchObject({ final: 2, exitCode: 0, answers: 2 + 2 + 2 + 2 + 1 });
});
