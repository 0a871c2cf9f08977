/** The package that `npm pack` makes of a checkout: what is in it, and what somebody has who installs it without a checkout. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { linksIn, ROOT, readPage } from "../support/pages.ts";
import { startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const shown = { encoding: "utf8", stdio: "pipe", maxBuffer: 64 * 1024 * 1024 } as const;

/** What git would commit, with the installed packages; packing rewrites package.json for a moment, so never in the checkout itself. */
function copyCheckout(folder: string): void {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    ...shown,
    cwd: ROOT,
  });
  for (const file of files.split("\0").filter((name) => name !== "")) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file));
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", [...args, "--loglevel=error", "--no-audit", "--no-fund"], { ...shown, cwd });
}

/** Packs a copy of the checkout; gives the path of the tarball. */
function pack(place: Workplace): string {
  const checkout = place.path("checkout");
  mkdirSync(checkout);
  copyCheckout(checkout);
  const manifest = readFileSync(join(checkout, "package.json"), "utf8");
  npm(["pack"], checkout);
  expect(readFileSync(join(checkout, "package.json"), "utf8"), "the checkout keeps its own").toBe(manifest);
  return join(checkout, `ticket-stream-${JSON.parse(manifest).version}.tgz`);
}

test("holds all that its pages link to, and a manifest without what only a checkout needs", LONG, () => {
  const place = openWorkplace();
  const tarball = pack(place);
  execFileSync("tar", ["xzf", tarball], { cwd: place.folder });
  const files = new Set(place.files().flatMap((path) => (path.startsWith("package/") ? [path.slice(8)] : [])));
  for (const name of [
    "LICENSE",
    "SECURITY.md",
    "bin/tickets.js",
    "dist/main.js",
    "dist/index.js",
    "dist/index.d.ts",
    "fixtures/sales.csv",
    "fixtures/faults/gateway.yaml",
  ])
    expect([...files]).toContain(name);
  expect([...files].filter((path) => /^(src|test|scripts|node_modules)\//.test(path))).toEqual([]);

  const missing = [...files]
    .filter((page) => page.endsWith(".md"))
    .flatMap((page) => linksIn(place.read(join("package", page))).map((target) => ({ page, target })))
    .filter(({ page, target }) => {
      const path = posix.join(posix.dirname(page), target.split("#")[0] ?? "");
      return !target.startsWith("#") && !files.has(path) && ![...files].some((file) => file.startsWith(`${path}/`));
    });
  expect(missing).toEqual([]);

  const manifest = JSON.parse(place.read("package/package.json"));
  expect(manifest).toMatchObject({
    name: "ticket-stream",
    bin: { tickets: "bin/tickets.js" },
    engines: { node: ">=22.19" },
  });
  for (const key of ["scripts", "devDependencies", "allowScripts"]) expect(manifest).not.toHaveProperty(key);

  const [, megabytes] = /takes less than (\d+) MB packed/.exec(readPage("docs/design/dependencies.md")) ?? [];
  expect(statSync(tarball).size).toBeLessThan(Number(megabytes) * 1_000_000);
  // Its types are found by whoever imports it; a CommonJS program can't `require` it.
  execFileSync(join(ROOT, "node_modules/.bin/attw"), [tarball, "--profile", "esm-only"], shown);
});

test("installed in an empty folder, tells its version and streams to the sandbox", LONG, async () => {
  const place = openWorkplace();
  const tarball = pack(place);
  mkdirSync(place.path("empty"));
  npm(["install", tarball, "--prefer-offline"], place.path("empty"));
  const installed = place.path("empty/node_modules/.bin/tickets");
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: place.path("home") };
  const tickets = (...args: string[]) => execFileSync(installed, args, { ...shown, cwd: place.path("empty"), env });
  expect(tickets("--version").trim()).toBe(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
  const season = place.path("empty/node_modules/ticket-stream/fixtures");
  expect(JSON.parse(tickets("stream", `${season}/events.csv`, "--json"))).toMatchObject({
    environment: "sandbox",
    exitCode: 0,
    actions: { total: 40, accepted: 40 },
  });
});

describe("on a Node that is too old", () => {
  /** Makes Node call itself 20.1.0, as the bin sees it. */
  const old = 'Object.defineProperty(process.versions, "node", { value: "20.1.0" });';

  /** The bin in a folder of packages, and beside it, perhaps, another Node. */
  function install(place: Workplace, node?: string): void {
    mkdirSync(place.path("at/ticket-stream/bin"), { recursive: true });
    for (const name of ["dist", "package.json"]) symlinkSync(join(ROOT, name), place.path(`at/ticket-stream/${name}`));
    cpSync(join(ROOT, "bin/tickets.js"), place.path("at/ticket-stream/bin/tickets.js"));
    if (node === undefined) return;
    mkdirSync(dirname(place.path(node)), { recursive: true });
    writeFileSync(place.path(node), `#!/bin/sh\nprintf 'carried '\nexec '${process.execPath}' "$@"\n`);
    chmodSync(place.path(node), 0o755);
  }

  /** In a group of its own, so that a signal can reach both processes, as a terminal gives it. */
  const start = (place: Workplace, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawn(
      process.execPath,
      [
        "--import",
        `data:text/javascript,${encodeURIComponent(old)}`,
        place.path("at/ticket-stream/bin/tickets.js"),
        ...args,
      ],
      {
        cwd: place.folder,
        detached: true,
        env: { PATH: process.env.PATH, HOME: place.path("home"), ...env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );

  async function run(place: Workplace, args: readonly string[]) {
    const child = start(place, args);
    const [out, err, [code]] = await Promise.all([
      Array.fromAsync<Buffer>(child.stdout),
      Array.fromAsync<Buffer>(child.stderr),
      once(child, "close"),
    ]);
    return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
  }

  test.each([["at/ticket-stream/node_modules/node/bin/node"], ["at/node/bin/node"]])(
    "the one at %s is started instead, with the same arguments",
    async (node) => {
      const place = openWorkplace();
      install(place, node);
      const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
      expect(await run(place, ["--version"])).toEqual({ code: 0, stdout: `carried ${version}\n`, stderr: "" });
      expect(await run(place, ["stream"])).toMatchObject({ code: 2, stderr: expect.stringContaining("files") });
    },
  );

  test("without another one, a sentence says so", async () => {
    const place = openWorkplace();
    install(place);
    expect(await run(place, ["--version"])).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^error: tickets needs Node 22\.19 or newer; this is 20\.1\.0\. Install a current Node, .*\n$/,
      ),
    });
  });

  test.each([
    ["that both get, as from a terminal, counts once", (pid: number) => process.kill(-pid, "SIGTERM")],
    ["that only the old one gets is passed on", (pid: number) => process.kill(pid, "SIGTERM")],
  ])("a signal %s: the request in flight is finished", async (_name, signal) => {
    const place = openWorkplace();
    install(place, "at/node/bin/node");
    place.write("sales.csv", salesTable(4));
    const asked = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    const service = await startService({
      answer: () => {
        asked.resolve();
        return heard.promise.then(() => undefined);
      },
    });
    const child = start(place, ["stream", "sales.csv", "--env", "playground"], {
      ...service.env,
      TICKETS_CHUNK_SIZE: "2",
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("stopping after the request in flight")) heard.resolve();
    });
    child.stdout.resume();
    const closed = once(child, "close");
    await Promise.race([asked.promise, closed]);
    signal(child.pid ?? 0);
    await Promise.race([heard.promise, closed]);
    expect(await closed, said).toEqual([143, null]);
    expect(service.requests).toHaveLength(1);
    expect(said).toContain("2 accepted, 2 not sent");
  });
});
