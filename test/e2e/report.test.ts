/** Reports of real runs in a browser: what they show, that nothing is loaded or run, and that all can read them. */

import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { fixture, openWorkplace } from "../support/bin.ts";
import { openPage } from "../support/browser.ts";
import { summaryIn } from "../support/interrupted.ts";
import { openRig } from "../support/invariant/rig.ts";
import { LONG } from "../support/walks.ts";

const FORMS = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

/** What is wider than its place: the page, a column of a group or of the inputs, a label of the picture. */
const TOO_WIDE = `[
  document.documentElement.scrollWidth > innerWidth ? document.documentElement : [],
  [...document.querySelectorAll(".group .scroll, [aria-labelledby=inputs] .scroll")].filter((each) => each.scrollWidth > each.clientWidth),
  [...document.querySelectorAll(".chart text")].filter((text) => text.checkVisibility() && text.getBBox().x < 0),
].flat().map((each) => each.outerHTML.slice(0, 200))`;

/** The report in every form: quiet, all of it in sight once opened, with its picture, and readable by all. Gives its text. */
async function expectGood(file: string): Promise<string> {
  expect(statSync(file).size).toBeLessThan(400_000);
  let text = "";
  for (const { colorScheme, width } of FORMS) {
    const { page, complaints, barriers } = await openPage(`file://${file}`, {
      ...{ colorScheme, viewport: { width, height: 900 } },
    });
    await page.evaluate("document.querySelectorAll('section > details').forEach((each) => { each.open = true; })");
    expect([await page.evaluate(TOO_WIDE), await page.locator("svg[role=img]:visible").count()]).toEqual([[], 1]);
    text = await page.locator("body").innerText();
    // Each colour scheme and each width is scanned once: a scan takes longer than all the rest.
    if ((colorScheme === "light") === (width === 1280)) expect(await barriers()).toEqual([]);
    expect(complaints()).toEqual([]);
  }
  return text;
}

test("a browser shows the report of a good night", LONG, async () => {
  const work = openWorkplace();
  const files = [fixture("events.csv"), fixture("sales.csv")];
  await work.tickets(["stream", ...files, "TICKETS_CHUNK_SIZE=50", "--report", "good.html"]);
  const text = await expectGood(work.path("good.html"));
  expect(text).toContain("Finished: everything that was new is accepted.");
  expect(text).toMatch(/12,040\s+accepted/);
  expect(text).toContain("241 requests");
  expect(text).toMatch(/Not shown: [\d,]+ actions of 28 other events\./);
});

test("a browser shows the report of a bad day", LONG, async () => {
  const rig = await openRig();
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
  const options = ["--report", "bad.html", "--max-invalid", "1", "TICKETS_RETRIES=2", "TICKETS_CHUNK_SIZE=100"];
  const ran = await rig.run(["stream", "events.csv", "sales.csv", "--env", "playground", ...options, "--json"]);
  const { actions } = summaryIn(ran);
  expect(actions).toMatchObject({ total: 539, accepted: 196, rejected: 4, inDoubt: 100, notSent: 239 });
  const text = await expectGood(rig.place.path("bad.html"));
  for (const [part, actions] of Object.entries({ accepted: 196, rejected: 4, "in doubt": 100, "not sent": 239 }))
    expect(text).toMatch(new RegExp(`\\b${actions}\\s+${part}`));
  for (const title of ["To be decided", "Rejected by the service", "Problems", "Sending"])
    expect(text).toContain(title);
});
