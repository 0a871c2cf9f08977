// @module-tag long

/** The job that docs/reference.md shows, killed, by a service of its own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";
import { fixture, openWorkplace, settingsIn } from "../support/bin.ts";
import { blocksOf, noteOf } from "../support/docs/blocks.ts";
import { ROOT, readPage } from "../support/pages.ts";

const SALES = 40;

/** Dies once its second chunk was accepted, whatever is under way then. */
const DIE = `
const { log } = console;
let chunks = 0;
console.log = (...words) => {
  log(...words);
  chunks += words[0] === "chunk" ? 1 : 0;
  if (chunks === 2) process.kill(process.pid, "SIGKILL");
};`;

const firstLines = (path: string, count: number): string =>
  `${readFileSync(path, "utf8").split("\n").slice(0, count).join("\n")}\n`;

test("a job of thirty lines that uses the library alone is killed, and the next one goes on", async () => {
  const place = openWorkplace();
  const job =
    blocksOf(readPage("docs/reference.md")).find((block) => noteOf(block, "file") === "nightly.mjs")?.text ?? "";
  expect(job.split("\n").length).toBeLessThanOrEqual(30);
  place.write("nightly.mjs", job);
  place.write("die.mjs", DIE);
  place.write("events.csv", readFileSync(fixture("events.csv")));
  place.write("sales.csv", firstLines(fixture("sales.csv"), 1 + SALES));
  mkdirSync(place.path("node_modules"));
  symlinkSync(ROOT, place.path("node_modules/ticket-stream"));
  const sandbox = await startSandbox({ engine: { path: ":memory:" } });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const env = {
    ...settingsIn(place.folder),
    TICKETS_ENV: "local",
    TICKETS_LOCAL_BASE_URL: sandbox.url,
    TICKETS_LOCAL_API_KEY: sandbox.apiKey,
    TICKETS_CHUNK_SIZE: "6",
  };
  const run = async (...nodeArgs: readonly string[]) => {
    const child = spawn(process.execPath, [...nodeArgs, "nightly.mjs", "events.csv", "sales.csv"], {
      cwd: place.folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (text: Buffer) => {
      out += text.toString();
    });
    const [exitCode, signal] = await once(child, "close");
    return { exitCode, signal, out };
  };
  const taken = (): readonly string[] => Array.from(sandbox.engine.processed(), ({ data }) => data);

  expect(await run("--import", "./die.mjs")).toMatchObject({ signal: "SIGKILL" });
  const before = taken().length;
  expect([12, 18]).toContain(before);
  let next = await run();
  if (next.exitCode === 6) {
    // The next chunk was under way: what the service has says what became of it.
    const decision = before === 18 ? "--sent" : "--not-sent";
    const [last] = JSON.parse((await place.tickets(["status", "--json"], { env })).stdout).runs;
    const settled = await place.tickets(["settle", last.run, decision, "--reason", "looked", "--json"], { env });
    expect(settled.exitCode).toBe(0);
    next = await run();
  }
  expect(next).toMatchObject({ exitCode: 0, signal: null });
  const sold = firstLines(place.path("sales.csv"), 1 + SALES)
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split(",")[1]);
  const processed = taken().map((data) => JSON.parse(data));
  expect(processed.slice(40).map(({ ticketId }) => ticketId)).toEqual(sold);
  expect(new Set(processed.slice(0, 40).map(({ eventId }) => eventId)).size).toBe(40);
  expect(await run()).toMatchObject({ exitCode: 0, out: expect.stringContaining("streamed: 0 accepted") });
  expect(taken()).toHaveLength(40 + SALES);
});
