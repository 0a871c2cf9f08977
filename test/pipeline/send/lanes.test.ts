/** `--lanes`: several requests at a time, each lane in order; what one lane meets, and what the others do then. */

import { describe, expect, test } from "vitest";
import { newEvent, sale } from "../../support/actions.ts";
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
import { LONG } from "../../support/walks.ts";

const scan = (ticketId: string): Item => ({ action: "scannedTicket", data: { ticketId, orderTime: 1_768_700_000 } });

const ticketsOf = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `T${at + 1}`);
const salesOf = (count: number): readonly Item[] => ticketsOf(count).map((ticketId) => sale(ticketId));

/** An event, the sales of its tickets, and a scan of each. */
const night = (tickets: number): readonly Item[] => [newEvent(), ...salesOf(tickets), ...ticketsOf(tickets).map(scan)];

const nameOf = ({ action, data: { ticketId, eventId, nftId } }: Item): string =>
  `${action} ${ticketId ?? nftId ?? eventId}`;
const namesOf = ({ items }: ServiceRequest): string => items.map(nameOf).join(", ");
const isOfTickets = ({ items }: ServiceRequest): boolean => items.some(({ data }) => data.ticketId !== undefined);

/** Each ticket was sold behind its event, and scanned behind its sale, once; all of them. */
function expectInOrder(sent: readonly Item[], tickets: number): void {
  expect(sent.map(nameOf).toSorted()).toEqual(night(tickets).map(nameOf).toSorted());
  const at = new Map(sent.map((item, at) => [nameOf(item), at]));
  for (const ticket of ticketsOf(tickets)) {
    const [sold = -1, scanned = -1] = [at.get(`soldTicket ${ticket}`), at.get(`scannedTicket ${ticket}`)];
    expect(sold).toBeGreaterThan(at.get("newEvent E") ?? sold);
    expect(scanned).toBeGreaterThan(sold);
  }
}

/** What was sent by requests that the service took. */
const takenBy = (service: Service, ...refused: readonly (ServiceRequest | undefined)[]): readonly Item[] =>
  service.requests.filter((request) => !refused.includes(request)).flatMap(({ items }) => items);

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
  /** Chunks that wait for a person. */
  readonly open: () => Promise<readonly number[]>;
  readonly promised: () => Promise<readonly string[]>;
  readonly states: () => Promise<string>;
}

async function openNight(items: readonly Item[], given: ServiceOptions = {}, settings = ""): Promise<Night> {
  const field = await openField(settings);
  const service = await startService(given);
  await field.write("night.ndjson", items);
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
      return verbs.resume({}, given.context);
    },
    settle: async (decision, chunk) => (await field.settle(decision, { chunk }, env)).exitCode,
    open: async () => (await field.chunks(env)).filter(({ state }) => state === "in doubt").map(({ chunk }) => chunk),
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
  test("don't wait for each other, and each ticket keeps its order", async () => {
    const slow = gate(isOfTickets);
    const { service, stream, promised } = await openNight(night(20), {
      answer: async (request) => {
        if (!isOfTickets(request)) return undefined;
        const nth = service.requests.filter(isOfTickets).length;
        // The first is answered when the other lane has sent four more.
        if (nth === 1) await slow.pass(request);
        if (nth === 5) slow.open();
        return undefined;
      },
    });
    const { exitCode, said, summary } = await stream({ lanes: 2, chunkSize: 3 });
    expect([exitCode, summary?.actions.accepted]).toEqual([0, 41]);
    expect(said).toContain("41 to send over 2 lanes.");
    expectSpokenAsSpecified(service, 2);
    expectInOrder(takenBy(service), 20);
    expect(await promised()).toHaveLength(41);
  });

  test("are as many requests at a time, each over a connection of its own, though it is one event", async () => {
    const all = gate(isOfTickets);
    const { service, stream } = await openNight(night(40), {
      answer: (request) => all.pass(request).then(() => undefined),
    });
    const running = stream({ lanes: 4, chunkSize: 2 });
    await all.come(4);
    expect(service.requests.filter(isOfTickets)).toHaveLength(4);
    expect(service.connections()).toBeGreaterThanOrEqual(4);
    all.open();
    expect((await running).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 4);
    expectInOrder(takenBy(service), 40);
  });
});

