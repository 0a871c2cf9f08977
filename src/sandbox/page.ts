/** The page at the sandbox's address: three files without any data. What they show they ask for, with the page's token. */

import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";

const FILES: ReadonlyMap<string, readonly [file: string, type: string]> = new Map([
  ["/", ["index.html", "text/html"]],
  ["/page.css", ["page.css", "text/css"]],
  ["/page.js", ["page.js", "text/javascript"]],
]);

/** Nothing but its own files, nothing inline, and no text that becomes HTML. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src data:"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join("; ");

const read = new Map<string, Buffer>();

export const isPageFile = (pathname: string): boolean => FILES.has(pathname);

export function sendPageFile(pathname: string, response: ServerResponse): void {
  const [file, type] = FILES.get(pathname) ?? ["index.html", "text/html"];
  const content = read.get(file) ?? readFileSync(new URL(`page/${file}`, import.meta.url));
  read.set(file, content);
  response.writeHead(200, {
    "Content-Type": `${type}; charset=utf-8`,
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
  });
  response.end(content);
}
