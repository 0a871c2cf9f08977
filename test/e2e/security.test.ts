/** What must not be believed, be written through or grow: control characters, names, links, bombs. What the key must not: key.test.ts. */

import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Ended, openWorkplace } from "../support/bin.ts";
import { expectSpokenAsSpecified, openSales } from "../support/service.ts";
import { readPromises, salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const SEND = ["stream", "sales.csv", "--env", "playground"];

// ---- control characters ----

/** Colours, a window title, a C1 sequence, a change of direction, a line that claims to be ours. */
const HOSTILE = "\u001b[31mX\u001b]0;pwn\u0007\u009b31m\u202egnp.\u2066\rY\u007f";
// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may reach a terminal
const UNPRINTABLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const FORGED = `\nerror: forged`;

function expectPrintable({ stdout, stderr, args }: Ended): void {
  expect(stderr, args.join(" ")).not.toMatch(UNPRINTABLE);
  expect(stderr).not.toMatch(/^error: forged/m);
  expect(stdout, args.join(" ")).not.toMatch(UNPRINTABLE);
}

describe("what came from elsewhere reaches a terminal without control characters", () => {
  const file = `sales-${HOSTILE.replace("/", "")}${FORGED}.csv`;

  test("from names of files, columns and cells", LONG, async () => {
    const { place, service } = await openSales(5);
    place.write(
      file,
      `eventId,ticketId,userId,price,orderTime,"${HOSTILE}${FORGED}"\n"${HOSTILE}","${HOSTILE}${FORGED}",u,"1${HOSTILE}",${HOSTILE.replace("\r", "")},x\nE-1,T-1,u,1.00,1,"${HOSTILE}"\n`,
    );
    const commands = [
      ["validate", file],
      ["plan", file, "--preview"],
      ["plan", file, "-o", "out.ndjson"],
      ["stream", file, "--env", "playground"],
      ["stream", file, "--env", "playground", "--max-invalid", "1", "--verbose"],
      ["status", "--env", "playground"],
      ["validate", `missing-${file}`],
      ["stream", "sales.csv", "-o", `${HOSTILE}/promises.ndjson`, "--env", "playground"],
      ["results", HOSTILE, "--env", "playground"],
      ["settle", HOSTILE, "--env", "playground", "--sent", "--reason", HOSTILE],
      ["init", file],
      ["validate", file],
    ];
    for (const command of commands) expectPrintable(await place.tickets(command, service));
    expect(place.files().some((name) => name.includes("rejects"))).toBe(true);
  });

  test("from what was typed", async () => {
    const { place } = await openSales(5);
    for (const command of [
      [HOSTILE],
      ["stream", `--${HOSTILE}`],
      ["stream", "sales.csv", "--action", HOSTILE],
      ["stream", "sales.csv", `TICKETS_CHUNK_SIZE=${HOSTILE}`],
      ["stream", "sales.csv", "--env", HOSTILE],
      ["stream", "sales.csv", `TICKETS_TIMEOUT=${HOSTILE}`],
      ["stream", "sales.csv", "--config", HOSTILE],
      ["validate", "sales.csv", "--source", HOSTILE],
      ["validate", "sales.csv", "--encoding", HOSTILE],
      ["validate", "sales.csv", "--format", HOSTILE],
      ["sandbox", "--faults", HOSTILE],
      ["schema", HOSTILE],
    ]) {
      const ended = await place.tickets(command);
      expect(ended.exitCode).toBe(2);
      expectPrintable(ended);
    }
  });

  test("from the config and the environment's variables", LONG, async () => {
    const { place } = await openSales(5);
    const yaml = JSON.stringify(HOSTILE + FORGED); // YAML takes JSON's strings
    place.write("names.yaml", `environments: {${yaml}: {baseUrl: x}}\nsources: {${yaml}: {}}\nrules: {${yaml}: off}\n`);
    place.write(
      "values.yaml",
      `environments: {live: {baseUrl: "https://a.example", apiKey: {file: ${yaml}}, output: ${yaml}, stateDir: ${yaml}}}\nsources: {orders: {match: "sales*", fields: {eventId: ${yaml}}, actions: [{soldTicket: {fields: {price: {from: ${yaml}}}}}]}}\n`,
    );
    for (const config of ["names.yaml", "values.yaml"])
      for (const command of [
        ["env"],
        ["env", "live"],
        ["validate", "sales.csv"],
        [...SEND.slice(0, 2), "--env", "live"],
      ])
        expectPrintable(await place.tickets([...command, "--config", config]));
    for (const variable of [
      "TICKETS_ENV",
      "TICKETS_CONFIG",
      "TICKETS_STATE_DIR",
      "TICKETS_PLAYGROUND_BASE_URL",
      "HTTPS_PROXY",
    ]) {
      const env = {
        TICKETS_PLAYGROUND_BASE_URL: "https://a.example",
        TICKETS_PLAYGROUND_API_KEY: "k",
        [variable]: HOSTILE,
      };
      for (const command of [["env"], [...SEND, "TICKETS_RETRIES=0", "TICKETS_TIMEOUT=1s"]])
        expectPrintable(await place.tickets(command, { env: { TICKETS_ENV: "playground", ...env } }));
    }
  });

  test.each([200, 302, 400, 403, 500])("from an answer of %i", LONG, async (status) => {
    const { place, service } = await openSales(2);
    const item = { status: HOSTILE, message: HOSTILE + FORGED, ticketId: "T-1" };
    const data = [
      item,
      { status: "success", action: "soldTicket", eventId: "E-1", ticketId: HOSTILE, actionPromise: "x" },
    ];
    service.behave({
      answer: () => ({
        status,
        body: JSON.stringify({ [HOSTILE]: HOSTILE + FORGED, data }).replaceAll("\\u001b", "\u001b"),
      }),
    });
    for (const talk of [[], ["--verbose"]]) expectPrintable(await place.tickets([...SEND, ...talk], service));
    const { stdout } = await place.tickets(["status", "--env", "playground", "--json"], service);
    const { run } = JSON.parse(stdout).runs[0];
    expectPrintable(await place.tickets(["status", run, "--env", "playground"], service));
    expectPrintable(await place.tickets(["settle", run, "--env", "playground", "--reason", HOSTILE], service));
  });

  test("from the item of a rejected action", LONG, async () => {
    const { place, service } = await openSales(2);
    service.behave({ failureOf: () => ({ status: HOSTILE, message: HOSTILE + FORGED }) });
    const ended = await place.tickets([...SEND, "--verbose"], service);
    expect(ended.exitCode).toBe(4);
    expectPrintable(ended);
  });
});

test("the next command can be pasted into a shell, whatever a file is called", LONG, async () => {
  const { place, service } = await openSales(5);
  const name = `it's; touch pwned; $(touch pwned) & "x".csv`;
  place.write(name, "eventId,ticketId,userId,price,orderTime\nE-1,T-1,u,1,1\nE-1,T-2,u,2,2\n");
  service.behave({ failureOf: ({ data }) => (data.ticketId === "T-2" ? { status: "error" } : undefined) });
  const command = ["stream", name, "--action", "soldTicket", "--env", "playground"];
  const first = await place.summary(command, service);
  expect(first.summary.exitCode).toBe(4);
  service.behave({});
  const next = first.summary.next ?? "";
  const words = `"$@" >/dev/null; printf '%s\\n' ${next.replace(/^tickets /, "")}`;
  const { stdout } = await place.tickets(["--version"], { shell: words });
  expect(stdout.split("\n").slice(0, 2)).toEqual(["stream", `it's; touch pwned; $(touch pwned) & "x".rejects.csv`]);
  expect(existsSync(place.path("pwned"))).toBe(false);
});

// ---- paths, links, permissions ----

test("an input elsewhere, by whatever way, leaves its outputs in the working directory", LONG, async () => {
  const { place, service } = await openSales(5);
  mkdirSync(place.path("exports/deep"), { recursive: true });
  mkdirSync(place.path("work"));
  place.write("exports/deep/sales-a.csv", salesTable(2));
  place.write("exports/sales-b.csv", salesTable(2, { first: 11 }));
  symlinkSync("../exports/sales-b.csv", place.path("work/sales-c.csv"));
  service.behave({ failureOf: () => ({ status: "error" }) });
  const inputs = ["../exports/deep/../deep/*.csv", place.path("exports/deep/sales-a.csv"), "sales-c.csv"];
  for (const input of inputs)
    expect(
      await place.tickets(["stream", input, "--env", "playground"], { ...service, shell: 'cd work && "$@"' }),
    ).toMatchObject({ exitCode: 4 });
  const written = place.files().filter((name) => /promises|rejects/.test(name));
  expect(written.length).toBeGreaterThanOrEqual(3);
  expect(written.filter((name) => !name.startsWith("work/"))).toEqual([]);
  expect(readdirSync(place.path("exports"))).toEqual(["deep", "sales-b.csv"]);
});

describe("links", () => {
  test("of the user's own at the output are followed", LONG, async () => {
    const { place, service } = await openSales(5);
    mkdirSync(place.path("archive"));
    place.write("archive/promises.ndjson", "");
    symlinkSync("archive/promises.ndjson", place.path("promises.ndjson"));
    const command = [...SEND, "-o", "promises.ndjson"];
    expect(await place.tickets(command, service)).toMatchObject({ exitCode: 0 });
    place.write("sales.csv", salesTable(7));
    expect(await place.tickets(command, service)).toMatchObject({ exitCode: 0 });
    expect(readPromises(place.read("archive/promises.ndjson"))).toHaveLength(7);
    expect(lstatSync(place.path("promises.ndjson")).isSymbolicLink()).toBe(true);
  });

  test("to something of another kind are not written through", LONG, async () => {
    const { place, service } = await openSales(5);
    place.write("precious.txt", "precious\n");
    symlinkSync("precious.txt", place.path("promises.playground.ndjson"));
    expect(await place.tickets(SEND, service)).toMatchObject({ exitCode: 2 });
    expect(service.connections()).toBe(0);
    rmSync(place.path("promises.playground.ndjson"));
    symlinkSync("precious.txt", place.path("sales.rejects.csv"));
    service.behave({ failureOf: () => ({ status: "error" }) });
    expect(await place.tickets(SEND, service)).toMatchObject({ exitCode: 4 });
    expect(place.read("precious.txt")).toBe("precious\n");
  });

  test("in the temporary folder that another user may have prepared are not followed", LONG, async () => {
    const { place, service } = await openSales(5);
    mkdirSync(place.path("theirs"), { mode: 0o777 });
    symlinkSync(place.path("theirs"), place.path(`tmp/tickets-${process.getuid?.()}`));
    expect((await place.tickets(SEND, service)).exitCode).toBe(0);
    expect(readdirSync(place.path("theirs"))).toEqual([]);
  });
});

test("everything of the state is for its owner alone, at all times, whatever the umask", LONG, async () => {
  const { place, service } = await openSales(30);
  const seen = new Map<string, number>();
  const look = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      seen.set(path.slice(place.folder.length).replace(/[0-9a-f]{8,}/g, "…"), lstatSync(path).mode & 0o777);
      if (entry.isDirectory()) look(path);
    }
  };
  service.behave({
    answer: () => {
      for (const folder of ["home/state", "tmp"]) look(place.path(folder));
      return undefined;
    },
  });
  const ended = await place.tickets([...SEND, "TICKETS_CHUNK_SIZE=10", "--order", "time"], {
    ...service,
    shell: 'umask 000; "$@"',
  });
  expect(ended.exitCode).toBe(0);
  look(place.path("home/state"));
  const names = [...seen.keys()].join("\n");
  for (const part of [
    "ledger.db",
    "ledger.db-wal",
    "ledger.db-shm",
    "environment.lock",
    "environment.lock.holder",
    "ballast",
    "journal.ndjson",
  ])
    expect(names).toContain(part);
  expect([...seen].filter(([, mode]) => (mode & 0o077) !== 0)).toEqual([]);
});

