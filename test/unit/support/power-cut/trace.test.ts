import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readTrace } from "../../../support/power-cut/trace.ts";

const hex = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
const ROOT = "/disk";

/** What stands in lines of the log: `<path>` and `"text"` are spelt in hexadecimal, as they are there. */
function read(...lines: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "tickets-trace-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const spelt = lines.map((line) =>
    line
      .replace(/<(\/[^>]*)>/g, (_, path: string) => `<${hex(path)}>`)
      .replace(/"([^"]*)"/g, (_, text: string) => `"${hex(text)}"`),
  );
  writeFileSync(join(folder, "log"), `${spelt.join("\n")}\n`);
  return readTrace(join(folder, "log"), ROOT).map(({ operation }) => operation);
}

test("bytes that are written without a place follow those before", () => {
  const operations = read(
    '7 openat(AT_FDCWD</disk>, "a", O_WRONLY|O_CREAT|O_CLOEXEC, 0600) = 20</disk/a>',
    '7 write(20</disk/a>, "one", 3) = 3',
    '8 write(20</disk/a>, "two", 3) = 2',
    '7 openat(AT_FDCWD</disk>, "a", O_WRONLY|O_CREAT|O_APPEND, 0600) = 21</disk/a>',
    '7 write(21</disk/a>, "end", 3) = 3',
  );
  expect(operations).toMatchObject([
    { kind: "open", path: "/disk/a", creates: true, empties: false },
    { kind: "write", path: "/disk/a", offset: 0, bytes: Buffer.from("one") },
    { kind: "write", path: "/disk/a", offset: 3, bytes: Buffer.from("tw") },
    { kind: "open" },
    { kind: "write", path: "/disk/a", offset: "end", bytes: Buffer.from("end") },
  ]);
});

test("a call that another thread's came between is read whole, and one that failed is left out", () => {
  const operations = read(
    "7 fsync(20</disk/a> <unfinished ...>",
    '8 rename("/disk/a.tmp", "/disk/a") = 0',
    "7 <... fsync resumed>)              = 0",
    '8 unlink("/disk/b") = -1 ENOENT (No such file or directory)',
    '8 unlink("/elsewhere/c") = 0',
  );
  expect(operations).toEqual([
    { kind: "sync", path: "/disk/a" },
    { kind: "rename", path: "/disk/a.tmp", to: "/disk/a" },
  ]);
});

test("a number is a file's once that was opened, whoever began to open another before", () => {
  const operations = read(
    '7 openat(AT_FDCWD</disk>, "late", O_WRONLY|O_CREAT, 0600 <unfinished ...>',
    '8 openat(AT_FDCWD</disk>, "early", O_WRONLY|O_CREAT, 0600) = 20</disk/early>',
    "7 <... openat resumed>) = 20</disk/late>",
    '8 write(20</disk/late>, "late", 4) = 4',
  );
  expect(operations.at(-1)).toMatchObject({ kind: "write", path: "/disk/late", offset: 0 });
});

test("a request begins with its first bytes", () => {
  const operations = read(
    '7 writev(32<TCP:[127.0.0.1:5544->127.0.0.1:80]>, [{iov_base="POST /stream", iov_len=12}], 1) = 12',
    '7 write(32<TCP:[127.0.0.1:5544->127.0.0.1:80]>, "[{", 2) = 2',
  );
  expect(operations).toEqual([
    { kind: "send", port: 5544, begins: true },
    { kind: "send", port: 5544, begins: false },
  ]);
});

test("a call that nobody rebuilds is an error", () => {
  expect(() => read('7 link("/disk/a", "/disk/b") = 0')).toThrow("a call that nobody rebuilds: link");
  expect(() => read('7 write(20</disk/a>, "one", 3) = 3'), "a file that was never opened").toThrow("write");
});
