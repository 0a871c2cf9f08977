import { describe, expect, it } from "vitest";
import { terminalPicture } from "../../../scripts/terminal-picture.ts";
import { readPage } from "../../support/pages.ts";

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
