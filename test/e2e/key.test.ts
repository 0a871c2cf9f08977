/** The key lets one in, and shows nowhere; and nothing is sent to where it must not go. */

import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Ended, openWorkplace, type Workplace } from "../support/bin.ts";
import { expectSpokenAsSpecified, startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";
import { forWalks } from "../support/walks.ts";

const KEY = "s3cr3t-key-Zm9vYmFy-0123456789";
const COMMAND = ["stream", "sales.csv", "--env", "playground"];

function openSales(): Workplace {
  const place = openWorkplace({ isWarm: true });
  place.write("sales.csv", salesTable(5));
  return place;
}

/** Looks for the key, and for what is easily turned back into it, in all that was said and written. */
function expectNoKey(place: Workplace, said: readonly Ended[], key = KEY): void {
  const bytes = Buffer.from(key);
  const forms = [key, bytes.toString("base64").replaceAll("=", ""), bytes.toString("hex"), encodeURIComponent(key)];
  const files = place.files();
  expect(files.length).toBeGreaterThan(0);
  for (const form of forms) {
    for (const { stdout, stderr } of said) {
      expect(stdout).not.toContain(form);
      expect(stderr).not.toContain(form);
    }
    const holding = files.filter((name) => readFileSync(place.path(name)).includes(form));
    expect(holding).toEqual([]);
  }
}

/** Ways of talking that show more than others. */
const TALK: readonly (readonly string[])[] = [[], ["--verbose"], ["TICKETS_LOG_FORMAT=json", "--verbose"], ["--json"]];

describe("a wrong key", () => {
  test.each(TALK)(
    "ends the run with 5 after one request and shows nowhere: %s %s %s",
    { tags: ["long"] },
    async (...talk) => {
      const place = openSales();
      const service = await startService();
      const env = { ...service.env, TICKETS_PLAYGROUND_API_KEY: KEY };
      const words = talk.filter((word) => word !== undefined);
      const ended = await place.tickets([...COMMAND, ...words, "TICKETS_CHUNK_SIZE=2"], { env });
      expect(ended.exitCode).toBe(5);
      expect(service.requests).toHaveLength(1);
      expect(service.requests[0]?.headers["x-api-key"]).toBe(KEY);
      expect(ended.stderr).toContain("TICKETS_PLAYGROUND_API_KEY");
      expect(ended.stderr).toContain("playground");
      expect(place.files().some((name) => name.endsWith("ledger.db"))).toBe(true);
      expectNoKey(place, [ended]);
    },
  );
});

describe("the right key", () => {
  const NAME = "shows nowhere after a whole run: %s %s %s";
  const showsNowhere = async (...talk: readonly string[]): Promise<void> => {
    const place = openSales();
    const service = await startService({ key: KEY });
    const words = talk.filter((word) => word !== undefined);
    const said = [
      await place.tickets([...COMMAND, ...words], service),
      await place.tickets([...COMMAND, ...words], service),
      await place.tickets(["env", "playground", ...words.filter((word) => word === "--json")], service),
    ];
    expect(said.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expectSpokenAsSpecified(service);
    expectNoKey(place, said);
  };
  test.each(forWalks(TALK, 8).short)(NAME, showsNowhere);
  test.each(forWalks(TALK, 8).long)(NAME, { tags: ["long"] }, showsNowhere);

  test.each([
    [403, 5, '{"message":"Forbidden","key":"%s"}'],
    [403, 5, "<p>Who is %s?</p>"],
    [400, 9, '{"message":"for %s"}'],
    [500, 6, '{"message":"for %s"}'],
    [200, 4, '{"data":[{"status":"error","message":"for %s"}]}'],
  ])(
    "shows nowhere although the service says it back: %i, exit %i, %s",
    { tags: ["long"] },
    async (status, exit, body) => {
      const place = openSales();
      place.write("sales.csv", salesTable(1));
      const service = await startService({ key: KEY, answer: () => ({ status, body: body.replace("%s", KEY) }) });
      const ended = await place.tickets([...COMMAND, "--verbose"], service);
      expect(ended.exitCode).toBe(exit);
      expectNoKey(place, [ended]);
    },
  );

  test("may come from a file that a config names", { tags: ["long"] }, async () => {
    const place = openWorkplace({ isWarm: true });
    const service = await startService({ key: KEY });
    place.write("sales.csv", salesTable(5));
    place.write(
      "tickets.config.yaml",
      `environments:\n  live:\n    baseUrl: ${service.baseUrl}\n    apiKey: {file: key.txt}\n`,
    );
    place.write("key.txt", `${KEY}\n`);
    chmodSync(place.path("key.txt"), 0o600);
    const ended = await place.tickets(["stream", "sales.csv", "--env", "live", "--verbose"]);
    expect(ended.exitCode).toBe(0);
    expectSpokenAsSpecified(service);
    rmSync(place.path("key.txt"));
    expectNoKey(place, [ended]);
  });
});

describe("an address without https", () => {
  // Which addresses those are: test/unit/config/base-url.test.ts.
  const ADDRESSES = forWalks(
    ["http://127.0.0.1.example.com", "http://192.0.2.1", "http://tickets.example.com/v1", "http://10.0.0.1:80"],
    4,
  );
  const NAME = "%s is exit 2, and nothing is sent, not even to a proxy";
  const isRefused = async (baseUrl: string): Promise<void> => {
    const place = openSales();
    const proxy = await startService();
    const env = {
      TICKETS_PLAYGROUND_BASE_URL: baseUrl,
      TICKETS_PLAYGROUND_API_KEY: KEY,
      HTTP_PROXY: proxy.baseUrl,
      http_proxy: proxy.baseUrl,
      HTTPS_PROXY: proxy.baseUrl,
    };
    const ended = await place.tickets([...COMMAND, "--verbose"], { env });
    expect(ended.exitCode).toBe(2);
    expect(ended.stdout).toBe("");
    expect(ended.stderr).toContain("TICKETS_PLAYGROUND_BASE_URL");
    expect(ended.stderr).toMatch(/https/);
    expect(proxy.connections()).toBe(0);
    expect(existsSync(place.path("home/state"))).toBe(false);
    expectNoKey(place, [ended]);
  };
  test.each(ADDRESSES.short)(NAME, isRefused);
  test.each(ADDRESSES.long)(NAME, { tags: ["long"] }, isRefused);
});
