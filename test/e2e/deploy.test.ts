// @module-tag long

/** What deploy/ does in a container, done without one. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { openWorkplace } from "../support/bin.ts";
import { ROOT, readPage } from "../support/pages.ts";
import { freePort } from "../support/raw-server.ts";
import { until } from "../support/until.ts";

test("compose.yaml: the job streams the season to the sandbox, and its ledger knows", async () => {
  const { services } = parse(readPage("deploy/compose.yaml"));
  const place = openWorkplace();
  const port = String(await freePort());
  /** As in the containers, with their folders and their port in the places of this test. */
  const here = (text: string): string => text.replace("4010", port).replace(/^\/exports/, join(ROOT, "fixtures"));
  const settings = (service: string): Record<string, string> => ({
    ...Object.fromEntries(
      Object.entries<string>(services[service].environment).map(([name, value]) => [name, here(value)]),
    ),
    TICKETS_STATE_DIR: place.path(service),
  });
  let stop = (): void => undefined;
  let said = "";
  const served = place.tickets(services.sandbox.command.map(here), {
    env: settings("sandbox"),
    onSpawn: (child) => {
      stop = () => child.kill("SIGTERM");
      child.stderr?.on("data", (text) => {
        said += text;
      });
    },
  });
  await until(() => said.includes(`127.0.0.1:${port}`));
  const health: readonly string[] = services.sandbox.healthcheck.test;
  execFileSync(process.execPath, health.slice(2).map(here), { stdio: "ignore" });
  const streamed = await place.summary(services.stream.command.map(here), { env: settings("stream") });
  expect(streamed.summary).toMatchObject({ environment: "rehearsal", exitCode: 0 });
  const healthy = ["status", "--max-age", "26h", "--quiet"];
  expect((await place.tickets(healthy, { env: settings("stream") })).exitCode).toBe(0);
  stop();
  expect((await served).exitCode).toBe(0);
});

test("the steps of the image give a package with the locked production dependencies, whose bin answers", () => {
  const place = openWorkplace();
  for (const name of ["build", "packed", "opt", "opt/tickets"]) mkdirSync(place.path(name));
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const isIgnored = /^test\//; // as .dockerignore says
  for (const file of files.split("\0").filter((name) => name !== "" && !isIgnored.test(name)))
    cpSync(join(ROOT, file), place.path(`build/${file}`), { recursive: true });
  // What the first step installs, as `npm ci` of this checkout has.
  symlinkSync(join(ROOT, "node_modules"), place.path("build/node_modules"));
  const [built = ""] = readPage("deploy/Dockerfile")
    .split(/^FROM .*$/m)
    .slice(1);
  const [install, ...steps] = [...built.matchAll(/^RUN (.*)$/gm)].map(([, step = ""]) => step);
  expect(install).toBe("npm ci --ignore-scripts --no-audit --no-fund");
  for (const step of steps)
    execFileSync("sh", ["-e", "-c", step.replaceAll(/(?<![\w.])\/(?=packed|opt)/g, `${place.folder}/`)], {
      cwd: place.path("build"),
      stdio: "pipe",
    });
  const bin = place.path("opt/tickets/bin/tickets.js");
  const { version, dependencies } = JSON.parse(readPage("package.json"));
  expect(execFileSync(process.execPath, [bin, "--version"], { encoding: "utf8" })).toBe(`${version}\n`);
  const installed = readdirSync(place.path("opt/tickets/node_modules"));
  expect(installed).toEqual(expect.arrayContaining(Object.keys(dependencies).map((name) => name.split("/")[0])));
  expect(installed.filter((name) => ["typescript", "vitest", "rolldown"].includes(name))).toEqual([]);
});
