import { expect, test } from "vitest";
import { withNul, withoutNul } from "../../../src/actions/marks.ts";
import type { Answer, Ledger, Output } from "../../../src/ledger/ledger.ts";
import {
  at,
  bodyOf,
  describeBoth,
  each,
  ending,
  enter,
  newRun,
  planned,
  promise,
  SERVICE,
} from "../../support/ledgers.ts";

const accepted = (n: number): Answer => ({ outcome: "accepted", promise: promise(n) });
const REJECTED: Answer = { outcome: "rejected", response: '{"status":"ticket_exists"}' };
const DOUBT: Answer = { outcome: "in doubt", response: '{"status":"success"}', why: "no promise" };
const BY = { who: "ops", at: at(9), reason: "looked it up" };

/** Sends the next chunk of lane 1 and stores these answers. */
async function send(ledger: Ledger, run: number, answers: readonly Answer[]) {
  const { chunk } = (await ledger.nextChunk(run, 1))?.chunk ?? expect.fail("nothing is left to send");
  const { attempt = 0 } = await ledger.advance(run, { intent: { chunk, at: at(1) } });
  return await ledger.advance(run, { ended: ending("answer", { chunk, attempt, httpStatus: 200, answers }) });
}

const states = async (ledger: Ledger, run: number) =>
  (await ledger.chunks(run)).map(({ chunk, state, count }) => `${chunk} ${state} ${count}`);
const known = async (ledger: Ledger, ...ids: readonly string[]) =>
  (await ledger.actionsOf(ids.map((id) => `t:${id}`))).map(({ subject, state, chunk, place }) =>
    [subject, state, chunk, place].join(" "),
  );

const TWO = () => planned([{ sales: [{ id: "b" }, { id: "a" }] }, { sales: [{ id: "c" }] }]);

