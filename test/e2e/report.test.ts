/** Reports of real runs in a browser: what they show, that nothing is loaded or run, and that all can read them. */

import { existsSync, readFileSync, statSync } from "node:fs";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { fixture, openWorkplace } from "../support/bin.ts";
import type { Summary } from "../support/counts.ts";
import { emptyRig } from "../support/interrupted.ts";
import { summaryIn } from "../support/invariant/sales.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

async function openBrowser(): Promise<Browser> {
  const path = process.env.CHROMIUM ?? CHROMIUM.find((each) => existsSync(each));
  if (path === undefined)
    throw new Error("This test needs Chromium (Debian: apt-get install chromium), or its path in CHROMIUM.");
  const isRoot = process.getuid?.() === 0;
  const browser = await chromium.launch({ executablePath: path, args: isRoot ? ["--no-sandbox"] : [] });
  onTestFinished(() => browser.close());
  return browser;
}

const FORMS = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

/** What a page complains of, and what it asks the network for. */
function listenTo(page: Page): readonly string[] {
  const heard: string[] = [];
  page.on("console", (message) => heard.push(message.text()));
  page.on("pageerror", (error) => heard.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) heard.push(request.url());
  });
  return heard;
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Serious findings of an accessibility scan. The scan is a script, which the page's own policy would not let run. */
async function scan(browser: Browser, address: string, form: (typeof FORMS)[number]): Promise<readonly string[]> {
  const { colorScheme, width } = form;
  const context = await browser.newContext({ bypassCSP: true, colorScheme, viewport: { width, height: 900 } });
  const page = await context.newPage();
  await page.goto(address);
  await page.evaluate(axe.source);
  const findings = await page.evaluate<readonly Finding[]>("axe.run().then(({ violations }) => violations)");
  await context.close();
  return findings
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}

/** The report in every form: quiet, not wider than the page, no column of a group or of the inputs out of sight, with its picture, and readable by all. */
async function expectGood(browser: Browser, file: string): Promise<string> {
  expect(statSync(file).size).toBeLessThan(400_000);
  const address = `file://${file}`;
  let text = "";
  for (const form of FORMS) {
    const { colorScheme, width } = form;
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const heard = listenTo(page);
    await page.goto(address);
    const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    const isCut = await page.evaluate(
      "[...document.querySelectorAll('.group .scroll, [aria-labelledby=inputs] .scroll')].some((each) => each.scrollWidth > each.clientWidth)",
    );
    const cutLabels = await page.evaluate(
      "[...document.querySelectorAll('.chart text')].filter((text) => text.checkVisibility() && text.getBBox().x < 0).length",
    );
    const seen = { ...form, heard, isTooWide, isCut, cutLabels };
    expect(seen).toEqual({ ...form, heard: [], isTooWide: false, isCut: false, cutLabels: 0 });
    expect(await page.locator("svg[role=img]:visible").count()).toBe(1);
    text = await page.locator("body").innerText();
    await page.close();
    // Each colour scheme and each width is scanned once: a scan takes longer than all the rest.
    if ((colorScheme === "light") === (width === 1280)) expect(await scan(browser, address, form)).toEqual([]);
  }
  return text;
}

test("a browser shows the report of a good night", { tags: ["long"] }, async () => {
  const browser = await openBrowser();
  const work = openWorkplace();
  const files = [fixture("events.csv"), fixture("sales.csv")];
  await work.tickets(["stream", ...files, "--chunk-size", "50", "--report", "good.html"]);
  const text = await expectGood(browser, work.path("good.html"));
  expect(text).toContain("Finished: everything that was new is accepted.");
  expect(text).toMatch(/accepted\s+12,040\s+100 %/);
  expect(text).toContain("241 requests");
  expect(text).toMatch(/Beside these: [\d,]+ actions of 28 other events\./);
});

test("a browser shows the report of a bad day", { tags: ["long"] }, async () => {
  const browser = await openBrowser();
  const rig = await emptyRig();
  const sales = readFileSync(fixture("sales.csv"), "utf8").split("\n").slice(0, 500).join("\n");
  rig.place.write("events.csv", readFileSync(fixture("events.csv")));
  rig.place.write("sales.csv", `${sales}\nspring,,nobody,a lot,tomorrow,,,,,,,\n`);
  rig.sandbox.setFaults({
    rules: [
      { on: { request: 2 }, fault: "status", status: 429, retryAfter: 1 },
      { on: { request: 3 }, fault: "failure-items", items: { count: 4 } },
      // More than a second, since its figure is the longest beside a picture.
      { on: { request: 1 }, fault: "latency", ms: 1100 },
      { on: { request: 4 }, fault: "drop", when: "after" },
    ],
  });
  const options = ["--report", "bad.html", "--max-invalid", "1", "--retries", "2", "--chunk-size", "100"];
  const ran = await rig.run(["stream", "events.csv", "sales.csv", "--env", "playground", ...options, "--json"]);
  const { actions } = summaryIn<Summary>(ran);
  expect(actions).toMatchObject({ total: 539, accepted: 196, rejected: 4, inDoubt: 100, notSent: 239 });
  const text = await expectGood(browser, rig.place.path("bad.html"));
  for (const [part, actions] of Object.entries({ accepted: 196, rejected: 4, "in doubt": 100, "not sent": 239 }))
    expect(text).toMatch(new RegExp(`${part}\\s+${actions}\\s`));
  for (const title of ["To be decided", "Rejected by the service", "Problems", "Sending"])
    expect(text).toContain(title);
});
