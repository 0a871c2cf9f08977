import { describe, expect, test } from "vitest";
import { type Desk, EVENT, imageOf, openDesk, sale } from "../../support/desk.ts";

const ALL = [EVENT, sale("a"), sale("b"), sale("c"), sale("d")];
const TAKEN = ["newEvent E", "soldTicket a", "soldTicket b", "soldTicket c", "soldTicket d"];

async function withSales(): Promise<Desk> {
  const desk = await openDesk();
  desk.write("sales.ndjson", ALL);
  return desk;
}

const FLAGS = { chunkSize: 4, retries: 3, timeout: "5s" };

describe("an answer", () => {
  test.each([
    ["413: the chunk is split, and the smaller ones are sent in order", { fault: "too-large", on: { itemsOver: 1 } }],
    ["429: the same request once more", { fault: "status", status: 429, retryAfter: 0, times: 2 }],
  ] as const)("%s", async (_, fault) => {
    const desk = await withSales();
    desk.setFaults(fault);
    const { summary } = await desk.stream("sales.ndjson", { flags: FLAGS });
    expect(summary).toMatchObject({ exitCode: 0, actions: { accepted: 5 } });
    expect(desk.taken()).toEqual(TAKEN);
    expect(desk.promises()).toHaveLength(5);
  });

  test("403: exit 5, nothing is lost, and the same call goes on", async () => {
    const desk = await withSales();
    desk.setFaults({ fault: "status", status: 403, on: { request: 2 } });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
      exitCode: 5,
      actions: { accepted: 2, notSent: 3 },
    });
    desk.setFaults();
    const { summary } = await desk.stream("sales.ndjson");
    expect(summary).toMatchObject({ exitCode: 0, actions: { accepted: 5 } });
    expect(desk.taken()).toEqual(TAKEN);
  });

  test("503 that never ends: a doubt; one that the user vouches for is tried again", async () => {
    const desk = await withSales();
    desk.setFaults({ fault: "status", status: 503, on: { request: 1 }, processed: "none" });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ exitCode: 6, actions: { inDoubt: 2 } });
    const vouched = await withSales();
    vouched.write("tickets.config.yaml", "environments:\n  playground:\n    retryStatuses: [503]\n");
    vouched.setFaults({ fault: "status", status: 503, on: { request: 1 }, processed: "none" });
    expect((await vouched.stream("sales.ndjson", { flags: FLAGS })).summary).toMatchObject({ exitCode: 0 });
    expect(vouched.taken()).toEqual(TAKEN);
  });

  test("400: exit 9 and a question; settled by half, the rest goes on", async () => {
    const desk = await withSales();
    desk.setFaults({ fault: "status", status: 400, on: { request: 2 }, processed: 1 });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
      exitCode: 9,
      actions: { inDoubt: 2, notSent: 1 },
    });
    desk.setFaults();
    const [asked] = await questionsOf(desk);
    await desk.settle({ decision: "sent", chunk: asked ?? 0, first: 1 });
    const [rest] = await questionsOf(desk);
    await desk.settle({ decision: "not-sent", chunk: rest ?? 0 });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ exitCode: 0, actions: { accepted: 5 } });
    expect(desk.taken()).toEqual(TAKEN);
  });

  test("success without a promise for one item: that one is a doubt, the others are answered", async () => {
    const desk = await withSales();
    desk.setFaults({ fault: "missing-promise", on: { request: 2 }, items: [0] });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
      ...{ exitCode: 6, actions: { accepted: 3, inDoubt: 1, notSent: 1 } },
    });
    await desk.settle({ decision: "sent" });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({ exitCode: 0, actions: { accepted: 5 } });
    expect(desk.taken()).toEqual(TAKEN);
    expect(
      desk
        .promises()
        .map(({ ticketId = "E" }) => ticketId)
        .toSorted(),
    ).toEqual(["E", "a", "b", "c", "d"]);
  });

  test("a promise of an earlier request: the chunk is a doubt", async () => {
    const desk = await withSales();
    desk.setFaults({ fault: "duplicate-promise", of: "earlier-request", on: { request: 2 } });
    expect((await desk.stream("sales.ndjson")).summary).toMatchObject({
      exitCode: 6,
      actions: { accepted: 2, inDoubt: 2 },
    });
  });

  test("too many rejections: exit 9, and a person's resume goes on", async () => {
    const desk = await withSales();
    desk.write("tickets.config.yaml", "environments:\n  playground:\n    maxRejected: 0\n");
    desk.setFaults({ fault: "failure-items", on: { request: 2 }, items: [0] });
    const { summary } = await desk.stream("sales.ndjson");
    expect(summary).toMatchObject({ exitCode: 9, actions: { accepted: 3, rejected: 1, notSent: 1 } });
    await expect(desk.stream("sales.ndjson")).rejects.toMatchObject({ code: "refused" });
    expect((await desk.resume())?.summary).toMatchObject({ state: "finished", exitCode: 4, actions: { accepted: 4 } });
  });
});

async function questionsOf(desk: Desk): Promise<readonly number[]> {
  const asked = await desk.settle({});
  return asked.kind === "settled" ? (asked.questions ?? []).map(({ chunk }) => chunk.chunk) : [];
}

describe("a run that is stopped", () => {
  test("begins no stage behind one that was not answered whole, however many lanes wait for it", async () => {
    const desk = await openDesk();
    const update = { action: "updateEvent", data: { eventId: "E", eventName: "Great Fair" } };
    const later = Array.from({ length: 8 }, (_, at) => sale(`t${at}`));
    desk.write("sales.ndjson", [EVENT, sale("a"), update, ...later]);
    const flags = { chunkSize: 2, lanes: 4, retries: 0, timeout: "5s" };
    desk.setFaults({ fault: "status", status: 400, on: { action: "updateEvent" } });
    expect((await desk.stream("sales.ndjson", { flags })).summary).toMatchObject({ exitCode: 9 });
    expect(desk.taken()).toEqual(["newEvent E", "soldTicket a"]);
  });

  test("ends at a chunk's border, and the same call goes on", async () => {
    const desk = await withSales();
    const stop = new AbortController();
    const progress = {
      happened: ({ kind }: { readonly kind: string }) => (kind === "chunk answered" ? stop.abort() : undefined),
    };
    const { summary } = await desk.stream("sales.ndjson", { stop: stop.signal, progress });
    expect(summary).toMatchObject({ state: "stopped", exitCode: 143, actions: { inDoubt: 0 } });
    expect(summary.actions.notSent).toBeGreaterThan(0);
    const again = await desk.stream("sales.ndjson");
    expect(again.summary).toMatchObject({ exitCode: 0, actions: { accepted: 5 } });
    expect(desk.taken()).toEqual(TAKEN);
  });

  test("closed by a person, leaves in rejects what was not sent; streamed, it is", async () => {
    const desk = await withSales();
    desk.setFaults({ fault: "status", status: 403, on: { request: 2 } });
    await desk.stream("sales.ndjson");
    desk.setFaults();
    expect(await desk.settle({ decision: "abandon" })).toMatchObject({ summary: { state: "abandoned", exitCode: 0 } });
    desk.write("later.ndjson", [imageOf("a", "one")]);
    expect((await desk.stream("later.ndjson")).summary).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    expect((await desk.stream("sales.rejects.ndjson")).summary).toMatchObject({
      exitCode: 0,
      actions: { accepted: 3 },
    });
    expect(desk.taken().filter((each) => each.startsWith("sold"))).toEqual(TAKEN.slice(1));
  });
});