describeBoth("a run", (newPlace, it) => {
  it("is entered whole, with the bodies as they were given, and its actions are pending", async (first, { open }) => {
    const run = newRun();
    const number = await enter(first, run, TWO());
    await first[Symbol.asyncDispose]();
    const ledger = await open();
    expect(await ledger.run(run.run)).toEqual({
      ...run,
      ...{ number, kind: "sent", state: "open", endedAt: undefined, exitCode: undefined },
      ...{ paused: undefined, mostActions: undefined, sends: 0 },
    });
    expect(await states(ledger, number)).toEqual(["1 planned 2", "2 planned 1"]);
    expect(Buffer.from((await ledger.body(number, 1)) ?? "").toString()).toBe(bodyOf([{ id: "b" }, { id: "a" }]));
    expect(await ledger.actionsOf(["t:a", "t:x"])).toEqual([
      {
        ...{ subject: "t:a", kind: "soldTicket", mark: "", content: "price=18", time: 1_700_000_002 },
        ...{ event: "e1", owner: "u1", run: number, runId: run.run, chunk: 1, place: 1, state: "pending" },
        position: { run: number, seq: 2 },
      },
    ]);
    expect(await ledger.counts(number)).toMatchObject({ notSent: 3, total: 3, chunks: 2, decidedChunks: 0 });
  });

  it("is not entered where another one holds one of its actions, and nothing of it is left", async (ledger) => {
    await enter(ledger, newRun(), TWO());
    const again = newRun();
    await expect(enter(ledger, again, planned([{ sales: [{ id: "z" }, { id: "a" }] }]))).rejects.toMatchObject({
      code: "busy",
    });
    expect(await ledger.run(again.run)).toBeUndefined();
    expect(await known(ledger, "z")).toEqual([]);
  });

  it("is not entered where its plan can't be read to its end", async (ledger) => {
    const run = newRun();
    const { chunks } = TWO();
    const broken = (async function* () {
      yield* chunks;
      throw new Error("the plan is damaged");
    })();
    await expect(ledger.enterRun(run, broken, each([]))).rejects.toThrow("the plan is damaged");
    expect(await ledger.runs()).toEqual([]);
  });

  it("keeps times and ids as they are, to the last that a number holds and beyond what a plain text does", async (ledger) => {
    const plan = planned([{ sales: [{ id: withoutNul("a\u0000\u0001b") }, { id: "z" }] }]);
    const [one, other] = plan.actions;
    const actions = [
      { ...one, time: Number.MAX_SAFE_INTEGER },
      { ...other, time: 0 },
    ] as typeof plan.actions;
    await enter(ledger, newRun(), { ...plan, actions });
    const subjects = [withoutNul("t:a\u0000\u0001b"), "t:z"];
    const known = await ledger.actionsOf(subjects);
    expect(known.map(({ subject, time }) => [withNul(subject), time])).toEqual([
      ["t:a\u0000\u0001b", Number.MAX_SAFE_INTEGER],
      ["t:z", 0],
    ]);
  });

  it("is sent chunk by chunk: outcome and next intent in one step, promises and counts are kept", async (ledger) => {
    const run = await enter(ledger, newRun(), TWO());
    const one = await ledger.advance(run, { intent: { chunk: 1, at: at(1) } });
    expect(one).toEqual({ attempt: 1, obstacle: undefined, isStored: true, doubt: undefined });
    expect(await ledger.counts(run)).toMatchObject({ inFlight: 2, inDoubt: 0 });
    const answers = [accepted(1), accepted(2)];
    const two = await ledger.advance(run, {
      ended: ending("answer", { attempt: 1, httpStatus: 200, answers }),
      intent: { chunk: 2, at: at(2) },
    });
    expect(two.attempt).toBe(1);
    expect(await states(ledger, run)).toEqual(["1 answered 2", "2 sending 1"]);
    const { items, rows } = await ledger.outcomes(run, 1);
    expect(items.map(({ outcome, promise: given, origin }) => [outcome, given, origin.line])).toEqual([
      ["accepted", promise(1), 2],
      ["accepted", promise(2), 3],
    ]);
    expect(rows).toBeUndefined();
    expect(await known(ledger, "a", "b", "c")).toEqual(["t:a sent 1 1", "t:b sent 1 0", "t:c pending 2 0"]);
    expect(await ledger.endRun(run, { exitCode: 0, at: at(3) })).toBe(false);
    await ledger.advance(run, {
      ended: ending("answer", { chunk: 2, attempt: 1, httpStatus: 200, at: at(3), answers: [accepted(3)] }),
    });
    expect(await ledger.endRun(run, { exitCode: 0, at: at(4) })).toBe(true);
    expect(await ledger.counts(run)).toMatchObject({ accepted: 3, total: 3, decidedChunks: 2 });
    expect((await ledger.attempts(run)).map((each) => [each.chunk, each.startedAt, each.endedAt, each.class])).toEqual([
      [1, at(1), at(2), "answered"],
      [2, at(2), at(3), "answered"],
    ]);
  });

  it("forgets what was rejected, keeps its row and its item, and lets it be entered again", async (ledger) => {
    const run = await enter(ledger, newRun(), TWO());
    await send(ledger, run, [accepted(1), REJECTED]);
    expect(await known(ledger, "a", "b")).toEqual(["t:b sent 1 0"]);
    const { items, rows } = await ledger.outcomes(run, 1);
    expect(items.map(({ outcome, response }) => [outcome, response])).toEqual([
      ["accepted", undefined],
      ["rejected", '{"status":"ticket_exists"}'],
    ]);
    expect(rows).toEqual(["b;18", "a;18"]);
    await enter(ledger, newRun(), planned([{ sales: [{ id: "a", price: "20" }] }]));
    expect(await known(ledger, "a")).toEqual(["t:a pending 1 0"]);
  });

  it("has a chunk of its own for what an answer leaves in doubt", async (ledger) => {
    const sales = [{ id: "a" }, { id: "b", price: "19.00" }, { id: "c" }];
    const run = await enter(ledger, newRun(), planned([{ sales }]));
    const doubt = (await send(ledger, run, [accepted(1), DOUBT, accepted(3)])).doubt?.chunk ?? 0;
    expect(await states(ledger, run)).toEqual(["1 answered 2", "2 in doubt 1"]);
    expect(await known(ledger, "a", "b", "c")).toEqual(["t:a sent 1 0", "t:b pending 2 0", "t:c sent 1 2"]);
    expect(Buffer.from((await ledger.body(run, doubt)) ?? "").toString()).toBe(bodyOf([{ id: "b", price: "19.00" }]));
    const { items, rows, chunk } = await ledger.outcomes(run, doubt);
    expect(items).toMatchObject([{ outcome: "in doubt", response: '{"status":"success"}', origin: { line: 3 } }]);
    expect([rows, chunk.whole, chunk.detail]).toEqual([["b;19.00"], 1, 'no promise: {"status":"success"}']);
    expect((await ledger.outcomes(run, 1)).items.map(({ outcome, promise: given }) => [outcome, given])).toEqual([
      ["accepted", promise(1)],
      ["moved", undefined],
      ["accepted", promise(3)],
    ]);
    expect(await ledger.counts(run)).toMatchObject({ accepted: 2, inDoubt: 1, total: 3 });
  });

  test.each([
    ["sent", "settled 1", ["t:b sent 2 0"], "settled"],
    ["not-sent", "planned 1", ["t:b pending 2 0"], "not sent"],
  ] as const)("takes a person's word about a doubt: %s", async (decision, state, actions, outcome) => {
    const { open } = await newPlace();
    const ledger = await open();
    const run = await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }, { id: "b" }] }]));
    const doubt = (await send(ledger, run, [accepted(1), DOUBT])).doubt?.chunk ?? 0;
    await ledger.noteStop(run, { exitCode: 9, paused: BY });
    expect(await ledger.settle(run, doubt, decision, BY)).toEqual({ settled: doubt, rest: undefined, late: 0 });
    expect((await states(ledger, run))[1]).toBe(`2 ${state}`);
    expect(await known(ledger, "b")).toEqual(actions);
    expect((await ledger.outcomes(run, doubt)).items).toMatchObject([{ outcome }]);
    expect((await ledger.settlements(run)).at(-1)).toEqual({ chunk: doubt, decision, ...BY });
    // In the same transaction: a kill behind it leaves no run that waits for a person who has decided.
    expect((await ledger.runs({ last: 1 }))[0]).toMatchObject({ exitCode: 7, paused: undefined });
    if (decision === "sent") expect(await ledger.settle(run, doubt, decision, BY)).toBeUndefined();
  });

  it("takes a person's word about the first actions of a doubt alone", async (ledger) => {
    const run = await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }, { id: "b" }, { id: "c" }] }]));
    await ledger.advance(run, { intent: { chunk: 1, at: at(1) } });
    await ledger.advance(run, { ended: ending("doubt", { detail: "connection closed" }) });
    expect(await ledger.settle(run, 1, "sent", BY, 1)).toEqual({ settled: 2, rest: 3, late: 0 });
    expect(await states(ledger, run)).toEqual(["1 split 3", "2 settled 1", "3 in doubt 2"]);
    expect(await ledger.chunks(run, { states: ["in doubt"] })).toMatchObject([{ detail: "connection closed" }]);
    expect(await known(ledger, "a", "b", "c")).toEqual(["t:a sent 2 0", "t:b pending 3 0", "t:c pending 3 1"]);
  });

  it("is cut where a request is too large, in the order of its actions, and keeps to that", async (ledger) => {
    const sales = ["e", "d", "c", "b", "a"].map((id) => ({ id }));
    const run = await enter(ledger, newRun(), planned([{ sales }, { sales: [{ id: "z" }] }]));
    await ledger.advance(run, { intent: { chunk: 1, at: at(1) } });
    await ledger.advance(run, { ended: ending("giveBack", { class: "too large", httpStatus: 413 }) });
    expect(await ledger.split(run, 1, 2)).toBe(true);
    expect(await ledger.split(run, 1, 2)).toBe(false);
    const parts = (await ledger.chunks(run)).filter(({ chunk }) => chunk > 2);
    expect(parts.map(({ chunk, count, whole, state }) => [chunk, count, whole, state])).toEqual([
      [3, 2, 1, "planned"],
      [4, 2, 1, "planned"],
      [5, 1, 1, "planned"],
    ]);
    expect(Buffer.from((await ledger.body(run, 4)) ?? "").toString()).toBe(bodyOf([{ id: "c" }, { id: "b" }]));
    expect(await known(ledger, "a", "b", "e")).toEqual(["t:a pending 5 0", "t:b pending 4 1", "t:e pending 3 0"]);
    expect((await ledger.chunks(run, { states: ["planned"] })).map(({ chunk }) => chunk)).toEqual([3, 4, 5, 2]);
    expect((await ledger.nextChunk(run, 1))?.chunk.chunk).toBe(3);
    expect((await ledger.runs()).map(({ mostActions }) => mostActions)).toEqual([2]);
    expect((await ledger.counts(run)).total).toBe(6);
  });

  it("is given back, refused or in doubt as its attempt ends", async (ledger) => {
    const run = await enter(ledger, newRun(), TWO());
    await ledger.advance(run, { intent: { chunk: 1, at: at(1) } });
    await ledger.advance(run, { ended: ending("giveBack", { class: "not taken", httpStatus: 429 }) });
    expect(await ledger.advance(run, { intent: { chunk: 1, at: at(3) } })).toMatchObject({ attempt: 2 });
    await ledger.advance(run, { ended: ending("refuse", { class: "refused", httpStatus: 400, detail: "no" }) });
    expect(await ledger.chunks(run, { states: ["refused"] })).toMatchObject([{ httpStatus: 400, detail: "no" }]);
    expect((await ledger.attempts(run)).map((each) => each.class)).toEqual(["not taken", "refused"]);
    await expect(ledger.advance(run, { ended: ending("doubt", { chunk: 2 }) })).rejects.toThrow(
      "chunk 2 of run 1 is planned, so it can't doubt",
    );
  });

  it("knows after a crash what may have been sent: it is in doubt", async (ledger, { open }) => {
    const run = await enter(ledger, newRun(), TWO());
    await ledger.advance(run, { intent: { chunk: 1, at: at(1) } });
    await ledger[Symbol.asyncDispose]();
    const again = await open();
    expect(await again.counts(run)).toMatchObject({ inFlight: 2, inDoubt: 0 });
    expect(await again.doubtVanished(run, at(5))).toBe(1);
    expect(await states(again, run)).toEqual(["1 in doubt 2", "2 planned 1"]);
    expect(await again.counts(run)).toMatchObject({ inFlight: 0, inDoubt: 2 });
    expect(await again.endRun(run, { exitCode: 6, at: at(6) })).toBe(false);
  });

  it("is abandoned: what is planned may be sent by others, a doubt stays pending until it is settled", async (ledger) => {
    const run = await enter(ledger, newRun(), TWO());
    await ledger.advance(run, { intent: { chunk: 1, at: at(1) } });
    expect(await ledger.abandon(run, BY)).toBe(1);
    expect((await ledger.runs({ states: ["closing"] })).length).toBe(1);
    await ledger.advance(run, { ended: ending("doubt") });
    expect(await ledger.abandon(run, BY)).toBe(0);
    expect(await states(ledger, run)).toEqual(["1 in doubt 2", "2 abandoned 1"]);
    expect(await known(ledger, "a", "c")).toEqual(["t:a pending 1 1"]);
    expect((await ledger.outcomes(run, 2)).items).toMatchObject([{ outcome: "not sent" }]);
    expect(await ledger.endRun(run, { exitCode: 4, at: at(3) })).toBe(true);
    expect(await ledger.runs({ asks: true })).toMatchObject([{ state: "abandoned", exitCode: 4 }]);
    await ledger.settle(run, 1, "not-sent", BY);
    expect(await states(ledger, run)).toEqual(["1 abandoned 2", "2 abandoned 1"]);
    expect(await known(ledger, "a")).toEqual([]);
    expect((await ledger.settlements(run)).map(({ chunk, decision }) => [chunk, decision])).toEqual([
      [undefined, "abandon"],
      [1, "not-sent"],
    ]);
  });

  it("is listed by its id, its state and its chunks, and can be paused", async (ledger) => {
    const [one, other] = [newRun(), newRun()];
    const first = await enter(ledger, one, TWO());
    await enter(ledger, other, planned([{ sales: [{ id: "x" }] }]));
    await ledger.noteStop(first, { exitCode: 7, paused: BY });
    expect((await ledger.runs()).map(({ run, paused }) => [run, paused])).toEqual([
      [one.run, BY],
      [other.run, undefined],
    ]);
    await ledger.noteStop(first, { exitCode: 7, paused: null });
    expect(await ledger.run(one.run)).toMatchObject({ paused: undefined, exitCode: 7 });
    expect((await ledger.runs({ last: 1 })).map(({ run }) => run)).toEqual([other.run]);
    expect((await ledger.runs({ ids: [one.run, "ffffffff"] })).map(({ run }) => run)).toEqual([one.run]);
    expect(await ledger.runs({ unwritten: true })).toEqual([]);
  });

  it("has its lanes and stages apart", async (ledger) => {
    const parts = [
      { sales: [{ id: "a" }], lane: 1, stage: 0 },
      { sales: [{ id: "b" }], lane: 2, stage: 0 },
      { sales: [{ id: "c" }], lane: 1, stage: 1 },
    ];
    const run = await enter(ledger, newRun(), planned(parts));
    expect((await ledger.nextChunk(run, 2))?.chunk.chunk).toBe(2);
    expect((await ledger.nextChunk(run, 1, 1))?.chunk.chunk).toBe(3);
    expect(await ledger.nextChunk(run, 2, 1)).toBeUndefined();
  });
});

