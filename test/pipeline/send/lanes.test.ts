/** `--lanes`: several requests at a time, each lane in order; what one lane meets, and what the others do then. */

import { describe, expect, test } from "vitest";
import {
  type Asked,
  type Done,
  type Field,
  makeContext,
  type Options,
  openField,
  verbs,
} from "../../support/context.ts";
import {
  expectSpokenAsSpecified,
  type Item,
  type Service,
  type ServiceOptions,
  type ServiceRequest,
  startService,
} from "../../support/service.ts";
import { readPromises } from "../../support/tables.ts";
import { until } from "../../support/until.ts";

const EVENTS = ["A", "B", "C", "D"];

const sale = (eventId: string, ticketId: string): Item => ({
  action: "soldTicket",
  data: { eventId, ticketId, userId: `user of ${ticketId}`, price: "10.00", orderTime: 1_768_600_000 },
});
const newEvent = (eventId: string): Item => ({ action: "newEvent", data: { eventId, currency: "EUR" } });

/** Events, then their sales in turn: `A-1 B-1 C-1 … A-2 B-2 …`. */
const night = (events: readonly string[], sales: number): readonly Item[] => [
  ...events.map(newEvent),
  ...Array.from({ length: sales }, (_, at) => events.map((event) => sale(event, `${event}-${at + 1}`))).flat(),
];

const nameOf = ({ data: { ticketId, eventId, nftId } }: Item): string => String(ticketId ?? eventId ?? nftId);
const eventOf = ({ items }: ServiceRequest): string => nameOf(items[0] ?? sale("", "")).slice(0, 1);

/** The names of what was sent of each event, in order. */
const byEvent = (service: Service): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...Map.groupBy(service.requests.flatMap(({ items }) => items).map(nameOf), (name) => name.slice(0, 1))].map(
      ([event, names]) => [event, names.join(" ")],
    ),
  );

const told = (event: string, sales: number): string =>
  [event, ...Array.from({ length: sales }, (_, at) => `${event}-${at + 1}`)].join(" ");

interface Night {
  readonly field: Field;
  readonly service: Service;
  readonly stream: (
    flags: object,
    options?: Partial<Options<"stream">>,
    more?: Parameters<Field["stream"]>[2],
  ) => Promise<Done>;
  readonly resume: (more?: (asked: Asked) => void) => Promise<number>;
  readonly settle: (decision: "sent" | "not-sent", chunk?: number) => Promise<number>;
  readonly promised: () => Promise<readonly string[]>;
  readonly states: () => Promise<string>;
}

async function openNight(items: readonly Item[], given: ServiceOptions = {}, settings = ""): Promise<Night> {
  const field = await openField(settings);
  const service = await startService(given);
  await field.write("night.ndjson", items.map((item) => `${JSON.stringify(item)}\n`).join(""));
  const env = { TICKETS_LOCAL_BASE_URL: service.baseUrl, TICKETS_LOCAL_API_KEY: service.key };
  const asked = (): Asked => makeContext(field.folder, { ...field.env, ...env });
  return {
    field,
    service,
    stream: (flags, options, more) =>
      field.stream(
        ["night.ndjson"],
        { output: "out.ndjson", ...options, flags },
        { ...more, env: { ...env, ...more?.env } },
      ),
    resume: (act) => {
      const given = asked();
      act?.(given);
      const options: Options<"resume"> = {
        run: undefined,
        json: false,
        maxDuration: undefined,
        waitLock: 0,
        flags: {},
      };
      return verbs.resume(options, given.context);
    },
    settle: async (decision, chunk) => (await field.settle(decision, { chunk }, env)).exitCode,
    promised: async () =>
      readPromises(await field.read("out.ndjson")).map(({ ticketId, eventId }) => ticketId ?? eventId ?? ""),
    states: async () => (await field.chunks(env)).map(({ state }) => state).join(", "),
  };
}

