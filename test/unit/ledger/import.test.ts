/** Of what an import brings into a ledger see test/e2e/lost-ledger.test.ts. */

import { expect, test } from "vitest";
import type { Answer, ImportedLine, Ledger } from "../../../src/ledger/ledger.ts";
import { at, describeBoth, each, ending, enter, newRun, planned, promise } from "../../support/ledgers.ts";

const accepted = (n: number): Answer => ({ outcome: "accepted", promise: promise(n) });

/** The lines of a promises file, as whoever writes it makes them of the outcomes. */
async function linesOf(ledger: Ledger): Promise<readonly ImportedLine[]> {
  const lines: ImportedLine[] = [];
  for (const { number, run, environment, inputs } of await ledger.runs())
    for (const { chunk, answeredAt = "" } of await ledger.chunks(number, { states: ["answered", "settled"] }))
      for (const { origin, outcome, promise: given, response } of (await ledger.outcomes(number, chunk)).items) {
        if (outcome !== "accepted" && outcome !== "rejected" && outcome !== "settled") continue;
        const { subject, kind, mark, content, time, event, owner, seq, line, input } = origin;
        lines.push({
          ...{ subject, kind, mark, content, time, event, owner, seq, line, chunk, outcome, response, environment },
          ...{ runId: run, source: inputs[input]?.name ?? "", at: answeredAt, promise: given },
        });
      }
  return lines;
}

async function send(ledger: Ledger, run: number, chunk: number, answers: readonly Answer[]): Promise<void> {
  const { attempt = 0 } = await ledger.advance(run, { intent: { chunk, at: at(1) } });
  await ledger.advance(run, { ended: ending("answer", { chunk, attempt, httpStatus: 200, answers }) });
}

const SUBJECTS = ["t:a", "t:b", "t:c"];

describeBoth("an import of promises files", (newPlace) => {
  test.each(["planned", "sending", "refused", "in doubt"] as const)(
    "an older ledger, in which a chunk is %s, learns what came of it after it was cut",
    async (state) => {
      const [lost, older] = [await (await newPlace()).open(), await (await newPlace()).open()];
      const [run, plan] = [newRun(), planned([{ sales: [{ id: "b" }, { id: "a" }, { id: "c" }] }])];
      const number = await enter(lost, run, plan);
      await enter(older, run, plan);
      if (state !== "planned") await older.advance(number, { intent: { chunk: 1, at: at(1) } });
      if (state === "refused") await older.advance(number, { ended: ending("refuse") });
      if (state === "in doubt") await older.advance(number, { ended: ending("doubt") });
      await lost.split(number, 1, 2);
      await send(lost, number, 2, [accepted(1), accepted(2)]);
      await send(lost, number, 3, [accepted(3)]);
      const [first = [], second = []] = [(await linesOf(lost)).slice(0, 2), (await linesOf(lost)).slice(2)];
      expect(await older.importActions(each([first]))).toMatchObject({ entered: 2, known: 0 });
      const left = (await older.chunks(number)).find(({ state }) => state !== "split" && state !== "answered");
      expect(left?.state).toBe(state === "sending" ? "in doubt" : state);
      expect(await older.importActions(each([second]))).toMatchObject({ entered: 1, known: 0 });
      expect((await older.actionsOf(SUBJECTS)).map(({ subject, state }) => [subject, state])).toEqual([
        ["t:a", "sent"],
        ["t:b", "sent"],
        ["t:c", "sent"],
      ]);
    },
  );
});