describeBoth("what a ledger knows beside its runs", (_, it) => {
  it("the corrected version of a bad row counts once all of it was accepted, in whichever chunks and runs", async (ledger) => {
    const version = (digest: string, ...ids: readonly string[]) =>
      ids.map((id) => ({ digest, subject: `t:${id}`, kind: "soldTicket", mark: "" }) as const);
    const noted = async () => (await ledger.corrected(["d1", "d2", "d3"])).map(({ subject }) => subject).sort();
    await ledger.noteLearnt({ corrected: [...version("d1", "a", "b"), ...version("d2", "c")] });
    expect(await noted(), "nothing was entered").toEqual([]);
    const [one, two] = [["b", "a"].map((id) => ({ id, digest: "d1" })), [{ id: "c", digest: "d2" }]];
    const run = await enter(ledger, newRun(), planned([{ sales: one }, { sales: two }]));
    await send(ledger, run, [REJECTED, accepted(1)]);
    expect(await noted(), "b is rejected, c is pending").toEqual([]);
    await send(ledger, run, [accepted(2)]);
    expect(await ledger.corrected(["d1", "d2"])).toEqual(version("d2", "c"));
    await send(ledger, await enter(ledger, newRun(), planned([{ sales: [{ id: "b" }] }])), [accepted(3)]);
    expect(await noted(), "b came from another row").toEqual(["t:c"]);
    for (let times = 0; times < 2; times += 1) await ledger.noteLearnt({ corrected: version("d1", "a") });
    expect(await noted()).toEqual(["t:a", "t:c"]);
    await ledger.noteLearnt({ corrected: version("d1", "new") });
    expect(await noted(), "of d1, new is not sent").toEqual(["t:c"]);
    await ledger.noteLearnt({ corrected: version("d1", "c") });
    expect(await noted(), "new was given up").toEqual(["t:a", "t:c", "t:c"]);
  });

  it("ids that differ only in how they are written", async (ledger) => {
    const plan = planned([{ sales: [{ id: "a-1" }, { id: "b2" }] }]);
    const actions = plan.actions.map((action) => (action.subject === "t:a-1" ? { ...action, normal: "t:a1" } : action));
    await enter(ledger, newRun(), { ...plan, actions });
    expect(await ledger.near(["t:a1", "t:b2", "t:c3"])).toEqual([
      { normal: "t:a1", subject: "t:a-1" },
      { normal: "t:b2", subject: "t:b2" },
    ]);
  });

  it("adopted actions: sent, without a chunk; known ones get the content of now", async (ledger) => {
    const first = await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }] }]));
    await send(ledger, first, [accepted(1)]);
    const { actions } = planned([{ sales: [{ id: "a", price: "20" }, { id: "b", price: "19" }, { id: "b" }] }]);
    const run = newRun();
    const { number } = await ledger.adopt(
      run,
      each([actions.map((each) => ({ ...each, chunk: undefined, place: undefined }))]),
      BY,
    );
    expect(await known(ledger, "a", "b")).toEqual(["t:a sent 1 0", "t:b sent  "]);
    expect((await ledger.actionsOf(["t:a"]))[0]).toMatchObject({
      content: "price=20",
      position: { run: number, seq: 1 },
    });
    expect(await ledger.actionsOf(["t:b"])).toMatchObject([{ content: "price=18", position: { run: number, seq: 3 } }]);
    expect(await ledger.run(run.run)).toMatchObject({ kind: "adopted", state: "finished" });
    expect(await ledger.settlements(number)).toMatchObject([{ reason: "looked it up" }]);
    expect((await ledger.about("b")).map(({ kind, item }) => [kind, item])).toEqual([["soldTicket", undefined]]);
  });

  it("all about an id: what was accepted, rejected, abandoned; by ticket, by event, by promise", async (ledger) => {
    const first = await enter(
      ledger,
      newRun(),
      planned([{ sales: [{ id: "a" }, { id: "b" }] }, { sales: [{ id: "c" }] }]),
    );
    await send(ledger, first, [accepted(1), REJECTED]);
    await ledger.abandon(first, BY);
    const second = await enter(ledger, newRun(), planned([{ sales: [{ id: "b", price: "20" }] }]));
    await send(ledger, second, [{ outcome: "accepted", promise: "no uuid" }]);
    const about = async (id: string) =>
      (await ledger.about(id)).map(({ run, subject, item }) =>
        [run.number, subject, item?.outcome, item?.promise].join(" "),
      );
    expect(await about("b")).toEqual([`${first} t:b rejected `, `${second} t:b accepted no uuid`]);
    expect(await about("c")).toEqual([`${first} t:c not sent `]);
    expect(await about("e1")).toEqual([
      `${first} t:a accepted ${promise(1)}`,
      `${first} t:b rejected `,
      `${first} t:c not sent `,
      `${second} t:b accepted no uuid`,
    ]);
    expect(await about(promise(1))).toEqual([`${first} t:a accepted ${promise(1)}`]);
    expect(await about("no uuid")).toEqual([`${second} t:b accepted no uuid`]);
    expect((await ledger.about("a"))[0]).toMatchObject({
      chunk: { chunk: 1, state: "answered", answeredAt: at(2) },
      item: { place: 0, origin: { line: 2 } },
      json: bodyOf([{ id: "a" }]).slice(1, -1),
      attempts: [{ chunk: 1, class: "answered" }],
      settlements: [{ decision: "abandon", who: "ops" }],
    });
    expect(await about("nobody")).toEqual([]);
  });

  it("how sources made their actions, with a run and without one", async (ledger) => {
    const note = (zone: string, recognised: number | undefined) => ({
      ...{ source: "sales", kind: "soldTicket", made: { zone } },
      night: recognised === undefined ? undefined : { at: at(recognised), rows: 100, recognised },
    });
    await enter(ledger, newRun({ guard: [note("UTC", 1)] }), TWO());
    await ledger.noteLearnt({ guard: [note("UTC", 2)] });
    await ledger.noteLearnt({ guard: [note("Europe/Berlin", undefined)] });
    expect(await ledger.guard("sales")).toEqual([
      {
        ...{ kind: "soldTicket", made: { zone: "Europe/Berlin" } },
        nights: [
          { at: at(2), rows: 100, recognised: 2 },
          { at: at(1), rows: 100, recognised: 1 },
        ],
      },
    ]);
    expect(await ledger.guard("scans")).toEqual([]);
  });

  it("files: how far they are written, and under which name", async (ledger) => {
    const run = await enter(ledger, newRun(), TWO());
    await send(ledger, run, [accepted(1), accepted(2)]);
    const output: Output = {
      path: "/out/promises.ndjson",
      kind: "promises",
      ...{ length: 200, mtimeNs: "17", digest: "ab", run: undefined, input: undefined },
    };
    expect((await ledger.chunks(run, { unwritten: true })).map(({ chunk }) => chunk)).toEqual([1]);
    await ledger.noteOutput(output, { run, chunk: 1, isNew: true });
    await ledger.advance(run, { intent: { chunk: 2, at: at(3) } });
    expect(await ledger.output(output.path)).toEqual(output);
    expect(await ledger.chunks(run, { unwritten: true })).toEqual([]);
    const rejects = { ...output, path: "/in/sales.rejects.csv", kind: "rejects" as const, run, input: 0 };
    await ledger.noteOutput(rejects);
    expect(await ledger.output(rejects.path)).toEqual(rejects);
    expect(await ledger.rejectsFilesOf(run)).toEqual([rejects.path]);
    expect((await ledger.runs()).map(({ output: path }) => path)).toEqual([output.path]);
  });

  it("invocations and the warnings that they showed", async (ledger) => {
    const invocation = {
      ...{ startedAt: at(1), durationMs: 12, command: "stream", files: ["a.csv"], exitCode: 0 },
      ...{ error: undefined, run: "7f3a0c11", counts: { actions: { accepted: 2 } } },
      ...{ host: "web-1", who: "ops", version: "1.0.0" },
    };
    await ledger.noteInvocation(invocation, ["d1"]);
    await ledger.noteInvocation({ ...invocation, command: "plan", exitCode: 3, run: undefined, error: "no" }, ["d1"]);
    expect(await ledger.lastInvocation(["stream", "plan"], "succeeded")).toEqual(invocation);
    expect(await ledger.lastInvocation(["stream", "plan"])).toMatchObject({ command: "plan", error: "no" });
    expect(await ledger.reported(["d1", "d2"])).toEqual(new Set(["d1"]));
  });

  it("statuses of promises: what was last said of each", async (ledger) => {
    const run = await enter(ledger, newRun(), TWO());
    await ledger.noteStatuses(run, [{ chunk: 1, place: 0, status: "confirmed" }], at(5));
    await ledger.noteStatuses(run, [{ chunk: 2, place: 0, status: "pending" }], at(6));
    expect(await ledger.statuses(run, 2)).toEqual(new Map([[0, "pending"]]));
    expect([...(await ledger.countStatuses(run))].flat()).toEqual(["confirmed", 1, "pending", 1]);
    await ledger.noteStatuses(run, [{ chunk: 2, place: 0, status: "confirmed" }], at(7));
    expect(await ledger.countStatuses(run)).toEqual(new Map([["confirmed", 2]]));
  });

  it("bodies of old runs go, and what was sent stays known", async (ledger) => {
    const run = await enter(ledger, newRun(), planned([{ sales: [{ id: "a" }] }]));
    await send(ledger, run, [accepted(1)]);
    await ledger.endRun(run, { exitCode: 0, at: at(3) });
    await enter(ledger, newRun(), planned([{ sales: [{ id: "b" }] }]));
    expect(await ledger.prune(at(3))).toMatchObject({ chunks: 0 });
    expect(await ledger.prune(at(4))).toMatchObject({ chunks: 1 });
    expect(await ledger.body(run, 1)).toBeUndefined();
    expect(await ledger.about("a")).toMatchObject([{ json: undefined, item: { promise: promise(1) } }]);
    expect(await ledger.actionsOf(["t:a", "t:b"])).toHaveLength(2);
  });
});