test("a request has no more bytes than maxChunkBytes, and about as many", async () => {
  const { service, stream } = await openNight(night(20), {}, "maxChunkBytes: 1024");
  expect((await stream({})).exitCode).toBe(0);
  const sizes = service.requests.map(({ body }) => body.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1024);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(800);
  expectInOrder(takenBy(service), 20);
});

describe("which lane", () => {
  test("a ticket that is named in two ways is in one lane: all goes one by one", async () => {
    const byNft: Item = { action: "scannedTicket", data: { nftId: "SANDBOX-1-1", orderTime: 1_768_700_000 } };
    const { service, stream } = await openNight([...night(4), byNft]);
    expect((await stream({ lanes: 4, chunkSize: 2 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service);
    expect(takenBy(service).map(nameOf)).toEqual([...night(4), byNft].map(nameOf));
  });

  test("an event's own actions keep their place among those of its tickets", async () => {
    const update: Item = { action: "updateEvent", data: { eventId: "E", eventName: "Fair" } };
    const items = [newEvent(), ...salesOf(12), update, ...ticketsOf(12).map(scan)];
    const { service, stream } = await openNight(items);
    expect((await stream({ lanes: 4, chunkSize: 2 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 4);
    const sent = takenBy(service).map(({ action }) => action);
    expect(sent.indexOf("updateEvent")).toBe(13);
    expect(sent.slice(14)).toEqual(ticketsOf(12).map(() => "scannedTicket"));
    const updated = service.requests.find(({ items }) => items.some(({ action }) => action === "updateEvent"));
    for (const each of service.requests)
      if (each !== updated && updated !== undefined)
        expect(each.answeredAt <= updated.startedAt || each.startedAt >= updated.answeredAt).toBe(true);
  });

  test("also of tickets that were sold another night", LONG, async () => {
    const { field, service, stream } = await openNight(night(12));
    expect((await stream({ lanes: 2 })).exitCode).toBe(0);
    const update: Item = { action: "updateEvent", data: { eventId: "E", eventName: "Fair" } };
    const later = (ticketId: string): Item => ({
      action: "scannedTicket",
      data: { ticketId, orderTime: 1_768_700_900 },
    });
    const items = [update, ...ticketsOf(12).map(later)];
    await field.write("night.ndjson", items);
    const before = service.requests.length;
    expect((await stream({ lanes: 8 })).exitCode).toBe(0);
    const [first, ...others] = service.requests.slice(before);
    expect(first?.items.map(nameOf)).toEqual(["updateEvent E"]);
    for (const each of others) expect(each.startedAt).toBeGreaterThanOrEqual(first?.answeredAt ?? Number.NaN);
  });

  test("a sale is in no lane before its event, also where a scan of its ticket stands before it", async () => {
    const { service, stream } = await openNight([newEvent(), scan("T1"), sale("T1")]);
    expect((await stream({ lanes: 4 })).exitCode).toBe(0);
    expect(takenBy(service).map(nameOf)).toEqual(["newEvent E", "scannedTicket T1", "soldTicket T1"]);
  });
});

describe("a lane that can't go on ends all", () => {
  /** All lanes have a request on its way; the first to come fails. */
  const failing = (lanes: number, status: number, many = 1) => {
    const all = gate(isOfTickets);
    const failed: ServiceRequest[] = [];
    return {
      failed,
      answer: async (request: ServiceRequest) => {
        if (!isOfTickets(request)) return undefined;
        void all.come(lanes).then(all.open);
        const fails = failed.length < many;
        if (fails) failed.push(request);
        await all.pass(request);
        return fails ? { status, body: "what the service says" } : undefined;
      },
    };
  };

  test("a doubt: the others let their request end, store its answer and send nothing more", LONG, async () => {
    const { failed, answer } = failing(2, 500);
    const { service, stream, promised, states, settle, resume } = await openNight(night(10), { answer });
    const { exitCode, said, summary } = await stream({ lanes: 2, chunkSize: 2 });
    expect(exitCode).toBe(6);
    expect(said).toMatch(
      /Stopped: chunk \d+ \(2 actions\) is in doubt: HTTP 500\. Nothing after its request in its lane was sent\./,
    );
    expect(said).toContain("The service said: what the service says");
    expect((await states()).match(/answered|in doubt/g)?.toSorted()).toEqual(["answered", "answered", "in doubt"]);
    expect(summary?.actions).toMatchObject({ accepted: 3, inDoubt: 2, notSent: 16 });
    const [sent, lines] = [service.requests.length, (await promised()).length];
    // Nothing is sent in any lane before a person has settled it.
    service.behave({});
    expect((await stream({ lanes: 2, chunkSize: 2 })).exitCode).toBe(6);
    expect([service.requests.length, (await promised()).length]).toEqual([sent, lines]);
    expect(await settle("not-sent")).toBe(0);
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 2);
    expectInOrder(takenBy(service, ...failed), 10);
    expect(await promised()).toHaveLength(21);
  });

  test.each([
    [403, 5, "did not accept the request"],
    [422, 9, "refused chunk"],
  ])("HTTP %i in one: exit %i, and the others stop", async (status, exit, message) => {
    const { failed, answer } = failing(4, status);
    const { service, stream, resume, settle, states } = await openNight(night(40), { answer });
    const { exitCode, said, summary } = await stream({ lanes: 4, chunkSize: 2 });
    expect([exitCode, summary?.state]).toEqual([exit, "stopped"]);
    expect(said).toContain(message);
    expect(await states()).toContain("planned");
    service.behave({});
    if (status === 422) await settle("not-sent");
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 4);
    expectInOrder(takenBy(service, ...failed), 40);
  });

  test("an update of the event that is refused: no stage behind it begins, however many lanes wait for it", async () => {
    const update: Item = { action: "updateEvent", data: { eventId: "E", eventName: "Fair" } };
    const { service, stream } = await openNight([newEvent(), sale("T0"), update, ...salesOf(8)], {
      answer: ({ items }) =>
        items.some(({ action }) => action === "updateEvent") ? { status: 400, body: "{}" } : undefined,
    });
    expect((await stream({ lanes: 4, chunkSize: 2 })).exitCode).toBe(9);
    expect(takenBy(service).map(nameOf)).toEqual(["newEvent E", "soldTicket T0", "updateEvent E"]);
  });

  test("rejections of all lanes count together", async () => {
    const { stream } = await openNight(
      night(40),
      { failureOf: ({ action }) => (action === "soldTicket" ? { status: "error" } : undefined) },
      "maxRejected: 2",
    );
    const { exitCode, said, summary } = await stream({ lanes: 4, chunkSize: 1 });
    expect([exitCode, summary?.state]).toEqual([9, "stopped"]);
    expect(summary?.actions.rejected).toBeLessThanOrEqual(6);
    expect(said.match(/Stopped: \d actions rejected, more than maxRejected \(2\)\./g)).toHaveLength(1);
  });
});

describe("what counts for all lanes", () => {
  test("a wait after 429: no lane sends before it is over", LONG, async () => {
    const both = gate(isOfTickets);
    let waiting: ServiceRequest | undefined;
    const { service, stream, resume } = await openNight(night(10), {
      answer: async (request) => {
        if (!isOfTickets(request)) return undefined;
        waiting ??= request;
        // Both are there before the first has to wait; the other is answered once that waits.
        if (request !== waiting) await both.pass(request);
        else await both.come(1);
        return request === waiting ? { status: 429, body: "", headers: { "Retry-After": "600" } } : undefined;
      },
    });
    const onDetail = (text: string, asked: Asked): void => {
      if (text.includes("trying again in 10 min")) both.open();
      // The other answer is stored while this one waits; its lane must not have sent anything meanwhile.
      if (text.includes("2 accepted")) asked.stop("SIGTERM");
    };
    const { exitCode } = await stream({ lanes: 2, chunkSize: 2, retries: 8 }, {}, { onDetail });
    expect(exitCode).toBe(143);
    expect(service.requests.filter(isOfTickets)).toHaveLength(2);
    service.behave({});
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 2);
    expectInOrder(takenBy(service, waiting), 10);
  });

  test("retries: a lane that has to wait goes on as long as others get answers", LONG, async () => {
    let left = 6;
    const { service, stream } = await openNight(night(30), {
      answer: (request) => {
        if (!namesOf(request).includes("soldTicket T1,") || left === 0) return undefined;
        left -= 1;
        return { status: 429, body: "", headers: { "Retry-After": "0" } };
      },
    });
    expect((await stream({ lanes: 2, chunkSize: 1, retries: 6 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 2);
  });

  test("rate: what one lane has sent keeps the others waiting", LONG, async () => {
    const { service, stream, resume } = await openNight(salesOf(8));
    const onDetail = (text: string, asked: Asked): void => {
      if (text.includes("accepted")) asked.stop("SIGTERM");
    };
    const { exitCode } = await stream({ lanes: 4, chunkSize: 2, rate: 0.001 }, {}, { onDetail });
    expect([exitCode, service.requests.length]).toEqual([143, 1]);
    expect(await resume()).toBe(0);
  });

  test("the size that a 413 has taught", async () => {
    const { service, stream } = await openNight(night(120), {
      answer: ({ items }) => (items.length > 16 ? { status: 413, body: "" } : undefined),
    });
    expect((await stream({ lanes: 4, chunkSize: 32 })).exitCode).toBe(0);
    expectSpokenAsSpecified(service, 4);
    const isTooLarge = ({ items }: ServiceRequest): boolean => items.length > 16;
    expect(service.requests.filter(isTooLarge).length).toBeLessThanOrEqual(4);
    expectInOrder(takenBy(service, ...service.requests.filter(isTooLarge)), 120);
  });

  async function fourOnTheirWay() {
    const all = gate(isOfTickets);
    const opened = await openNight(night(40), { answer: (request) => all.pass(request).then(() => undefined) });
    let asked: Asked | undefined;
    const running = opened.stream(
      { lanes: 4, chunkSize: 2 },
      {},
      {
        asked: (given) => {
          asked = given;
        },
      },
    );
    await all.come(4);
    return { ...opened, all, running, asked };
  }

  test("the first signal: four requests on their way end, and their answers are stored", LONG, async () => {
    const { all, running, asked, service, states, promised, resume } = await fourOnTheirWay();
    asked?.stop("SIGINT");
    all.open();
    const { exitCode, said, summary } = await running;
    expect([exitCode, summary?.actions]).toMatchObject([130, { accepted: 9, inDoubt: 0, notSent: 72 }]);
    expect(said).toContain("Stopped by SIGINT. Nothing that this command sent is in doubt.");
    expect((await states()).match(/answered/g)).toHaveLength(5);
    expect(await promised()).toHaveLength(9);
    expect(await resume()).toBe(0);
    expectSpokenAsSpecified(service, 4);
    expectInOrder(takenBy(service), 40);
  });

  test("the second signal: four requests are given up, and all four are in doubt", async () => {
    const { all, running, asked, service, open, settle, resume } = await fourOnTheirWay();
    asked?.stop("SIGINT");
    asked?.abort();
    const { exitCode, said, summary } = await running;
    all.open();
    expect([exitCode, summary?.actions]).toMatchObject([6, { accepted: 1, inDoubt: 8, notSent: 72 }]);
    expect(said.match(/chunk \d+ \(2 actions\) is in doubt/g)).toHaveLength(4);
    for (const chunk of await open()) await settle("sent", chunk);
    service.behave({});
    expect(await resume()).toBe(0);
    expectInOrder(takenBy(service), 40);
  });
});
