/** Exports that hold only what changed, or one row per ticket, without times: where a state comes back, it is not sent, and said. */

import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ActionName } from "../../src/actions/actions.ts";
import { makeContext, type Options, verbs } from "../support/context.ts";
import type { Summary } from "../support/counts.ts";
import { randomOf } from "../support/random.ts";
import { type Item, startService } from "../support/service.ts";
import { forWalks } from "../support/walks.ts";

interface Problem {
  readonly line: number;
  readonly rule: string;
}

interface Night {
  readonly exitCode: number;
  readonly said: string;
  readonly actions: Summary["actions"];
}

/** A service that takes all but what a test lets it reject, beside a folder of exports. */
async function openWorld(failureOf: (item: Item) => boolean = () => false) {
  const folder = await mkdtemp(join(tmpdir(), "tickets-came-back-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const accepted: Item[] = [];
  const service = await startService({
    failureOf: (item) => {
      if (failureOf(item)) return { status: "failed", reason: "not tonight" };
      accepted.push(item);
      return undefined;
    },
  });
  const env = {
    HOME: folder,
    TICKETS_ENV: "playground",
    TICKETS_STATE_DIR: join(folder, "state"),
    ...service.env,
  };
  const write = async (name: string, ...rows: readonly string[]): Promise<void> => {
    await writeFile(join(folder, name), `${rows.join("\n")}\n`);
    const aWhileAgo = new Date(Date.now() - 3_600_000);
    await utimes(join(folder, name), aWhileAgo, aWhileAgo);
  };
  const config = (...rows: readonly string[]): Promise<void> =>
    write("tickets.config.yaml", "environments: {playground: {maxRejected: 100000}}", ...rows);
  await config();
  const send = async (names: readonly string[], options: Partial<Options<"stream">> = {}): Promise<Night> => {
    const asked = makeContext(folder, env);
    const exitCode = await verbs.stream(
      {
        files: names,
        output: "promises.ndjson",
        maxInvalid: { rows: 1000 },
        json: true,
        flags: { retries: 0 },
        ...options,
      },
      asked.context,
    );
    return {
      exitCode,
      said: asked.said(),
      actions: (JSON.parse(asked.out()) as Summary).actions,
    };
  };
  const problemsOf = async (name: string, action: ActionName): Promise<readonly Problem[]> => {
    const asked = makeContext(folder, env);
    await verbs.validate({ files: [name], json: true, flags: {}, action, maxProblems: 100_000 }, asked.context);
    return (JSON.parse(asked.out()) as { readonly problems: readonly Problem[] }).problems; // `--json` of a command that ran
  };
  const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  return { write, read, config, send, problemsOf, accepted };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Kinds whose last one counts: their files, and a row that gives a ticket or event a state. */
const KINDS = {
  updateTicket: {
    file: "updates",
    header: "ticketId,imageUrl",
    row: (id: string, s: string) => `${id},https://i.example/${s}.png`,
  },
  updateEvent: {
    file: "event-updates",
    header: "eventId,eventName",
    row: (id: string, s: string) => `${id},Gala ${s}`,
  },
  resoldTicket: {
    file: "resales",
    header: "ticketId,userId,price",
    row: (id: string, s: string) => `${id},user-${s},10.00`,
  },
  claimedTicket: { file: "claims", header: "ticketId,userId", row: (id: string, s: string) => `${id},user-${s}` },
} as const;
type Kind = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as readonly Kind[]; // its own keys

/** Streams the states of some tickets or events as one file. */
async function show(
  world: World,
  kind: Kind,
  name: string,
  states: Readonly<Record<string, string>>,
  options: Partial<Options<"stream">> = {},
): Promise<Night> {
  const { header, row } = KINDS[kind];
  await world.write(name, header, ...Object.entries(states).map(([id, state]) => row(id, state)));
  return world.send([name], { action: kind, ...options });
}

const stateIn = ({ data }: Item): string =>
  /.*?(\w)(?:\.png)?$/.exec(String(data.imageUrl ?? data.eventName ?? data.userId))?.[1] ?? "";
const states = ({ accepted }: World): string => accepted.map(stateIn).join(" ");

const RULE = "state-came-back";

describe("a state that comes back", () => {
  const comesBack = async (kind: Kind, first: string, third: string): Promise<void> => {
    const world = await openWorld();
    await show(world, kind, first, { X: "a" });
    await show(world, kind, first === third ? first : "2.csv", { X: "b" });
    const told = await show(world, kind, third, { X: "a" });
    expect(told).toMatchObject({ exitCode: 0, actions: { accepted: 0, alreadySent: 1 } });
    const since = first === third ? first : "2.csv";
    expect(told.said).toMatch(new RegExp(`${RULE}: ${third}:2 .*\\(${first}:2\\).*\\(run \\w{8}, ${since}:2\\)`));
    // Each night, until someone decides; and what is new beside it is sent.
    const next = await show(world, kind, "4.csv", { X: "a", Y: "c" });
    expect(next.said).toContain(`${RULE}: 4.csv:2`);
    expect(next.actions).toMatchObject({ accepted: 1 });
    expect((await show(world, kind, "alone.csv", { X: "a" }, { again: true })).actions).toMatchObject({
      accepted: 1,
    });
    const last = await show(world, kind, "5.csv", { X: "a", Y: "c" });
    expect(last.said).not.toContain(RULE);
    expect(states(world)).toBe("a b c a");
  };
  const FILES = forWalks(
    KIND_NAMES.flatMap((kind) => [[kind, "one.csv", "one.csv"] as const, [kind, "1.csv", "3.csv"] as const]),
    3,
  );
  const NAME = "of %s, first in %s and then in %s, is told with what was accepted since, and sent with --again";
  test.each(FILES.short)(NAME, comesBack);
  test.each(FILES.long)(NAME, { tags: ["long"] }, comesBack);

  test("is told once per ticket, of the row that says it last", async () => {
    const world = await openWorld();
    for (const state of ["a", "b", "c"]) await show(world, "updateTicket", `${state}.csv`, { T: state });
    const { row, header } = KINDS.updateTicket;
    await world.write("updates.csv", header, row("T", "a"), row("T", "b"));
    const { said } = await world.send(["updates.csv"]);
    expect(said.match(/state-came-back/g)).toHaveLength(1);
    expect(said).toContain(`${RULE}: updates.csv:3`);
  });

  test("is told of a claim that stands twice", async () => {
    const world = await openWorld();
    for (const state of ["a", "b"]) await show(world, "claimedTicket", `${state}.csv`, { T: state });
    const { row, header } = KINDS.claimedTicket;
    await world.write("claims.csv", header, row("T", "a"), row("T", "a"));
    const { said } = await world.send(["claims.csv"]);
    expect(said.match(/state-came-back/g)).toHaveLength(1);
  });

  test("of one field is told beside later updates of others", { tags: ["long"] }, async () => {
    const world = await openWorld();
    const header = "ticketId,imageUrl,mediaUrl";
    for (const [name, row] of [
      ["1.csv", "T,https://i.example/a.png,"],
      ["2.csv", "T,https://i.example/b.png,"],
      ["3.csv", "T,,https://i.example/m.mp4"],
    ] as const) {
      await world.write(name, header, row);
      await world.send([name], { action: "updateTicket" });
    }
    await world.write("4.csv", header, "T,https://i.example/a.png,");
    const told = await world.send(["4.csv"], { action: "updateTicket" });
    expect(told.said).toMatch(/state-came-back: 4.csv:2 .*\(run \w{8}, 2.csv:2\)/);
  });

  test("after a source lost its key is told too", async () => {
    const world = await openWorld();
    const source = (key: string): Promise<void> =>
      world.config(
        "sources:",
        `  s: {match: "*.csv", ${key}actions: [{updateTicket: {fields: {ticketId: "{T}", imageUrl: "https://i.example/{S}.png"}}}]}`,
      );
    await source('key: "{N}", ');
    for (const [number, state] of ["a", "b"].entries()) {
      await world.write(`${number}.csv`, "T,S,N", `T,${state},${number}`);
      await world.send([`${number}.csv`]);
    }
    await source("");
    await world.write("2.csv", "T,S,N", "T,a,2");
    expect((await world.send(["2.csv"])).said).toContain(RULE);
    expect(states(world)).toBe("a b");
  });
});

describe("where a source was given a key, or lost it", () => {
  const FIELDS: Readonly<Record<string, string>> = {
    updateTicket: 'fields: {ticketId: "{T}", imageUrl: "https://i.example/{S}.png"}',
    resoldTicket: 'fields: {ticketId: "{T}", userId: "user-{S}", price: "10.00"}',
    claimedTicket: 'fields: {ticketId: "{T}", userId: "user-{S}"}',
  };
  const KEYS: Readonly<Record<string, string>> = { n: "", k: 'key: "{T}", ', c: 'key: "{T}-{N}", ' };

  /** A word a night: which key there is (none, the ticket, one that changes with each change), and the state. */
  async function nightsOf(kind: string, nights: string) {
    const world = await openWorld();
    const told: string[] = [];
    for (const [night, [key = "", state = ""]] of nights.split(" ").entries()) {
      await world.config("sources:", `  s: {match: "*.csv", ${KEYS[key]}actions: [{${kind}: {${FIELDS[kind]}}}]}`);
      await world.write("states.csv", "T,S,N", `T,${state},${night}`);
      const { said, actions } = await world.send(["states.csv"]);
      told.push(said.includes(RULE) ? "told" : actions.accepted === 1 ? "sent" : "known");
    }
    return { told: told.join(" "), states: states(world) };
  }

  test.each([
    ["updateTicket", "na nb ka", "sent sent told", "a b"],
    ["resoldTicket", "na nb ka", "sent sent told", "a b"],
    ["claimedTicket", "na nb ka", "sent sent told", "a b"],
    ["updateTicket", "na kb na", "sent sent told", "a b"],
    ["claimedTicket", "na kb na", "sent sent told", "a b"],
    ["updateTicket", "na nb ca cb", "sent sent told known", "a b"],
    ["updateTicket", "na nb cc ca", "sent sent sent told", "a b c"],
    ["claimedTicket", "na nb cc ca", "sent sent sent told", "a b c"],
    ["updateTicket", "ca cb ca", "sent sent sent", "a b a"],
  ])("%s, %s: %s", async (kind, nights, expected, sent) => {
    expect(await nightsOf(kind, nights)).toEqual({ told: expected, states: sent });
  });

  test("what the input has under the key is nothing that came since", async () => {
    const world = await openWorld();
    const source = (key: string): Promise<void> =>
      world.config("sources:", `  s: {match: "*.csv", ${key}actions: [{updateTicket: {${FIELDS.updateTicket}}}]}`);
    const rows = ["T,a,1", "T,b,2"];
    await source("");
    await world.write("states.csv", "T,S,N", ...rows);
    await world.send(["states.csv"]);
    await source(KEYS.c ?? "");
    for (const row of ["T,c,3", "T,d,4"]) {
      rows.push(row);
      await world.write("states.csv", "T,S,N", ...rows);
      expect(await world.send(["states.csv"])).toMatchObject({ exitCode: 0, actions: { accepted: 1 } });
    }
    await world.write("states.csv", "T,S,N", ...rows, "S,x,5");
    expect((await world.send(["states.csv"])).said).not.toContain(RULE);
    expect(states(world)).toBe("a b c d x");
  });
});

describe("a row of an older state is no news", { tags: ["long"] }, () => {
  const image = (name: string): string => `https://i.example/${name}.png`;
  const HEADER = "ticketId,imageUrl,mediaUrl";
  const update = (state: string): string => `T,${image(state)},`;

  /** `a` and then `b`, each in a file of its own. */
  async function changedTwice(): Promise<World> {
    const world = await openWorld();
    for (const state of ["a", "b"]) {
      await world.write(`updates-${state}.csv`, HEADER, update(state));
      expect((await world.send([`updates-${state}.csv`])).actions).toMatchObject({ accepted: 1 });
    }
    return world;
  }

  test.each<[string, rows: readonly string[]]>([
    ["where the later one stands beside it", [update("a"), update("b")]],
    ["where the later one stands before it", [update("b"), update("a")]],
    ["where a new one follows", [update("a"), update("c")]],
    ["where a row is invalid that may be the later one", [update("a"), `T,${image("b")} ,no url`]],
  ])("%s", async (_, rows) => {
    const world = await changedTwice();
    await world.write("updates.csv", HEADER, ...rows);
    expect((await world.send(["updates.csv"])).said).not.toContain(RULE);
  });

  test("where the last one stands before it and another one is gone", async () => {
    const world = await changedTwice();
    await world.write("updates-c.csv", HEADER, update("c"));
    await world.send(["updates-c.csv"]);
    await world.write("updates.csv", HEADER, update("c"), update("a"));
    expect((await world.send(["updates.csv"])).said).not.toContain(RULE);
  });

  test("where another file of the run has the later one", async () => {
    const world = await changedTwice();
    await world.write("updates-0.csv", HEADER, update("a"), `S,${image("x")},`);
    expect((await world.send(["updates-0.csv", "updates-b.csv"])).said).not.toContain(RULE);
  });

  test("where its file is streamed once more as it was", async () => {
    const world = await changedTwice();
    expect((await world.send(["updates-a.csv"])).said).not.toContain(RULE);
    // Changed otherwise, it may be a new export.
    await world.write("updates-a.csv", HEADER, update("a"), `S,${image("x")},`);
    expect((await world.send(["updates-a.csv"])).said).toContain(RULE);
  });

  test("where --limit leaves rows out", async () => {
    const world = await changedTwice();
    await world.write("updates.csv", HEADER, update("a"), update("b"));
    expect((await world.send(["updates.csv"], { limit: 1 })).said).not.toContain(RULE);
  });

  test("where the later one changed another field", async () => {
    const world = await openWorld();
    await world.write("1.csv", HEADER, update("a"));
    await world.write("2.csv", HEADER, "T,,https://i.example/m.mp4");
    for (const name of ["1.csv", "2.csv"]) await world.send([name], { action: "updateTicket" });
    await world.write("3.csv", HEADER, update("a"), `S,${image("x")},`);
    expect((await world.send(["3.csv"], { action: "updateTicket" })).said).not.toContain(RULE);
  });

  test("where the later one came by another source", async () => {
    const world = await openWorld();
    const actions = 'actions: [{resoldTicket: {fields: {ticketId: "{T}", userId: "{U}", price: "1"}}}]';
    await world.config("sources:", ...["a", "b"].map((name) => `  ${name}: {match: "${name}*.csv", ${actions}}`));
    await world.write("a.csv", "T,U", "T,ann");
    await world.write("b.csv", "T,U", "T,bob");
    for (const name of ["a.csv", "b.csv"]) expect((await world.send([name])).actions).toMatchObject({ accepted: 1 });
    await world.write("a.csv", "T,U", "T,ann", "S,ann");
    expect((await world.send(["a.csv"])).said).not.toContain(RULE);
    // Without their sources nobody knows that they tell of different things.
    await world.config("sources:", `  c: {match: "*.csv", ${actions}}`);
    await world.write("a.csv", "T,U", "T,ann", "S,ann", "R,ann");
    expect((await world.send(["a.csv"])).said).toContain(RULE);
  });

  test("where it comes from rejects", { tags: ["long"] }, async () => {
    let isRejected = true;
    const world = await openWorld(() => isRejected);
    await world.write("updates.csv", HEADER, update("a"), `S,${image("x")},`);
    await world.send(["updates.csv"]);
    isRejected = false;
    const rejects = await world.read("updates.rejects.csv");
    expect((await world.send(["updates.rejects.csv"])).actions).toMatchObject({ accepted: 2 });
    await world.write("updates-1.csv", HEADER, update("b"));
    await world.send(["updates-1.csv"]);
    await world.write("updates.rejects.csv", ...rejects.split("\n").slice(0, 2));
    const again = await world.send(["updates.rejects.csv"]);
    expect(again).toMatchObject({ exitCode: 0, actions: { accepted: 0, total: 1 } });
    expect(again.said).not.toContain(RULE);
    expect(states(world)).toBe("a x b");
  });
});

/** Rules that tell of a row that is not sent. */
const TOLD: ReadonlySet<string> = new Set([RULE, "history-late", "history-superseded", "history-unclear"]);

const idOf = ({ data }: Item): string => String(data.ticketId ?? data.eventId);

async function play(kind: (typeof KIND_NAMES)[number], seed: number): Promise<void> {
  const random = randomOf(seed);
  let isHonest = true;
  const rejected = new Set<string>();
  const world = await openWorld((item) => {
    const isRejected = !isHonest && random() < 0.2;
    if (isRejected) rejected.add(idOf(item));
    return isRejected;
  });
  const [hasOneName, hasAllRows, isRemedied] = [random() < 0.5, random() < 0.5, random() < 0.5];
  const now = new Map<string, string>();
  for (let night = 0; night < 8; night += 1) {
    const changed = Array.from({ length: 30 }, (_, number) => `X${number}`).filter(() => random() < 0.4);
    for (const id of changed) {
      const others = ["a", "b", "c"].filter((state) => state !== now.get(id));
      now.set(id, others[Math.floor(random() * others.length)] ?? "");
    }
    const shown = [...now].filter(([id]) => hasAllRows || changed.includes(id));
    const name = hasOneName ? "all.csv" : `night-${night}.csv`;
    isHonest = random() < 0.3;
    rejected.clear();
    await show(world, kind, name, Object.fromEntries(shown));
    isHonest = true;
    const problems = await world.problemsOf(name, kind);
    const last = new Map(world.accepted.map((item) => [idOf(item), stateIn(item)]));
    const rulesOf = (at: number): readonly string[] =>
      problems.filter(({ line }) => line === at + 2).map(({ rule }) => rule);
    for (const [at, [id, state]] of shown.entries()) {
      const story = `night ${night}: ${id} is ${state}, was ${world.accepted.filter((item) => idOf(item) === id).map(stateIn)}`;
      if (last.get(id) === state) expect(rulesOf(at), story).not.toContain(RULE);
      else if (!rejected.has(id))
        expect(
          rulesOf(at).some((rule) => TOLD.has(rule)),
          story,
        ).toBe(true);
    }
    const cameBack = shown.filter((_, at) => rulesOf(at).includes(RULE));
    if (isRemedied && cameBack.length > 0)
      await show(world, kind, `again-${night}.csv`, Object.fromEntries(cameBack), { again: true });
  }
}

const WORLD = "the service has what an export shows, or the row is told: %s, world %i";
const WORLDS = forWalks(
  [1, 2, 3, 4].flatMap((seed) => KIND_NAMES.map((kind) => [kind, seed] as const)),
  11,
);

test.each(WORLDS.short)(WORLD, play);
test.each(WORLDS.long)(WORLD, { tags: ["long"] }, play);
