import { existsSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { CHROMIUM, openPage } from "../support/browser.ts";
import { openRig } from "../support/invariant/rig.ts";
import { LONG } from "../support/walks.ts";

const HEADER = "action,eventId,currency,eventName,ticketId,userId,price\n";
const SEND = ["stream", "--env", "playground", "TICKETS_CHUNK_SIZE=200"];
/** Text that would be a script, or turn the page's own, if it were taken for more than text. */
const NASTY = "<img src=x onerror=alert(1)>\u202e";

const rows = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `soldTicket,E1,,,T${from + at},ann-${from + at},12.50\n`).join("");

const total = (page: Page, name: string) => page.locator(`[data-total=${name}]`);

/** Waits in the page, as a person would, until it says so. */
const says = (page: Page, name: string, text: string) =>
  page.waitForFunction(
    ([what, wanted]) => {
      // Runs in the page, where Node's types know nothing.
      const { document } = globalThis as unknown as {
        readonly document: { querySelector(selector: string): { textContent: string } | null };
      };
      return document.querySelector(`[data-total=${what}]`)?.textContent === wanted;
    },
    [name, text],
  );

describe.runIf(existsSync(CHROMIUM))("the sandbox's page in a browser", () => {
  test("follows a run that streams into it, by keyboard too, without a complaint", LONG, async () => {
    const rig = await openRig();
    const { page, complaints, barriers } = await openPage(rig.sandbox.pageUrl);
    await says(page, "accepted", "0");
    expect(page.url()).toBe(`${rig.sandbox.url}/#/`);

    rig.place.write("sales.csv", `${HEADER}newEvent,E1,EUR,${NASTY},,,\n${rows(1, 1500)}`);
    expect((await rig.run([...SEND, "sales.csv"])).exitCode).toBe(0);
    await says(page, "accepted", "1,501");
    expect(await total(page, "tickets").textContent()).toBe("1,500");
    expect(await total(page, "requests").textContent()).toBe("8");
    await page.locator("tbody tr", { hasText: "1 newEvent, 199 soldTicket" }).waitFor();
    expect(await barriers()).toEqual([]);

    // A search, and the ticket that it leads to.
    await page.keyboard.press("/");
    await page.keyboard.type("T7");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Ticket T7" }).waitFor();
    expect(await page.getByRole("definition").allTextContents()).toEqual(
      expect.arrayContaining(["E1", "SANDBOX-1-7", "ann-7"]),
    );
    await page.getByText(/^[0-9a-f]{64}$/).waitFor();
    expect(await barriers()).toEqual([]);

    // Its event, whose name is text and nothing else; back; a request.
    await page.getByRole("link", { name: "E1", exact: true }).click();
    await page.getByText("<img src=x onerror=alert(1)>\\u{202e}").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Ticket T7" }).waitFor();
    await page.goto(`${rig.sandbox.url}/#/`);
    await page.locator("tbody tr", { hasText: "1 newEvent, 199 soldTicket" }).waitFor();
    await page.getByRole("link", { name: "request 7", exact: true }).press("Enter");
    await page.getByRole("heading", { name: "Request 7" }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("link", { name: "T1270", exact: true }).waitFor();

    // A fault that strikes the run.
    rig.sandbox.setFaults({ rules: [{ fault: "failure-items", items: { every: 100 } }] });
    rig.place.write("more.csv", `${HEADER}${rows(2001, 200)}`);
    expect((await rig.run([...SEND, "more.csv"])).exitCode).toBe(4);
    await says(page, "refused", "2");

    // The faults show in the activity, with a request that was dropped: what it did, how long it took, and that no answer left.
    rig.sandbox.setFaults({ rules: [{ fault: "drop", when: "after", times: 1 }] });
    rig.place.write("lost.csv", `${HEADER}${rows(3001, 3)}`);
    expect((await rig.run([...SEND, "lost.csv"])).exitCode).toBe(6);
    await page.getByRole("link", { name: "Activity" }).click();
    await page.locator("tbody tr", { hasText: "failure-items" }).first().waitFor();
    const dropped = await page.locator("tbody tr", { hasText: "no answer" }).getByRole("cell").allTextContents();
    expect(dropped.slice(2)).toEqual([
      "3 soldTicket",
      "3",
      "0",
      expect.stringMatching(/^[\d,.]+ m?s$/),
      expect.stringMatching(/^[\d,]+$/),
      "no answer",
      "drop",
    ]);

    // What was refused is one click away, with the reason.
    await page.getByRole("link", { name: "Refused" }).click();
    await page.getByRole("link", { name: "unknown 2" }).click();
    await page.locator("tbody tr", { hasText: "refused" }).nth(1).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(2);
    expect(await barriers()).toEqual([]);
    expect(complaints()).toEqual([]);
  });

  test("has room on a phone, and shows nothing to who has no link", LONG, async () => {
    const rig = await openRig();
    rig.place.write("sales.csv", `${HEADER}newEvent,E1,EUR,Wave,,,\n${rows(1, 60)}`);
    await rig.run([...SEND, "sales.csv"]);
    const phone = { viewport: { width: 390, height: 800 }, colorScheme: "dark" } as const;
    const { page, complaints, barriers } = await openPage(rig.sandbox.pageUrl, phone);
    for (const [hash, text] of [
      ["#/", "Activity"],
      ["#/request/1", "Request 1"],
      ["#/refused", "Refused"],
      ["#/ticket/T1", "Ticket T1"],
    ] as const) {
      await page.goto(`${rig.sandbox.url}/${hash}`);
      await page.getByRole("heading", { level: 2, name: text }).waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), hash).toBe(true);
      expect(await barriers(), hash).toEqual([]);
    }
    expect(complaints()).toEqual([]);

    const stranger = await openPage(rig.sandbox.url);
    await stranger.page.getByRole("heading", { name: "Who may look" }).waitFor();
    expect(await stranger.page.locator("body").textContent()).not.toMatch(/T1|ann|Wave/);
    await stranger.page.getByLabel("Key").fill(rig.sandbox.apiKey);
    await stranger.page.getByRole("button", { name: "Look" }).click();
    await says(stranger.page, "tickets", "60");
    expect(stranger.complaints()).toEqual([]);
  });
});
