import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type RunSandboxOptions, runSandbox } from "../../../src/commands/sandbox.ts";
import { send } from "../../support/requests.ts";

let folder: string;
let statePath: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "it's sandbox-"));
  statePath = join(folder, "state", "sandbox.sqlite");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** Runs the command until `use` is done with it. */
async function serving<T>(
  options: Partial<RunSandboxOptions>,
  use: (url: string, said: () => string) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const ready = Promise.withResolvers<string>();
  let out = "";
  let err = "";
  const io = {
    out: {
      write: (text: string) => {
        out += text;
        const url = /BASE_URL=(\S+)/.exec(out)?.[1];
        if (url !== undefined) ready.resolve(url);
      },
    },
    err: { write: (text: string) => (err += text) },
  };
  const running = runSandbox({ statePath, port: 0, env: {}, ...options }, io, stop.signal);
  running.catch(ready.reject);
  try {
    return await use(await ready.promise, () => out + err);
  } finally {
    stop.abort();
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
const keyFile = () => join(folder, "state", "sandbox.key");
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
    await serving({ env: { TICKETS_SANDBOX_API_KEY: "abc-123" } }, async (url, said) => {
      expect(await verdict(url, "abc-123")).toBe("success");
      expect(said()).toContain('TICKETS_LOCAL_API_KEY="$TICKETS_SANDBOX_API_KEY"');
      expect(said()).not.toContain("abc-123");
    });
    await serving({ keyEnv: "MY_KEY", env: { MY_KEY: "x", TICKETS_SANDBOX_API_KEY: "y" } }, async (url) => {
      expect((await post(url, "x")).status).toBe(200);
      expect((await post(url, "y")).status).toBe(403);
    });
    expect(readdirSync(join(folder, "state"))).not.toContain("sandbox.key");
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
      expect(said()).toMatch(/The old state was set aside as .*sandbox\.sqlite\.\d{4}-[\dT-]+Z\.aside/);
      expect(await verdict(url, keptKey())).toBe("success");
    });
    expect(readdirSync(join(folder, "state")).filter((name) => name.endsWith(".aside"))).toHaveLength(1);
  });

  test("in use is not reset, nor what belongs to it", async () => {
    let resets = 0;
    const afterReset = async () => {
      resets += 1;
    };
    await serving({}, async () => {
      await expect(serving({ reset: true, afterReset }, async () => undefined)).rejects.toMatchObject({ code: "busy" });
    });
    expect(resets).toBe(0);
    await serving({ reset: true, afterReset }, async () => expect(resets).toBe(1));
  });
});
