/** What is looked at before anything is read or sent: the key, the places of outputs and state, the proxy. */

import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { startProxy } from "../support/raw-server.ts";
import { openPlayground, openSales } from "../support/service.ts";
import { LONG } from "../support/walks.ts";

describe("a key that is not there", () => {
  test("ends the command before its input is opened", async () => {
    const { place, service } = await openPlayground();
    // Whoever reads this waits for ever.
    execFileSync("mkfifo", [place.path("sales.csv")]);
    const ended = await place.tickets(["stream", "sales.csv", "--env", "playground"], {
      env: { TICKETS_PLAYGROUND_BASE_URL: service.baseUrl },
    });
    const message = "environment variable TICKETS_PLAYGROUND_API_KEY is not set";
    expect(ended).toMatchObject({ exitCode: 5, stderr: expect.stringContaining(message) });
    expect(service.connections()).toBe(0);
  });

  test("a command that gives it runs when something is sent, and not for a night without news", async () => {
    const { place, service } = await openSales(2, { key: "the-key-of-the-test" });
    place.write(
      "c.yaml",
      `environments: {live: {baseUrl: "${service.baseUrl}", apiKey: {command: [sh, -c, "echo x >> ran; echo the-key-of-the-test"]}}}\n`,
    );
    const command = ["stream", "sales.csv", "--env", "live", "--config", "c.yaml"];
    expect((await place.tickets([...command, "--dry-run"])).exitCode).toBe(0);
    expect(existsSync(place.path("ran"))).toBe(false);
    for (const _ of [1, 2]) expect((await place.tickets(command)).exitCode).toBe(0);
    expect(place.read("ran")).toBe("x\n");
  });
});

describe("the place of an output", () => {
  test("is made with the folders that are missing above it", LONG, async () => {
    const place = openWorkplace();
    place.write("events.csv", "eventId,currency\nE-1,EUR\n");
    const commands = [
      ["stream", "events.csv", "-o", "a/b/promises.ndjson"],
      ["plan", "events.csv", "-o", "c/d/actions.ndjson"],
      ["results", "-o", "e/f/again.csv"],
      ["init", "events.csv", "-o", "g/h/config.yaml"],
    ];
    for (const args of commands) {
      expect(await place.tickets(args)).toMatchObject({ exitCode: 0 });
      expect(existsSync(place.path(args.at(-1) ?? ""))).toBe(true);
    }
  });

  test("is not made through a link that leads nowhere", LONG, async () => {
    const place = openWorkplace();
    place.write("events.csv", "eventId,currency\nE-1,EUR\n");
    symlinkSync("elsewhere", place.path("out.ndjson"));
    expect((await place.tickets(["stream", "events.csv"])).exitCode).toBe(0);
    const again = ["stream", "--resend", "events.csv", "-o", "out.ndjson"];
    const { exitCode, stderr } = await place.tickets(again);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("a link to a file that does not exist")]);
    // The event is registered already, which the service says.
    expect((await place.tickets([...again, "--move-aside"])).exitCode).toBe(4);
    expect(lstatSync(place.path("out.ndjson")).isFile()).toBe(true);
    expect(readdirSync(place.folder).some((name) => name.endsWith(".aside"))).toBe(true);
    // What is written whole takes the place of the link.
    for (const args of [
      ["plan", "events.csv", "-o"],
      ["results", "-o"],
    ]) {
      const name = `${args[0]}.ndjson`;
      symlinkSync("elsewhere", place.path(name));
      expect((await place.tickets([...args, name])).exitCode).toBe(0);
      expect(lstatSync(place.path(name)).isFile()).toBe(true);
    }
    expect(existsSync(place.path("elsewhere"))).toBe(false);
  });
});

test.skipIf(process.platform !== "linux")("a home in /proc ends the command with a sentence", async () => {
  const { place, service } = await openSales(1);
  const env = { ...service.env, HOME: "/proc", XDG_STATE_HOME: "", XDG_CONFIG_HOME: "" };
  const { exitCode, stderr } = await place.tickets(["stream", "sales.csv", "--env", "playground"], { env });
  expect([exitCode, stderr]).toEqual([
    10,
    expect.stringContaining("can't be created (its file system allows no folders)"),
  ]);
  expect(service.connections()).toBe(0);
});

/** Where NO_PROXY excepts the service: test/unit/send/client.test.ts. */
test("a proxy that asks for a login is asked once, and named without it, also by tickets env", LONG, async () => {
  const place = openWorkplace();
  const proxy = await startProxy({ status: 407 });
  place.write("events.csv", "eventId,currency\nE-1,EUR\n");
  const env = {
    TICKETS_PLAYGROUND_BASE_URL: "https://api.example.com",
    TICKETS_PLAYGROUND_API_KEY: "k",
    HTTPS_PROXY: `http://ann:s3cret@127.0.0.1:${proxy.port}`,
  };
  const { exitCode, stderr } = await place.tickets(["stream", "events.csv", "--env", "playground"], { env });
  expect([exitCode, proxy.asked]).toEqual([7, ["api.example.com:443"]]);
  const shown = `http://…@127.0.0.1:${proxy.port}`;
  expect(stderr.split("\n")[0]).toContain(`through the proxy ${shown}`);
  expect(stderr).toContain(`The proxy ${shown} asks for a user name and password (407), and was not tried again.`);
  expect(stderr).not.toContain("s3cret");
  const { stdout } = await place.tickets(["env", "playground"], { env });
  expect(stdout).toMatch(/^ {2}proxy +http:\/\/…@127\.0\.0\.1:\d+ +\(HTTPS_PROXY\)$/m);
});