// ---- names of prototypes ----

test("__proto__, constructor and their like are names like any other", LONG, async () => {
  const { place, service } = await openSales(5);
  place.write(
    "watch.mjs",
    `const names = Object.getOwnPropertyNames(Object.prototype).join();
    process.on("exit", () => {
      if (Object.getOwnPropertyNames(Object.prototype).join() !== names || "polluted" in {}) process.stderr.write("POLLUTED\\n");
    });`,
  );
  const nodeArgs = ["--import", place.path("watch.mjs")];
  place.write(
    "sales.csv",
    "eventId,ticketId,userId,price,orderTime,__proto__,constructor,toString\nE-1,__proto__,u,1,1,a,b,c\n__proto__,constructor,u,1,1,a,b,c\nconstructor,toString,__proto__,1,1,a,b,c\nE-1,T-4,u,1,1,a,b,c\n",
  );
  place.write(
    "sales.ndjson",
    '{"__proto__":{"polluted":1},"eventId":"E-1","ticketId":"T-5","userId":"u","price":"1","orderTime":1,"constructor":{"prototype":{"polluted":1}}}\n',
  );
  place.write(
    "payload.ndjson",
    '{"action":"soldTicket","data":{"eventId":"E-1","ticketId":"T-6","userId":"u","price":"1","__proto__":{"polluted":1}}}\n{"action":"__proto__","data":{}}\n{"action":"constructor","data":{"constructor":1}}\n',
  );
  service.behave({
    answer: ({ items }) => {
      const accept = ({ action, data }: (typeof items)[number], at: number) =>
        `{"__proto__":{"polluted":1},"status":"success","action":"${action}","eventId":${JSON.stringify(data.eventId)},"ticketId":${JSON.stringify(data.ticketId)},"actionPromise":"p-${at}"}`;
      const reject =
        '{"status":"error","__proto__":{"polluted":1,"status":"success"},"constructor":{"prototype":{"polluted":2}}}';
      const data = items.map((item, at) => (item.data.ticketId === "T-4" ? reject : accept(item, at)));
      return { status: 200, body: `{"__proto__":{"polluted":1,"data":[]},"constructor":{},"data":[${data.join()}]}` };
    },
  });
  const options = { ...service, nodeArgs };
  const { stderr, summary } = await place.summary(
    ["stream", "sales.csv", "sales.ndjson", "--env", "playground"],
    options,
  );
  expect(summary).toMatchObject({ exitCode: 4, actions: { total: 5, accepted: 4, rejected: 1 } });
  expectSpokenAsSpecified(service);
  expect(service.sent().map(({ data }) => data.ticketId)).toEqual([
    "__proto__",
    "constructor",
    "toString",
    "T-4",
    "T-5",
  ]);
  expect(place.read("sales.rejects.csv")).toMatch(
    /^eventId,ticketId,userId,price,orderTime,__proto__,constructor,toString,/,
  );
  expect(place.read("promises.playground.ndjson")).toContain('"response":{"status":"error","__proto__":{"polluted":1');

  const refused = await place.tickets(["validate", "payload.ndjson", "--json"], options);
  expect(JSON.parse(refused.stdout).counts).toMatchObject({ errors: 3 });
  place.write(
    "evil.yaml",
    "environments: {__proto__: {polluted: 1}}\nsources: {__proto__: {polluted: 1}}\nrules: {constructor: warn}\n__proto__: {polluted: 1}\n",
  );
  place.write("evil.json", '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  const configs = [];
  for (const file of ["evil.yaml", "evil.json"]) configs.push(await place.tickets(["env", "--config", file], options));
  expect(configs.map(({ exitCode }) => exitCode)).toEqual([2, 2]);
  for (const said of [stderr, refused.stderr, ...configs.map((each) => each.stderr)])
    expect(said).not.toContain("POLLUTED");
});

// ---- configs ----

describe("settings of the library that finds configs, of whoever made the folder", () => {
  const orders = {
    searchPlaces: ["evil.yaml"],
    mergeSearchPlaces: false,
    ignoreEmptySearchPlaces: true,
    packageProp: ["evil"],
    stopDir: "/",
  };
  const evil = { environments: { evil: { baseUrl: "https://api.example.com" } } };
  const asData = JSON.stringify({ cosmiconfig: { ...orders, cosmiconfig: orders }, tickets: evil });
  const mark = `require("node:fs").writeFileSync(process.cwd() + "/RAN", "");`;
  const markModule = `import { writeFileSync } from "node:fs"; writeFileSync(process.cwd() + "/RAN", "");`;
  const settings: Readonly<Record<string, string>> = {
    "package.json": JSON.stringify({ cosmiconfig: { ...orders, cosmiconfig: orders }, evil }),
    "package.yaml": asData,
    ".config/config.json": asData,
    ".config/config.yaml": asData,
    ".config/config.yml": asData,
    ".config/config.js": `${mark} module.exports = ${asData};`,
    ".config/config.cjs": `${mark} module.exports = ${asData};`,
    ".config/config.mjs": `${markModule} export default ${asData};`,
    ".config/config.ts": `${markModule} export default ${asData};`,
    ".config/ticketsrc": asData,
    ".config/ticketsrc.js": `${mark} module.exports = ${asData};`,
  };
  // Of several, the library takes the first: each also lies there alone.
  const isHarmless = async (names: readonly string[]): Promise<void> => {
    const place = openWorkplace();
    place.write("tickets.config.yaml", "environments:\n  a:\n    baseUrl: https://api.example.com\n");
    place.write("evil.yaml", "environments:\n  evil:\n    baseUrl: https://api.example.com\n");
    mkdirSync(place.path(".config"));
    for (const name of names) place.write(name, settings[name] ?? "");
    const { stdout } = await place.tickets(["env", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      environments: [{ name: "a" }, { name: "sandbox" }],
      configFiles: [place.path("tickets.config.yaml")],
    });
    expect(existsSync(place.path("RAN"))).toBe(false);
  };
  test("all of them: nothing runs, and nothing is obeyed", () => isHarmless(Object.keys(settings)));
  test.each(Object.keys(settings))("%s: nothing runs, and nothing is obeyed", LONG, (name) => isHarmless([name]));
});

// ---- bombs ----

describe("a file that grows a thousandfold when it is unpacked", () => {
  /** 16 MiB of it are packed once; packed files may stand one behind the other. */
  const MIB = 512;
  const pack = { gz: gzipSync, zst: zstdCompressSync };
  const bomb = (format: "gz" | "zst", head: string, unit: string): Buffer => {
    const part = pack[format](Buffer.alloc(16 * 1024 * 1024, unit));
    return Buffer.concat([pack[format](Buffer.from(head)), ...Array<Buffer>(MIB / 16).fill(part)]);
  };
  const HEADER = "eventId,ticketId,userId,price,orderTime\n";

  async function validate(name: string, content: Buffer, ...more: readonly string[]) {
    const place = openWorkplace();
    expect(content.length).toBeLessThan(1_000_000);
    place.write(name, content);
    place.write("small.yaml", "environments: {sandbox: {maxInputBytes: 1000000}}\n");
    place.write("rss.mjs", 'process.on("exit", () => console.error("maxRSS", process.resourceUsage().maxRSS));');
    const ended = await place.tickets(["validate", name, "--action", "soldTicket", ...more], {
      nodeArgs: ["--import", place.path("rss.mjs")],
    });
    return { ...ended, rssMib: Number(/maxRSS (\d+)/.exec(ended.stderr)?.[1]) / 1024 };
  }

  test.each<[string, Buffer]>([
    ["sales.csv.gz", bomb("gz", HEADER, "x")],
    ["sales.csv.zst", bomb("zst", HEADER, "x")],
    ["sales.csv.gz", bomb("gz", `${HEADER}"`, "x")],
    ["sales.ndjson.gz", bomb("gz", '{"a":"', "x")],
    ["sales.json.gz", bomb("gz", "", "[")],
    ["sales.json.zst", bomb("zst", '[{"a":"', "x")],
  ])("%s is a problem, or refused, and memory stays flat", LONG, async (name, content) => {
    const { exitCode, stderr, rssMib } = await validate(name, content);
    expect([2, 3]).toContain(exitCode);
    expect(stderr).not.toContain("a fault in tickets");
    expect(rssMib).toBeGreaterThan(20);
    expect(rssMib).toBeLessThan(MIB);
  });

  test("stops at maxInputBytes", LONG, async () => {
    const { exitCode, stderr, rssMib } = await validate(
      "sales.csv.gz",
      bomb("gz", HEADER, "\n"),
      "--env=sandbox",
      "--config=small.yaml",
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain("sales.csv.gz holds more than 1000000 bytes (maxInputBytes of the environment).");
    expect(rssMib).toBeLessThan(MIB);
  });
});
