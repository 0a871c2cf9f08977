/** What a ledger knows after an import; more of it as it is typed: test/e2e/lost-ledger.test.ts. */

import { expect, test } from "vitest";
import type { Answer, ImportedLine, KnownAction, Ledger } from "../../../src/ledger/ledger.ts";
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

/** Two runs: accepted, rejected, settled by a person; what the first rejected is accepted by the second. */
async function fill(ledger: Ledger): Promise<void> {
  const first = await enter(
    ledger,
    newRun(),
    planned([{ sales: [{ id: "b" }, { id: "a" }] }, { sales: [{ id: "c" }] }]),
  );
  await send(ledger, first, 1, [accepted(1), { outcome: "rejected", response: '{"status":"no"}' }]);
  await ledger.advance(first, { intent: { chunk: 2, at: at(1) } });
  await ledger.advance(first, { ended: ending("doubt", { chunk: 2 }) });
  await ledger.settle(first, 2, "sent", { who: "ops", at: at(3), reason: undefined });
  const plan = planned([{ sales: [{ id: "a", price: "20" }, { id: "d" }] }]);
  const inputs = [{ name: "more.csv", source: "s", format: "csv", sha256: "", rows: 1 }];
  const second = await enter(ledger, newRun({ inputs }), plan);
  await send(ledger, second, 1, [accepted(3), { outcome: "accepted", promise: "no uuid" }]);
}

const SUBJECTS = ["t:a", "t:b", "t:c", "t:d"];

describeBoth("an import of promises files", (newPlace) => {
  test("fills an empty ledger so that it answers as the lost one did", async () => {
    const [lost, ledger] = [await (await newPlace()).open(), await (await newPlace()).open()];
    await fill(lost);
    const lines = await linesOf(lost);
    expect(lines).toHaveLength(5);
    expect(await ledger.importActions(each([lines.slice(0, 2), lines.slice(2)]))).toMatchObject({
      ...{ entered: 5, known: 0, runs: (await lost.runs()).map(({ run }) => run) },
    });
    const facts = (known: readonly KnownAction[]) => known.map(({ run, place, ...rest }) => rest);
    expect(facts(await ledger.actionsOf(SUBJECTS))).toEqual(facts(await lost.actionsOf(SUBJECTS)));
    expect(await linesOf(ledger)).toEqual(lines);
    expect(
      (await ledger.about("no uuid")).map(({ subject, run, item }) => [
        subject,
        run.inputs[0]?.name,
        item?.origin.line,
      ]),
    ).toEqual([["t:d", "more.csv", 3]]);
    expect((await ledger.runs()).map(({ kind, state }) => [kind, state])).toEqual([
      ["imported", "finished"],
      ["imported", "finished"],
    ]);
  });

  test.each([[undefined], ["no JSON"]])("takes a rejected line whose response is %j", async (response) => {
    const [lost, ledger] = [await (await newPlace()).open(), await (await newPlace()).open()];
    await fill(lost);
    const [line] = (await linesOf(lost)).filter(({ outcome }) => outcome === "rejected");
    const plan = planned([{ sales: [{ id: "b" }, { id: "a" }] }]);
    const run = await enter(ledger, newRun({ run: line?.runId ?? "" }), plan);
    await ledger.importActions(each([line === undefined ? [] : [{ ...line, response }]]));
    expect((await ledger.outcomes(run, 2)).items).toMatchObject([{ outcome: "rejected" }]);
    expect(await Array.fromAsync(ledger.promises(run))).toEqual([[]]);
  });

  test("changes nothing when it is done again, also where a file has a chunk in parts", async () => {
    const [lost, ledger] = [await (await newPlace()).open(), await (await newPlace()).open()];
    await fill(lost);
    const lines = await linesOf(lost);
    await ledger.importActions(each([lines.slice(0, 1)]));
    expect(await ledger.importActions(each([lines]))).toMatchObject({ entered: 4, known: 1 });
    expect(await ledger.importActions(each([lines]))).toMatchObject({ entered: 0, known: 5, runs: [] });
    expect((await linesOf(ledger)).map(({ subject, outcome }) => [subject, outcome])).toEqual(
      expect.arrayContaining(lines.map(({ subject, outcome }) => [subject, outcome])),
    );
    expect(await lost.importActions(each([lines]))).toMatchObject({ entered: 0, known: 5 });
  });

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
      expect((await older.attempts(number)).filter(({ endedAt }) => endedAt === undefined)).toEqual([]);
    },
  );
});
