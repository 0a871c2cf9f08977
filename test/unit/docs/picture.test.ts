import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { linksIn, PAGES, ROOT, readPage } from "../../support/pages.ts";

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
