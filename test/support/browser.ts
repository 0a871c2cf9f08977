/** A page in Debian's Chromium, without its window, with all that it complains about. */

import axe from "axe-core";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export interface OpenedPage {
  readonly page: Page;
  /** Errors on the console, uncaught ones, violations of the page's policy, and requests that failed or went elsewhere. */
  readonly complaints: () => readonly string[];
  /** What axe finds that is serious or critical, as `rule: selector`. */
  readonly barriers: () => Promise<readonly string[]>;
}

/** Opens `url`; the browser ends with the test. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const own = url.startsWith("file:") ? "file:" : new URL(url).origin;
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(own) && !request.url().startsWith("data:")) complaints.push(request.url());
  });
  await page.goto(url);
  return {
    page,
    complaints: () => complaints,
    async barriers() {
      // Through the protocol, which the page's own policy does not bind.
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>("axe.run()");
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
    },
  };
}

/** A part of what axe tells. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}
