/** The key shows nowhere, whatever goes wrong; and nothing is sent to where it must not go. */

import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Ended, Workplace } from "../support/bin.ts";
import { freePort, startProxy } from "../support/raw-server.ts";
import { expectSpokenAsSpecified, openSales, type Service, type ServiceOptions } from "../support/service.ts";
import { LONG, testEach } from "../support/walks.ts";

const KEY = "s3cr3t-key-Zm9vYmFy-0123456789";
const COMMAND = ["stream", "sales.csv", "--env", "playground", "TICKETS_RETRIES=0"];
/** Ways of talking that show more than others. */
const TALK: readonly (readonly string[])[] = [[], ["--verbose"], ["--log", "t.log", "--verbose"], ["--json"]];

/** Looks for the secrets, and for what is easily turned back into them, in all that was said and written. */
function expectNowhere(place: Workplace, said: readonly Ended[], ...secrets: readonly string[]): void {
  const files = place.files().map((name) => readFileSync(place.path(name)).toString("latin1"));
  expect(files.length).toBeGreaterThan(0);
  const texts = [...said.flatMap(({ stdout, stderr }) => [stdout, stderr]), ...files];
  for (const secret of [KEY, ...secrets]) {
    const bytes = Buffer.from(secret);
    const forms = [secret, bytes.toString("base64").replaceAll("=", ""), bytes.toString("hex"), encodeURI(secret)];
    for (const form of forms) expect(texts.filter((text) => text.includes(form))).toEqual([]);
  }
}

interface Trouble {
  readonly exitCode: number;
  /** What the environment has beyond its address and its key. */
  readonly env?: Readonly<Record<string, string>>;
  readonly service?: ServiceOptions;
  readonly secrets?: readonly string[];
  readonly nodeArgs?: (place: Workplace) => readonly string[];
  readonly expected?: (said: Ended, service: Service) => void;
}

const saidBack = (status: number, body: string): ServiceOptions => ({
  key: KEY,
  answer: () => ({ status, body: body.replace("%s", KEY) }),
});

/** By a proxy whose address holds a password. */
const behind = (port: number) => ({
  env: {
    TICKETS_PLAYGROUND_BASE_URL: "https://tickets.example.com/v1",
    HTTPS_PROXY: `http://operator:pr0xy-s3cret@127.0.0.1:${port}`,
  },
  secrets: ["pr0xy-s3cret", "operator:"],
});

/** Makes each request of undici fail with the request in the error and in its cause. */
const FAULT = `
  import { EventEmitter } from "node:events";
  const { init } = EventEmitter;
  EventEmitter.init = function (options) {
    init.call(this, options);
    if (this.constructor.name !== "Client") return; // undici's
    this.dispatch = (request) => {
      throw Object.assign(new Error("boom", { cause: new Error(JSON.stringify(request.headers)) }), { request });
    };
  };`;

const TROUBLES: Readonly<Record<string, () => Trouble | Promise<Trouble>>> = {
  "a wrong key": () => ({
    exitCode: 5,
    service: { key: "another" },
    expected({ stderr }, { requests }) {
      expect(requests.map(({ headers }) => headers["x-api-key"])).toEqual([KEY]);
      expect(stderr).toContain("TICKETS_PLAYGROUND_API_KEY");
    },
  }),
  "a service that says it back in a 403": () => ({
    exitCode: 5,
    service: saidBack(403, '{"message":"Forbidden","key":"%s"}'),
  }),
  "a service that says it back in a 400": () => ({ exitCode: 9, service: saidBack(400, "<p>Who is %s?</p>") }),
  "a service that says it back in a 500": () => ({ exitCode: 6, service: saidBack(500, '{"message":"for %s"}') }),
  "a service that says it back in an item": () => ({
    exitCode: 4,
    service: {
      key: KEY,
      failureOf: () => ({ status: "error", message: `for ${KEY}` }),
    },
  }),
  "a proxy that is not there": async () => ({
    exitCode: 7,
    ...behind(await freePort()),
    expected: ({ stderr }) =>
      expect(stderr).toMatch(/Could not reach https:\/\/tickets\.example\.com\S* through the proxy http:\/\/…@127/),
  }),
  "a proxy that refuses": async () => ({ exitCode: 7, ...behind((await startProxy({ status: 407 })).port) }),
  "a proxy that leads nowhere": async () => ({
    exitCode: 7,
    ...behind((await startProxy({ leadsTo: await freePort() })).port),
  }),
  "a fault of the program itself": () => ({
    exitCode: 1,
    nodeArgs: (place) => {
      place.write("fault.mjs", FAULT);
      return ["--import", place.path("fault.mjs")];
    },
    expected: ({ stderr }) => expect(stderr).toContain("a fault in tickets itself: boom"),
  }),
};

