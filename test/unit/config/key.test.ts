import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { format, inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { KeySource } from "../../../src/config/declared.ts";
import type { Environment } from "../../../src/config/environment.ts";
import { Key, keyPresence, readKey } from "../../../src/config/key.ts";
import { Failure } from "../../../src/failure.ts";
import { failureOf, PROJECT } from "../../support/config-files.ts";
import { openFolders } from "./folders.ts";

const SECRET = "5EcReT-k3y";
const never = () => new AbortController().signal;

const A = { envFlag: "a", env: { TICKETS_A_BASE_URL: "https://api.example.com" } };

/** An environment whose key is at `keySource`. */
async function environmentWith(keySource: KeySource): Promise<Environment> {
  await using folders = await openFolders();
  return { ...(await folders.resolve(A)), keySource };
}

const read = async (keySource: KeySource, env: NodeJS.ProcessEnv = {}, commandLimitMs = 600_000) =>
  readKey(await environmentWith(keySource), never(), { env: { PATH: process.env.PATH, ...env }, commandLimitMs });

const variable = { env: "A_KEY" };
const command = (...args: readonly string[]) => ({
  program: { command: [process.execPath, ...args], directory: process.cwd() },
});
const script = (text: string, ...args: readonly string[]) => command("-e", text, ...args);

function expectNoSecret(value: unknown): void {
  const shown = [inspect(value, { depth: 10, showHidden: true }), format("%s %o %j", value, value, value)];
  if (value instanceof Error) shown.push(value.message, String(value.stack), JSON.stringify(value));
  for (const text of shown) expect(text).not.toContain("5EcReT");
}

describe("a key", () => {
  test("can't leak by accident", () => {
    const key = new Key(SECRET);
    const holder = { key, list: [key], map: new Map([["k", key]]) };
    const shown = [
      `${key}`,
      String(key),
      ["x", key].join(""),
      JSON.stringify(key),
      JSON.stringify(holder),
      inspect(key),
      inspect(holder, { depth: 9, showHidden: true, customInspect: false }),
      format("%s %o %O %j %d", key, key, key, key, key),
      String(new Error("x", { cause: key }).cause),
      inspect(new Error(`x ${key}`, { cause: key })),
      JSON.stringify(structuredClone(holder)),
      JSON.stringify(Object.entries(key)),
      JSON.stringify({ ...key }),
    ];
    for (const text of shown) expect(text).not.toContain("5EcReT");
    expect(`${key}`).toBe("[key]");
    expect(key.reveal()).toBe(SECRET);
  });
});

describe("where a key is read from", () => {
  test("a variable", async () => {
    expect((await read(variable, { A_KEY: SECRET })).reveal()).toBe(SECRET);
  });

  test("a file, without line end, byte order mark and the blanks around it", async () => {
    await using folders = await openFolders();
    const ends = ["", "\n", "\r\n", "\n\n", " "].map((end) => `${SECRET}${end}`);
    for (const text of [...ends, `\ufeff${SECRET}`, `  ${SECRET}\t\r\n`, `\ufeff ${SECRET}\u00a0\n`]) {
      const key = await read({ file: await folders.write("key", text) });
      expect([key.reveal(), key.warning]).toEqual([SECRET, undefined]);
    }
  });

  test.skipIf(process.platform === "win32")("a file that others can read: with a warning", async () => {
    await using folders = await openFolders();
    const path = await folders.write("key", SECRET);
    for (const mode of [0o644, 0o640, 0o606]) {
      await chmod(path, mode);
      const key = await read({ file: path });
      expect(key.warning).toBe(`The key file ${path} is readable by others; chmod 600 keeps it private.`);
    }
  });

  test("a command's stdout, without a shell and without input", async () => {
    const key = await read(
      script(
        "process.stdin.on('data', () => {}).on('end', () => console.log(process.argv[1] + process.env.MORE))",
        "$HOME;`a`",
      ),
      { MORE: SECRET },
    );
    expect(key.reveal()).toBe(`$HOME;\`a\`${SECRET}`);
  });
});

describe("a key that is not there or can't be one ends in exit 5, naming its source and not the value", () => {
  test.each([
    ["not set", undefined, "is not set"],
    ["empty", "", "is empty"],
    ["a blank inside", `${SECRET} x`, "contains blanks or line breaks"],
    ["two lines", `${SECRET}\nx`, "contains blanks or line breaks"],
    ["a byte order mark", `\ufeff${SECRET}`, "contains blanks or line breaks"],
    ["a control character", `${SECRET}\u0007`, "contains characters that no key can have"],
    ["a damaged character", `${SECRET}\ufffd`, "contains characters that no key can have"],
  ])("variable: %s", async (_name, value, message) => {
    const failure = await failureOf(read(variable, { A_KEY: value }));
    expect(failure.code).toBe("authentication-failed");
    expect(failure.message).toContain("No key for a: environment variable A_KEY ");
    expect(failure.message).toContain(message);
    expectNoSecret(failure);
  });

  test("file: missing, a folder, empty, too large, not text", async () => {
    await using folders = await openFolders();
    await mkdir(join(folders.root, "folder"));
    const cases = [
      [join(folders.root, "gone"), "does not exist"],
      [join(folders.root, "folder"), "is a folder"],
      [await folders.write("empty", "\n"), "is empty"],
      [await folders.write("large", SECRET.repeat(2000)), "is too large"],
      [await folders.write("two", `${SECRET}\nexport X=1\n`), "contains blanks or line breaks"],
      [await folders.write("inside", `${SECRET} ${SECRET}\n`), "contains blanks or line breaks"],
    ] as const;
    for (const [path, why] of cases) {
      const failure = await failureOf(read({ file: path }));
      expect(failure).toMatchObject({
        code: "authentication-failed",
        message: `No key for a: file ${path} ${why}${why.startsWith("contains") ? ", which no key does" : ""}.`,
      });
      expectNoSecret(failure);
    }
  });

  test.each([
    [
      "exit code",
      script(`console.log("${SECRET}"); console.error("${SECRET}"); process.exit(3)`, SECRET),
      "ended with exit code 3",
    ],
    ["a signal", script("process.kill(process.pid, 'SIGTERM')"), "was killed (SIGTERM)"],
    [
      "endless output",
      script(`setInterval(() => console.log("${SECRET}".repeat(1000)), 0)`),
      "printed too much for a key",
    ],
    ["no such program", { program: { command: ["no-such-program-here", SECRET], directory: "/" } }, "was not found"],
    ["an impossible argument", command(`${SECRET}\0`), "can't be run as it is written"],
  ])("command: %s", async (_name, source, message) => {
    const failure = await failureOf(read(source));
    expect(failure.code).toBe("authentication-failed");
    expect(failure.message).toContain(message);
    expectNoSecret(failure);
  });

  test("command: one that does not end is ended", async () => {
    const failure = await failureOf(read(script("setInterval(() => {}, 1000)"), {}, 100));
    expect(failure).toMatchObject({
      code: "authentication-failed",
      message: expect.stringContaining("did not end within 0.1 s"),
    });
  });

  test("an abort ends the wait for a command with its reason", async () => {
    const controller = new AbortController();
    const reason = new Failure("stopped-early", "stopped");
    const waiting = readKey(await environmentWith(script("setInterval(() => {}, 1000)")), controller.signal, {
      env: {},
    });
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  test("the hint says what to do and where the source is named", async () => {
    await using folders = await openFolders({
      [PROJECT]: "environments:\n  a:\n    apiKey: {env: TICKETS_SHOP_KEY}\n",
    });
    expect(await failureOf(readKey(await folders.resolve(A), never(), { env: A.env }))).toMatchObject({
      hint: `Set TICKETS_SHOP_KEY to the key that you were given for a. It is named by ${join(folders.root, PROJECT)}:3.`,
    });
  });
});

describe("keyPresence looks without reading or running", () => {
  test("each kind", async () => {
    await using folders = await openFolders();
    const path = await folders.write("key", SECRET);
    expect(await keyPresence(variable, { A_KEY: SECRET })).toBe("set");
    expect(await keyPresence(variable, {})).toBe("not set");
    expect(await keyPresence({ file: path }, {})).toBe("set");
    expect(await keyPresence({ file: `${path}x` }, {})).toBe("not set");
    expect(await keyPresence(script("process.exit(1)"), {})).toBe("not run");
    expect(await keyPresence({}, {})).toBe("built in");
  });
});
