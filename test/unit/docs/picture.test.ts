import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { terminalPicture } from "../../../scripts/terminal-picture.ts";
import { linksIn, PAGES, ROOT, readPage } from "../../support/pages.ts";

/** The lines that a picture shows. */
const linesIn = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, inner = ""]) =>
    inner
      .replaceAll(/<\/?tspan[^>]*>/g, "")
      .replaceAll("&quot;", '"')
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&"),
  );

describe("the picture of a session", () => {
  const session =
    '$ tickets stream "a&b.csv" > out\nwarning: <x> is odd.\nerror: "12,50" is no price.\nNothing was sent.\n';

  it.each(["light", "dark"] as const)("shows its lines as they are (%s)", (theme) => {
    const svg = terminalPicture(session, "A session", theme);
    expect(linesIn(svg).join("\n")).toBe(session.trimEnd());
    expect(svg).toContain('<title id="title">A session</title>');
  });

  it("paints what a terminal paints: the prompt, and the words that begin warnings and errors", () => {
    const painted = [...terminalPicture(session, "A session", "dark").matchAll(/<tspan fill="[^"]+">([^<]*)</g)];
    expect(painted.map(([, text]) => text)).toEqual(["$ ", "warning: ", "error: "]);
  });

  it("breaks long lines as a terminal does, and leaves commands as they are typed", () => {
    const long = `${"word ".repeat(30).trim()}`;
    const lines = linesIn(terminalPicture(`$ ${long}\n${long}\n`, "A session", "light"));
    expect(lines.map((line) => line.length)).toEqual([151, 99, 49]);
  });

  it.each(["light", "dark"])("of README.md has room for each of its lines (%s)", (theme) => {
    for (const line of linesIn(readPage(`docs/pictures/stream.${theme}.svg`)))
      expect(line.length).toBeLessThanOrEqual(100);
  });
});

/** Width and height of a WebP picture in the extended format (RFC 9649, 2.7). */
function sizeOf(webp: Buffer): readonly number[] {
  expect(webp.toString("latin1", 0, 16)).toMatch(/^RIFF.{4}WEBPVP8X$/s);
  return [1 + webp.readUIntLE(24, 3), 1 + webp.readUIntLE(27, 3)];
}

describe("the pictures of pages", () => {
  const folder = join(ROOT, "docs/pictures");
  const files = readdirSync(folder).toSorted();

  it.each(files.filter((name) => name.endsWith(".webp")))("%s is of 1120 by 800 pixels, and small", (name) => {
    const picture = readFileSync(join(folder, name));
    expect(sizeOf(picture)).toEqual([1120, 800]);
    expect(picture.length).toBeLessThan(120_000);
  });

  it("are there in light and in dark, and each is shown by a page", () => {
    expect(files).toEqual(
      ["report", "sandbox", "stream"].flatMap((name) =>
        ["dark", "light"].map((theme) => `${name}.${theme}.${name === "stream" ? "svg" : "webp"}`),
      ),
    );
    const shown = PAGES.flatMap((page) => linksIn(readPage(page)).map((link) => posix.join(posix.dirname(page), link)));
    expect(files.filter((name) => !shown.includes(`docs/pictures/${name}`))).toEqual([]);
  });
});