/** Keeps the answers of some requests back; `come` says when so many of them are there. */
function gate(isHeld: (request: ServiceRequest) => boolean) {
  const opened = Promise.withResolvers<void>();
  const waiting: { readonly many: number; readonly resolve: () => void }[] = [];
  let count = 0;
  return {
    async pass(request: ServiceRequest): Promise<void> {
      if (!isHeld(request)) return;
      count += 1;
      for (const { many, resolve } of waiting) if (count >= many) resolve();
      await opened.promise;
    },
    come: (many: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (count >= many) resolve();
      waiting.push({ many, resolve });
      return promise;
    },
    open: () => opened.resolve(),
  };
}

describe("lanes of different speed", () => {
  test("don't wait for each other, and each keeps its order", async () => {
    const slow = gate((request) => eventOf(request) === "A");
    const { service, stream, promised } = await openNight(night(["A", "B"], 20), {
      answer: async (request) => {
        // The first request of A is answered when the last one of B has been.
        if (request.items.some((item) => nameOf(item) === "B-20")) slow.open();
        await slow.pass(request);
        return undefined;
      },
    });
    const { exitCode, said, summary } = await stream({ lanes: 2, chunkSize: 3 });
    expect([exitCode, summary?.actions.accepted]).toEqual([0, 42]);
    expect(said).toContain("42 to send in 14 chunks, over 2 lanes.");
    expectSpokenAsSpecified(service, 2);
    expect(byEvent(service)).toEqual({ A: told("A", 20), B: told("B", 20) });
    const lines = await promised();
    expect(lines.filter((name) => name.startsWith("A")).join(" ")).toBe(told("A", 20));
    expect(lines.filter((name) => name.startsWith("B")).join(" ")).toBe(told("B", 20));
    expect(lines.indexOf("B-17")).toBeLessThan(lines.indexOf("A-1"));
  });

  test("every line of the promises names the row that it is about", { tags: ["long"] }, async () => {
    const items = night(EVENTS, 30);
    const { field, service, stream } = await openNight(items);
    expect((await stream({ lanes: 4, chunkSize: 7 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 4);
    const lines = readPromises(await field.read("out.ndjson"));
    expect(lines.map(({ line }) => line).toSorted((a, b) => a - b)).toEqual(items.map((_, at) => at + 1));
    for (const { line, action, eventId, ticketId } of lines) {
      const item = items[line - 1];
      expect({ action, eventId, ticketId }).toEqual({
        action: item?.action,
        eventId: item?.data.eventId,
        ticketId: item?.data.ticketId,
      });
    }
    expect(new Set(lines.map(({ seq }) => seq)).size).toBe(items.length);
  });

  test("are as many requests at a time, each over a connection of its own", async () => {
    const all = gate(() => true);
    const { service, stream } = await openNight(night(EVENTS, 5), {
      answer: (request) => all.pass(request).then(() => undefined),
    });
    const running = stream({ lanes: 4, chunkSize: 2 });
    await all.come(4);
    expect(service.requests.map(eventOf).toSorted()).toEqual(EVENTS);
    expect(service.connections()).toBe(4);
    all.open();
    expect((await running).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 4);
  });

  test("a line longer than what a lane collects", { tags: ["long"] }, async () => {
    const long = (event: string): Item => {
      const { action, data } = sale(event, `${event}-long`);
      const value = "x".repeat(300_000);
      return { action, data: { ...data, metadataAttributes: [{ trait_type: "long", value }] } };
    };
    const items = [...night(["A", "B"], 3), long("A"), long("B"), sale("A", "A-end"), sale("B", "B-end")];
    const { service, stream } = await openNight(items);
    expect((await stream({ lanes: 2 })).exitCode).toBe(0);
    expect(byEvent(service)).toEqual({ A: `${told("A", 3)} A-long A-end`, B: `${told("B", 3)} B-long B-end` });
  });
});

describe("how many lanes", () => {
  test("the config says it, a flag says it louder; one lane is the default", { tags: ["long"] }, async () => {
    const { stream } = await openNight(night(EVENTS, 2), {}, "lanes: 3");
    const dry = { dryRun: true };
    expect((await stream({}, dry)).said).toContain("would be sent in 3 chunks, over 3 lanes.");
    expect((await stream({ lanes: 2 }, dry)).said).toContain("would be sent in 2 chunks, over 2 lanes.");
    expect((await stream({ lanes: 64 }, dry)).said).toContain("would be sent in 4 chunks, over 4 lanes.");
    expect((await stream({ lanes: 1 }, dry)).said).toContain("12 of 12 actions would be sent.");
  });

  test.each(["0", "65", "2.5", "many"])("%s: exit 2, nothing sent", async (lanes) => {
    const { service, stream } = await openNight(night(EVENTS, 2));
    expect(await stream({ lanes })).toMatchObject({
      exitCode: 2,
      said: `--lanes needs a whole number from 1 to 64, not "${lanes}"`,
    });
    expect(service.connections()).toBe(0);
  });

  test("with fewer events than lanes, all is in the order of the input where there is one", async () => {
    const { service, stream } = await openNight(night(["A"], 9));
    expect((await stream({ lanes: 8, chunkSize: 4 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service);
    expect(byEvent(service)).toEqual({ A: told("A", 9) });
  });

  test("a run goes on with the lanes of its plan", { tags: ["long"] }, async () => {
    const { service, stream, resume, states } = await openNight(night(EVENTS, 5), {
      answer: ({ items }) => (items.some((item) => nameOf(item) === "C-2") ? { status: 403, body: "{}" } : undefined),
    });
    expect((await stream({ lanes: 4, chunkSize: 2 })).exitCode).toBe(5);
    const first = service.requests.length;
    service.behave({});
    expect(await resume()).toBe(0);
    expect(await states()).toBe(EVENTS.flatMap(() => Array<string>(3).fill("settled")).join(", "));
    expect(service.requests.length).toBeGreaterThan(first);
    expectSpokenAsSpecified(service, 4);
  });
});

describe("which lane", () => {
  const scan = (data: Item["data"]): Item => ({ action: "scannedTicket", data: { ...data, orderTime: 1_768_700_000 } });

  test("actions by nftId alone have none: exit 2, how many, and nothing is sent; one lane sends them", async () => {
    const items = [...night(["A", "B"], 2), scan({ nftId: "SANDBOX-1-1" }), scan({ nftId: "SANDBOX-2-1" })];
    const { service, stream } = await openNight(items);
    const { exitCode, said } = await stream({ lanes: 2 });
    expect([exitCode, service.connections()]).toEqual([2, 0]);
    expect(said).toContain("2 actions name their tickets by nftId alone");
    expect(said).toContain("use --lanes 1");
    expect((await stream({ lanes: 1 })).exitCode).toBe(0);
  });

  test("a ticket that was sold another night goes with its event, by what the ledger knows", {
    tags: ["long"],
  }, async () => {
    const { field, service, stream } = await openNight(night(["A", "B"], 6));
    expect((await stream({ lanes: 2 })).exitCode).toBe(0);
    const updates = ["A", "B"].map((eventId) => ({
      action: "updateEvent",
      data: { eventId, eventName: `${eventId}!` },
    }));
    const scans = ["B-1", "A-1", "B-2", "A-2", "A-3"].map((ticketId) => scan({ ticketId }));
    await field.write("night.ndjson", [...updates, ...scans].map((item) => `${JSON.stringify(item)}\n`).join(""));
    const before = service.requests.length;
    expect((await stream({ lanes: 8 })).said).toContain("7 to send in 2 chunks, over 2 lanes.");
    const sent = service.requests.slice(before).map(({ items }) => items.map(nameOf).join(" "));
    expect(sent.toSorted()).toEqual(["A A-1 A-2 A-3", "B B-1 B-2"]);
  });

  test("a row's event counts where its action takes none", async () => {
    const { field, service } = await openNight([]);
    const rows = ["eventId,ticketId,orderTime", "A,A-1,1768700001", "B,B-1,1768700002", "A,A-2,1768700003"];
    await field.write("scans.csv", `${rows.join("\n")}\n`);
    const env = { TICKETS_LOCAL_BASE_URL: service.baseUrl, TICKETS_LOCAL_API_KEY: service.key };
    expect((await field.stream(["scans.csv"], { flags: { lanes: 4 } }, { env })).exitCode).toBe(0);
    expect(service.requests.map(({ items }) => items.map(nameOf).join(" ")).toSorted()).toEqual(["A-1 A-2", "B-1"]);
  });

  test("by time, each lane is in the order of time", { tags: ["long"] }, async () => {
    const at = (item: Item, orderTime: number): Item => ({ ...item, data: { ...item.data, orderTime } });
    const items = [
      at(scan({ ticketId: "A-1" }), 1_768_600_900),
      at(sale("B", "B-1"), 1_768_600_500),
      at(sale("A", "A-2"), 1_768_600_300),
      at(sale("A", "A-1"), 1_768_600_400),
      at(sale("B", "B-2"), 1_768_600_200),
      newEvent("B"),
      newEvent("A"),
    ];
    const { service, stream } = await openNight(items);
    expect((await stream({ lanes: 2, chunkSize: 2 }, { order: "time" })).exitCode).toBe(0);
    expect(byEvent(service)).toEqual({ A: "A A-2 A-1 A-1", B: "B B-2 B-1" });
  });
});

describe("a lane that can't go on ends all", () => {
  const fails =
    (name: string, status: number) =>
    ({ items }: ServiceRequest) =>
      items.some((item) => nameOf(item) === name) ? { status, body: "what the service says" } : undefined;

  test("a doubt: the others let their request end, store its answer and send nothing more", {
    tags: ["long"],
  }, async () => {
    const others = gate((request) => eventOf(request) === "B");
    const { service, stream, promised, states, settle, resume } = await openNight(night(["A", "B"], 5), {
      answer: async (request) => {
        const answer = fails("A-2", 500)(request);
        await others.pass(request);
        return answer;
      },
    });
    const running = stream({ lanes: 2, chunkSize: 2 });
    await others.come(1);
    await until(async () => (await states()).includes("in doubt"));
    others.open();
    const { exitCode, said, summary } = await running;
    expect(exitCode).toBe(6);
    expect(said).toMatch(
      /Stopped: chunk 2 \(actions 3 to 4\) is in doubt: HTTP 500\. Its answer is not known\. Nothing after it in its lane was sent\./,
    );
    expect(said).toContain("The service said: what the service says");
    expect(await states()).toBe("settled, in doubt, planned, settled, planned, planned");
    expect(summary?.actions.inDoubt).toBe(2);
    const [sent, lines] = [service.requests.length, (await promised()).length];
    // Nothing is sent in any lane before a person has settled it.
    service.behave({});
    expect((await stream({ lanes: 2, chunkSize: 2 })).exitCode).toBe(6);
    expect([service.requests.length, (await promised()).length]).toEqual([sent, lines]);
    expect(await settle("not-sent")).toBe(0);
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 2);
    expect(byEvent(service)).toMatchObject({ A: `${told("A", 1)} A-2 A-3 A-2 A-3 A-4 A-5`, B: told("B", 5) });
    expect((await promised()).toSorted()).toEqual([told("A", 5), told("B", 5)].join(" ").split(" ").toSorted());
  });

  test("doubts and refusals of several lanes are all named, and settled one by one or at once", {
    tags: ["long"],
  }, async () => {
    const all = gate(() => true);
    const { service, stream, states, settle, resume, promised } = await openNight(night(EVENTS, 5), {
      answer: async (request) => {
        void all.come(4).then(all.open);
        await all.pass(request);
        return eventOf(request) === "D" ? { status: 422, body: "no" } : { status: 503, body: "" };
      },
    });
    const { exitCode, said, summary } = await stream({ lanes: 4, chunkSize: 2 });
    expect(exitCode).toBe(6);
    for (const chunk of [1, 4, 7]) expect(said).toContain(`chunk ${chunk} (actions`);
    expect(said.match(/Stopped:/g)).toHaveLength(1);
    expect(said).toContain("Also: the service refused chunk 10: HTTP 422.");
    expect(summary?.actions).toMatchObject({ inDoubt: 6, refused: 2, accepted: 0, notSent: 16 });
    service.behave({});
    const again = await stream({ lanes: 4, chunkSize: 2 });
    expect([again.exitCode, service.requests.length]).toEqual([6, 4]);
    for (const chunk of [1, 4, 7, 10]) expect(again.said).toContain(`chunk ${chunk}`);
    expect(await settle("sent", 4)).toBe(6);
    expect(await resume()).toBe(6);
    expect(service.requests).toHaveLength(4);
    expect(await settle("not-sent")).toBe(0);
    expect(await resume()).toBe(0);
    expect(await states()).toMatch(/^settled, settled, settled, settled by hand, settled, /);
    expect((await promised()).toSorted()).toEqual(EVENTS.flatMap((event) => told(event, 5).split(" ")).toSorted());
  });

  test.each([
    [403, 5, "did not accept the request"],
    [422, 9, "refused chunk"],
  ])("HTTP %i in one: exit %i, and the others stop", async (status, exit, message) => {
    const { service, stream, resume, settle, states } = await openNight(night(EVENTS, 40), {
      answer: fails("C-3", status),
    });
    const { exitCode, said, summary } = await stream({ lanes: 4, chunkSize: 2 });
    expect([exitCode, summary?.state]).toEqual([exit, "stopped"]);
    expect(said).toContain(message);
    expect(await states()).toContain("planned");
    service.behave({});
    if (status === 422) await settle("not-sent");
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 4);
    expect(byEvent(service)).toMatchObject({ A: told("A", 40), B: told("B", 40), D: told("D", 40) });
  });

  test("rejections of all lanes count together", async () => {
    const rejected = new Set(["A-1", "B-1", "C-1"]);
    const { stream } = await openNight(
      night(EVENTS, 20),
      { failureOf: (item) => (rejected.has(nameOf(item)) ? { status: "error" } : undefined) },
      "maxRejected: 2",
    );
    const { exitCode, said, summary } = await stream({ lanes: 4, chunkSize: 2 });
    expect([exitCode, summary?.state, summary?.actions.rejected]).toEqual([9, "stopped", 3]);
    expect(said.match(/Stopped: 3 actions rejected, more than maxRejected \(2\)\./g)).toHaveLength(1);
  });
});

describe("what counts for all lanes", () => {
  test("a wait after 429: no lane sends before it is over", { tags: ["long"] }, async () => {
    const others = gate((request) => eventOf(request) === "B");
    const { service, stream, promised, resume } = await openNight(night(["A", "B"], 5), {
      answer: async (request) => {
        await others.pass(request);
        return eventOf(request) === "A" ? { status: 429, body: "", headers: { "Retry-After": "600" } } : undefined;
      },
    });
    let asked: Asked | undefined;
    const { exitCode } = await stream(
      { lanes: 2, chunkSize: 2, retries: 8 },
      {},
      {
        asked: (given) => {
          asked = given;
        },
        onDetail: (text) => {
          if (text.includes("trying again in 600.0 s")) void others.come(1).then(others.open);
          // B's answer is settled while it waits; it must not have sent anything meanwhile.
          if (text.includes("2 accepted")) asked?.stop("SIGTERM");
        },
      },
    );
    expect(exitCode).toBe(143);
    expect(service.requests.map(eventOf).toSorted()).toEqual(["A", "B"]);
    expect(await promised()).toEqual(["B", "B-1"]);
    service.behave({});
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 2);
    expect(byEvent(service)).toEqual({ A: `A A-1 ${told("A", 5)}`, B: told("B", 5) });
  });

  test("retries: a lane that is told to wait goes on as long as others get answers", { tags: ["long"] }, async () => {
    let left = 6;
    const { service, stream } = await openNight(night(["A", "B"], 30), {
      answer: (request) => {
        if (eventOf(request) !== "A" || left === 0) return undefined;
        left -= 1;
        return { status: 429, body: "", headers: { "Retry-After": "0" } };
      },
    });
    expect((await stream({ lanes: 2, chunkSize: 1, retries: 6 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 2);
  });

  test("--rate: what one lane has sent keeps the others waiting", { tags: ["long"] }, async () => {
    const { service, stream, resume } = await openNight(night(EVENTS, 5));
    let asked: Asked | undefined;
    const { exitCode } = await stream(
      { lanes: 4, chunkSize: 2, rate: 0.001 },
      {},
      {
        asked: (given) => {
          asked = given;
        },
        onDetail: (text) => {
          if (text.includes("accepted")) asked?.stop("SIGTERM");
        },
      },
    );
    expect([exitCode, service.requests.length]).toEqual([143, 1]);
    expect(await resume()).toBe(0);
  });

  test("the size that a 413 has taught", async () => {
    const { service, stream } = await openNight(night(EVENTS, 63), {
      answer: ({ items }) => (items.length > 16 ? { status: 413, body: "" } : undefined),
    });
    expect((await stream({ lanes: 4, chunkSize: 32 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 4);
    const tooLarge = service.requests.filter(({ items }) => items.length > 16);
    expect(tooLarge.length).toBeLessThanOrEqual(4);
    const taken = service.requests.filter(({ items }) => items.length <= 16).flatMap(({ items }) => items.map(nameOf));
    for (const event of EVENTS) expect(taken.filter((name) => name.startsWith(event)).join(" ")).toBe(told(event, 63));
  });

  test("the first signal: four requests on their way end, and their answers are stored", {
    tags: ["long"],
  }, async () => {
    const all = gate(() => true);
    const { service, stream, states, promised, resume } = await openNight(night(EVENTS, 5), {
      answer: (request) => all.pass(request).then(() => undefined),
    });
    let asked: Asked | undefined;
    const running = stream(
      { lanes: 4, chunkSize: 2 },
      {},
      {
        asked: (given) => {
          asked = given;
        },
      },
    );
    await all.come(4);
    asked?.stop("SIGINT");
    all.open();
    const { exitCode, said, summary } = await running;
    expect([exitCode, summary?.actions]).toMatchObject([130, { accepted: 8, inDoubt: 0, notSent: 16 }]);
    expect(said).toContain("Stopped by SIGINT. Nothing is in doubt.");
    expect(await states()).toBe(EVENTS.map(() => "settled, planned, planned").join(", "));
    expect(await promised()).toHaveLength(8);
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 4);
    for (const event of EVENTS) expect(byEvent(service)[event]).toBe(told(event, 5));
  });

  test("the second signal: four requests are given up, and all four are in doubt", async () => {
    const all = gate(() => true);
    const { stream, states, service, settle, resume } = await openNight(night(EVENTS, 5), {
      answer: (request) => all.pass(request).then(() => undefined),
    });
    let asked: Asked | undefined;
    const running = stream(
      { lanes: 4, chunkSize: 2 },
      {},
      {
        asked: (given) => {
          asked = given;
        },
      },
    );
    await all.come(4);
    asked?.stop("SIGINT");
    asked?.abort();
    const { exitCode, said, summary } = await running;
    all.open();
    expect([exitCode, summary?.actions]).toMatchObject([6, { accepted: 0, inDoubt: 8, notSent: 16 }]);
    for (const chunk of [1, 4, 7, 10]) expect(said).toContain(`chunk ${chunk} (actions`);
    expect(await states()).toBe(EVENTS.map(() => "in doubt, planned, planned").join(", "));
    expect(await settle("sent")).toBe(0);
    service.behave({});
    expect(await resume()).toBe(0);
    for (const event of EVENTS) expect(byEvent(service)[event]).toBe(told(event, 5));
  });
});
