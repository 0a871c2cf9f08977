/**
 * Takes the pictures of docs/pictures/ that show pages: the report of a day with something to see, and the sandbox's page after it. They
 * show what the built bin and Debian's Chromium (CHROMIUM names another) make of a run in a temporary folder: `npm run screenshots`.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "csv-parse/sync";
import { chromium, type Page } from "playwright-core";
import { EXIT_CODES } from "../src/failure.ts";
import { parseFaultScript } from "../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../src/sandbox/server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const KEY = "key-of-the-pictures";
/** Every third of its tickets is registered before the run. */
const SOLD_BEFORE = "scl-cordillera";

/** In pixels: the upper part of a page, as wide as its text needs. */
const SIZE = { width: 1120, height: 800 };

const folder = await mkdtemp(join(tmpdir(), "tickets-pictures-"));
try {
  await using sandbox = await startSandbox({ engine: { path: ":memory:" }, apiKey: KEY, port: 0 });
  await streamDay(folder, sandbox);
  await using browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: 1, timezoneId: "UTC" });
  await page.goto(pathToFileURL(join(folder, "report.html")).href);
  await take(page, "report");
  await page.goto(sandbox.pageUrl);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.locator("tbody tr").first().waitFor();
  await take(page, "sandbox");
} finally {
  await rm(folder, { recursive: true });
}

/** Streams the fixtures to a slow service, which is busy once. It has tickets of one event already, and some prices have a decimal comma. */
async function streamDay(cwd: string, sandbox: Sandbox): Promise<void> {
  const sales = await readFile(join(root, "fixtures/sales.csv"), "utf8");
  const sold = parse<Readonly<Record<string, string>>>(sales, { columns: true }).filter(
    ({ eventId }, at) => eventId === SOLD_BEFORE && at % 3 === 0,
  );
  sandbox.engine.process([
    { action: "newEvent", data: { eventId: SOLD_BEFORE, eventName: "Cordillera", currency: "CLP" } },
    ...sold.map(({ eventId, ticketId, userId, price }) => ({
      action: "soldTicket",
      data: { eventId, ticketId, userId, price },
    })),
  ]);
  await copyFile(join(root, "fixtures/events.csv"), join(cwd, "events.csv"));
  await writeFile(join(cwd, "sales.csv"), sales.replaceAll(",95.00,", ',"95,00",'));
  await mkdir(join(cwd, "home"));
  const rules = [
    { on: { request: 9 }, fault: "status", status: 429, retryAfter: 1 },
    { fault: "latency", ms: [20, 90] },
  ];
  sandbox.setFaults(parseFaultScript({ seed: 7, rules }, "the pictures"));
  const flags = ["--env", "local", "--max-invalid", "5%", "--report", "report.html"];
  const child = spawn(process.execPath, [join(root, "bin/tickets.js"), "stream", "events.csv", "sales.csv", ...flags], {
    cwd,
    env: {
      HOME: join(cwd, "home"),
      TICKETS_LOCAL_BASE_URL: sandbox.url,
      TICKETS_LOCAL_API_KEY: KEY,
      TICKETS_CHUNK_SIZE: "500",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (code !== EXIT_CODES["finished-with-rejects"]) throw new Error(`The run ended with ${code}.`, { cause: said });
}

/** As WebP, a third of what PNG takes; `screenshot` knows only PNG and JPEG. */
async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 90 });
    await writeFile(join(root, `docs/pictures/${name}.${colorScheme}.webp`), data, "base64");
  }
}