test.each(Object.entries(TROUBLES))("the key shows nowhere behind %s", LONG, async (_, troubleOf) => {
  const { exitCode, env, service: behaviour, secrets = [], nodeArgs, expected } = await troubleOf();
  for (const talk of TALK) {
    const { place, service } = await openSales(5, { ...behaviour });
    const ended = await place.tickets([...COMMAND, ...talk], {
      env: { ...service.env, TICKETS_PLAYGROUND_API_KEY: KEY, ...env },
      ...(nodeArgs && { nodeArgs: nodeArgs(place) }),
    });
    expect(ended.exitCode, ended.stderr).toBe(exitCode);
    if (!talk.includes("--json")) expected?.(ended, service);
    expectNowhere(place, [ended], ...secrets);
  }
});

describe("the right key shows nowhere", () => {
  testEach(
    "after a whole run: %j",
    TALK.map((talk) => [talk]),
    TALK.length,
    async ([talk = []]) => {
      const { place, service } = await openSales(5, { key: KEY });
      const said = [
        await place.tickets([...COMMAND, ...talk], service),
        await place.tickets([...COMMAND, ...talk], service),
        await place.tickets(["env", "playground", ...talk.filter((word) => word === "--json")], service),
      ];
      expect(said.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
      expectSpokenAsSpecified(service);
      expectNowhere(place, said);
    },
  );

  test("when it comes from a file that a config names", LONG, async () => {
    const { place, service } = await openSales(5, { key: KEY });
    const environment = `{baseUrl: "${service.baseUrl}", apiKey: {file: key.txt}}`;
    place.write("tickets.config.yaml", `environments: {live: ${environment}}\n`);
    place.write("key.txt", `${KEY}\n`);
    chmodSync(place.path("key.txt"), 0o600);
    const ended = await place.tickets(["stream", "sales.csv", "--env", "live", "--verbose"]);
    expect(ended.exitCode).toBe(0);
    expectSpokenAsSpecified(service);
    rmSync(place.path("key.txt"));
    expectNowhere(place, [ended]);
  });
});

// Which addresses have no https: test/unit/config/values.test.ts.
test("an address without https is exit 2, and nothing is sent, not even to a proxy", async () => {
  const { place, service: proxy } = await openSales(5);
  const env = {
    TICKETS_PLAYGROUND_BASE_URL: "http://127.0.0.1.example.com",
    TICKETS_PLAYGROUND_API_KEY: KEY,
    ...{ HTTP_PROXY: proxy.baseUrl, http_proxy: proxy.baseUrl, HTTPS_PROXY: proxy.baseUrl },
  };
  const ended = await place.tickets([...COMMAND, "--verbose"], { env });
  expect([ended.exitCode, ended.stdout]).toEqual([2, ""]);
  expect(ended.stderr).toMatch(/TICKETS_PLAYGROUND_BASE_URL.*https/s);
  expect(proxy.connections()).toBe(0);
  expect(existsSync(place.path("home/state"))).toBe(false);
  expectNowhere(place, [ended]);
});