describeBoth("opening a ledger", (newPlace) => {
  test("to read finds none where none was made", async () => {
    const { find, open } = await newPlace();
    expect(await find()).toBeUndefined();
    await open();
    const found = await find();
    expect(found).toMatchObject({ boundTo: SERVICE });
    await expect(
      found?.noteLearnt({ guard: [{ source: "s", kind: "*", made: {}, night: undefined }] }),
    ).rejects.toMatchObject({
      code: "storage",
    });
  });

  test("of another service is refused once something was entered", async () => {
    const { open } = await newPlace();
    await (await open("https://typo.example.com"))[Symbol.asyncDispose]();
    const ledger = await open();
    expect(ledger.boundTo).toBe(SERVICE);
    await enter(ledger, newRun(), TWO());
    await expect(open("https://other.example.com")).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(
        `belongs to ${SERVICE}, but the environment now names https://other.example.com`,
      ),
    });
  });

  test("the lock has one holder at a time, and names it", async () => {
    const { open } = await newPlace();
    const [one, other] = [await open(), await open()];
    const options = {
      name: "production",
      what: "it",
      command: "tickets stream",
      waitMs: 0,
      signal: new AbortController().signal,
    };
    expect(await other.holder("production")).toBeUndefined();
    const lock = await one.lock(options);
    expect(await other.holder("production")).toMatchObject({ pid: process.pid, command: "tickets stream" });
    await expect(other.lock(options)).rejects.toMatchObject({
      code: "busy",
      message: expect.stringContaining("tickets stream"),
    });
    const waited = other.lock({ ...options, waitMs: 5000, onWait: () => void lock[Symbol.asyncDispose]() });
    await (await waited)[Symbol.asyncDispose]();
    expect(await one.holder("production")).toBeUndefined();
  });
});
