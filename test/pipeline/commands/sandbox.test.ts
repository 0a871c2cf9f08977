import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { makeContext, type Options, verbs } from "../../support/context.ts";
import { send } from "../../support/requests.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "it's sandbox-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const stateFolder = () => join(folder, ".tickets", "sandbox");

/** Runs the command until `use` is done with it. */
async function serving<T>(
  options: Options<"sandbox">,
  use: (url: string, said: () => string) => Promise<T>,
  env: NodeJS.ProcessEnv = {},
): Promise<T> {
  const { context, stop, said, out } = makeContext(folder, { HOME: folder, ...env });
  const ready = Promise.withResolvers<string>();
  const reporter = {
    ...context.reporter,
    out: (text: string) => {
      context.reporter.out(text);
      const url = /BASE_URL=(\S+)/.exec(text)?.[1];
      if (url !== undefined) ready.resolve(url);
    },
  };
  const running = verbs.sandbox({ port: 0, ...options }, { ...context, reporter });
  running.catch(ready.reject);
  try {
    return await use(await ready.promise, () => out() + said());
  } finally {
    stop("SIGINT");
    expect(await running.catch(() => 0)).toBe(0);
  }
}

const post = (url: string, key: string) =>
  send(`${url}/stream`, {
    method: "POST",
    headers: { "X-Api-Key": key, "Content-Type": "application/json" },
    body: '[{"action":"newEvent","data":{"eventId":"E1","currency":"EUR"}}]',
  });

const verdict = async (url: string, key: string) => JSON.parse((await post(url, key)).text).data[0].status;
const keyFile = () => join(stateFolder(), "sandbox.key");
const keptKey = () => readFileSync(keyFile(), "utf8").trim();

describe("the key", () => {
  test("is made once, kept for its owner only, and never shown", async () => {
    await serving({}, async (url, said) => {
      expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
      expect(await verdict(url, keptKey())).toBe("success");
      expect((await post(url, "")).status).toBe(403);
      expect(said()).toContain(`export TICKETS_LOCAL_BASE_URL=${url} TICKETS_LOCAL_API_KEY=$(cat '`);
      expect(said()).toContain("it'\\''s sandbox");
      expect(said()).not.toContain(keptKey());
    });
    const first = keptKey();
    await serving({}, async () => expect(keptKey()).toBe(first));
  });

  test("comes from the environment where it is set", async () => {
    const fromVariable = async (url: string, said: () => string) => {
      expect(await verdict(url, "abc-123")).toBe("success");
      expect((await post(url, "another")).status).toBe(403);
      expect(said()).toContain('TICKETS_LOCAL_API_KEY="$TICKETS_SANDBOX_API_KEY"');
      expect(said()).not.toContain("abc-123");
    };
    await serving({}, fromVariable, { TICKETS_SANDBOX_API_KEY: "abc-123" });
    expect(readdirSync(stateFolder())).not.toContain("sandbox.key");
  });
});

describe("the state", () => {
  test("is kept from start to start, and set aside by a reset", async () => {
    await serving({}, async (url, said) => {
      expect(said()).toContain("(NEW)");
      expect(await verdict(url, keptKey())).toBe("success");
    });
    await serving({}, async (url, said) => {
      expect(said()).not.toContain("(NEW)");
      expect(await verdict(url, keptKey())).toBe("error");
    });
    await serving({ reset: true }, async (url, said) => {
      expect(said()).toMatch(/The old state was set aside as .*service\.db\.\d{4}-[\dT-]+Z\.aside/);
      expect(await verdict(url, keptKey())).toBe("success");
    });
    expect(readdirSync(stateFolder()).filter((name) => name.endsWith(".aside"))).toHaveLength(1);
  });

  test("in use is not reset, nor what belongs to it", async () => {
    const aside = () => readdirSync(stateFolder()).filter((name) => name.startsWith("ledger.db."));
    await serving({}, async () => {
      writeFileSync(join(stateFolder(), "ledger.db"), "");
      await expect(serving({ reset: true }, async () => undefined)).rejects.toMatchObject({ code: "busy" });
    });
    expect(aside()).toEqual([]);
    await serving({ reset: true }, async () => expect(aside()).toHaveLength(1));
  });
});
