import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/failure.ts";
import { resolveEncoding, toUtf8 } from "../../../src/read/encoding.ts";

async function decode(bytes: Uint8Array, encoding = "utf-8", size = Number.POSITIVE_INFINITY): Promise<string> {
  async function* blocks() {
    for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
  }
  let text = "";
  let lineEnds = 0;
  for await (const block of toUtf8(blocks(), { encoding, name: "sales.csv", lineEnds: () => lineEnds })) {
    const part = block.toString();
    lineEnds += part.split("\n").length - 1;
    text += part;
  }
  return text;
}

async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Failure)) throw new Error("no failure was thrown", { cause: error });
  expect(error.code).toBe("usage");
  return `${error.message} ${error.hint}`;
}

const SIZES = [Number.POSITIVE_INFINITY, 1, 2, 3, 5];

test("characters of several bytes survive any cut", async () => {
  const text = "ä,日本,😀,é\n".repeat(5);
  for (const size of SIZES) expect(await decode(Buffer.from(text), "utf-8", size)).toBe(text);
});

test("a byte order mark is dropped, however it is cut, and only at the start", async () => {
  for (const size of SIZES) expect(await decode(Buffer.from("\ufeffa\ufeffb"), "utf-8", size)).toBe("a\ufeffb");
});

describe("bytes that are not UTF-8", () => {
  test.each<[name: string, bytes: number[], what: string, offset: number]>([
    ["a byte of latin1", [0x61, 0x0a, 0x62, 0xe9, 0x64], "byte 0xE9", 3],
    ["a surrogate", [0x61, 0xed, 0xa0, 0x80, 0x61], "byte 0xED", 1],
    ["a character cut by another", [0x61, 0xe2, 0x82, 0x61], "byte 0xE2", 1],
    ["a character cut by the end", [0x61, 0x0a, 0xe2, 0x82], "a character is cut off", 2],
  ])("%s", async (_name, bytes, what, offset) => {
    const line = bytes.slice(0, offset).filter((byte) => byte === 10).length + 1;
    for (const size of SIZES) {
      expect(await failure(decode(Uint8Array.from(bytes), "utf-8", size))).toContain(
        `sales.csv is not valid UTF-8: ${what} at byte offset ${offset}, line ${line}.`,
      );
    }
  });

  test("the offset and the line count from the file's beginning, in a later block too", async () => {
    const bytes = Buffer.concat([Buffer.from("\ufeffaé\n".repeat(1000)), Buffer.from([0xff])]);
    for (const size of [100, 1, Number.POSITIVE_INFINITY]) {
      expect(await failure(decode(bytes, "utf-8", size))).toContain(`at byte offset ${bytes.length - 1}, line 1001.`);
    }
  });
});

test("a NUL byte means that it is no text", async () => {
  expect(await failure(decode(Buffer.from("a,b\n1,\0\n")))).toContain(
    "not a text file: there is a NUL byte at byte offset 6, line 2.",
  );
  expect(await failure(decode(Buffer.from("a,b\n1,2\n", "utf16le")))).toContain("--encoding utf-16le");
  expect(await failure(decode(Buffer.from("a\0", "utf16le"), "utf-16le"))).toContain("NUL byte in line 1");
});

describe("other encodings", () => {
  test.each<[encoding: string, bytes: Uint8Array, text: string]>([
    ["windows-1252", Uint8Array.of(0x80, 0x92, 0x9f, 0xe9, 0xff, 0x41), "€’ŸéÿA"],
    ["iso-8859-2", Uint8Array.of(0xa3, 0xb3), "Łł"],
    ["utf-16le", Buffer.from("\ufeffa😀\n", "utf16le"), "a😀\n"],
    ["utf-16be", Buffer.from("a😀\n", "utf16le").swap16(), "a😀\n"],
    ["shift_jis", Uint8Array.of(0x93, 0xfa, 0x96, 0x7b), "日本"],
  ])("%s", async (encoding, bytes, text) => {
    for (const size of SIZES) expect(await decode(bytes, encoding, size)).toBe(text);
  });

  test.each<[string, number[]]>([
    ["shift_jis", [0x41, 0x0a, 0x81]],
    ["utf-16le", [0x41, 0x00, 0x00, 0xd8, 0x41, 0x00]],
  ])("invalid %s is an error", async (encoding, bytes) => {
    expect(await failure(decode(Uint8Array.from(bytes), encoding))).toContain(`sales.csv is not ${encoding}: line `);
  });

  test.each<[encoding: string, wrong: number]>([
    ...[0x81, 0x8d, 0x8f, 0x90, 0x9d].map((byte): [string, number] => ["windows-1252", byte]),
    ["windows-1253", 0xd2],
    ["iso-8859-2", 0x85],
  ])("%s has no character for byte %i", async (encoding, wrong) => {
    const bytes = Uint8Array.of(0x41, 0x0a, 0xe4, 0x0a, 0x42, wrong, 0x43);
    for (const size of SIZES)
      expect(await failure(decode(bytes, encoding, size))).toContain(
        `sales.csv is not ${encoding}: line 3 holds bytes that are no character in it. Another encoding may be right: what Excel calls "CSV (MS-DOS)" is cp850 or cp437.`,
      );
  });

  test("a control character that several bytes give is none", async () => {
    const bytes = Uint8Array.of(0x41, 0x0a, 0x81, 0x30, 0x81, 0x30, 0x41);
    expect(await failure(decode(bytes, "gb18030"))).toContain("sales.csv is not gb18030: line 2 holds bytes");
  });

  test("labels are resolved, unknown ones refused with a way on", async () => {
    expect(resolveEncoding("latin1")).toBe("windows-1252");
    expect(resolveEncoding(" UTF8 ")).toBe("utf-8");
    expect(resolveEncoding("cp1252")).toBe("windows-1252");
    for (const label of ["klingon", "cp850"])
      expect(await failure(Promise.resolve().then(() => resolveEncoding(label)))).toContain(
        `Files in the encoding "${label}" can't be read. Known are utf-8`,
      );
  });
});
