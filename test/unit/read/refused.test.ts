/** Files that are no export, and tables whose first line is no header: by their first bytes. */

import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { CsvOptions } from "../../../src/read/csv.ts";
import { openInput } from "../../../src/read/input.ts";
import type { InputFile } from "../../../src/read/input-file.ts";

const FILE: InputFile = { path: "-", name: "sales.csv", format: "csv", compression: "none" };

/** The header, or why the text is refused. */
async function headerOf(text: string | Buffer, csv: CsvOptions = {}, of: Partial<InputFile> = {}): Promise<string> {
  try {
    await using input = await openInput({ ...FILE, ...of }, { stdin: Readable.from([Buffer.from(text)]), csv });
    return input.header?.join("|") ?? "no header";
  } catch (cause) {
    return (cause as Error).message; // openInput throws failures
  }
}

describe("a header that is a row", () => {
  test.each([
    ["a@example.com;S-1\nb@example.com;S-2\n", "line 1 is a row, with an e-mail address in column 1"],
    ["sep=;\nx;2026-11-20T16:40:33Z\ny;2026-11-20T16:41:33Z\n", "line 2 is a row, with a time in column 2"],
    ["x,27.11.2026 19:15\ny,28.11.2026 20:15\n", "with a time in column 2"],
    ["GA,12.50\nVIP,40.00\n", "with an amount in column 2"],
    ["x,€12.50\ny,€40.00\n", "with an amount in column 2"],
    ["x,EUR 12.50\ny,EUR 40.00\n", "with an amount in column 2"],
    ["x\t1 May 2026\ny\t3. März 2026 9:05\n", "with a time in column 2"],
    ['"x";"Fri, May 1, 2026 - 7:15 pm"\n"y";"Sat, May 2, 2026 - 12:05 am"\n', "with a time in column 2"],
    ["x,https://shop.example/1\ny,https://shop.example/2\n", "with a link in column 2"],
    ["x,S-1\ny,S-2\n", "with an id like the one below it in column 2"],
    ["x|K7QX2\ny|9PLM4\n", "with an id like the one below it in column 2"],
    ["x,f47ac10b-58cc-4372-a567-0e02b2c3d479\ny,9b2d3c1e-0f4a-4b6e-8c7d-a1b2c3d4e5f6\n", "with an id in column 2"],
    ["a@example.com,one row only\n", "with an e-mail address in column 1"],
  ])("%j", async (text, message) => {
    expect(await headerOf(text)).toContain(message);
  });

  test.each([
    // A column of each day, of which the cells below are none; a header that repeats; titles with numbers.
    "Name,2026-11-20,2026-11-21\nAnna,x,\n",
    "ticketId,seat 1\nt1,A4\n",
    "id,address1,address2\nx,Road 4,\n",
    "1,2,3\n4,5,6\n".replace("4,5,6", "a,b,c"),
  ])("not %j", async (text) => {
    expect(await headerOf(text)).toBe(text.split("\n")[0]?.replaceAll(",", "|"));
  });

  test("is read as a row, or as a header, where that is declared", async () => {
    const text = "a@example.com;S-1\nb@example.com;S-2\n";
    expect(await headerOf(text, { headerLine: "none" })).toBe("1|2");
    expect(await headerOf(text, { headerLine: 1 })).toBe("a@example.com|S-1");
    expect(await headerOf("", { headerLine: "none" })).toBe("no header");
  });

  test("rejects of such a table have a header", async () => {
    expect(await headerOf("1,2,tickets:reason,tickets:row\nx,y,,\n", { headerLine: "none" })).toContain("1|2|tickets");
  });
});

test("each line is one quoted cell", async () => {
  expect(await headerOf('"a,b,c"\n"1,2,""x, y"""\n')).toBe("In sales.csv, each line is one quoted cell.");
  expect(await headerOf('"Name, first"\nAnna\n')).toBe("Name, first");
});

test.each([
  ["<!DOCTYPE html><html><head><title>Sign in</title>", 'sales.csv is an HTML page, not an export ("Sign in").'],
  ["\ufeff\n<html lang=de>", "sales.csv is an HTML page, not an export."],
  ["<Error><Message>Denied</Message></Error>", 'sales.csv is XML, not an export ("Denied").'],
  ['{"error":"expired"}', 'sales.csv is JSON, not a table ("expired").'],
  ['[{"ticketId":"t1"}]', "sales.csv is JSON, not a table."],
  ["version https://git-lfs.github.com/spec/v1\n", "sales.csv is a Git LFS pointer, not the file itself."],
  [Buffer.from("\xfd7zXZ\0\0", "latin1"), "sales.csv is xz-compressed, not text."],
  [Buffer.from("BZh91AY&SY\x01", "latin1"), "sales.csv is bzip2-compressed, not text."],
  [Buffer.from("7z\xbc\xaf\x27\x1c", "latin1"), "sales.csv is a 7-Zip archive, not text."],
  ...["\x89PNG\r\n\x1a\n\0", "\xff\xd8\xff\xe0\0", "GIF89a\0", "RIFF\n\xd2\0\0WEBPVP8 "].map(
    (bytes) => [Buffer.from(bytes, "latin1"), "sales.csv is an image, not text."] as const,
  ),
  // A NUL byte: no encoding is proposed.
  [Buffer.from("a,b\0\xff\n", "latin1"), "sales.csv is not a text file: there is a NUL byte at byte offset 3, line 1."],
] as const)("%s", async (text, message) => {
  expect(await headerOf(text)).toBe(message);
});

test("gzip in gzip is packed twice", async () => {
  const twice = gzipSync(gzipSync("a,b\n1,2\n"));
  expect(await headerOf(twice, {}, { compression: "gz" })).toContain("is packed twice");
});
