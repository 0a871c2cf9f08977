/** Files that are closed before they were read to their end. */

import { once } from "node:events";
import {
  appendFileSync,
  createReadStream,
  existsSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Input, openInput } from "../../../src/read/input.ts";
import { refuseEarlyEnd } from "../../../src/read/input-file.ts";
import { resolveInputs } from "../../../src/read/inputs.ts";
import { openFile } from "../../../src/read/open-file.ts";
import { failureOf } from "../../support/config-files.ts";
import { openField, processedBy } from "../../support/context.ts";
import { openFolder } from "../../support/folder.ts";

test("closing waits for a read in flight, which would be one of the next file's otherwise", async () => {
  const path = join(openFolder(), "large.csv");
  const size = 64 * 1024;
  await writeFile(path, "");
  await truncate(path, size);
  const file = await openFile(path);
  let isRead = false;
  const reading = file.blocks.next().finally(() => {
    isRead = true;
  });
  await file[Symbol.asyncDispose]();
  expect(isRead).toBe(true);
  expect((await reading).value?.length).toBe(size);
});

/** Inputs that are not finished, or hold nothing. */

const HEADER = "eventId,currency\n";
const rows = (count: number): string => Array.from({ length: count }, (_, at) => `E-${at + 1},EUR\n`).join("");

async function open(path: string): Promise<Input> {
  const [file] = await resolveInputs([path]);
  if (file === undefined) throw new Error("no input");
  return openInput(file);
}

async function readAll(input: Input): Promise<number> {
  let count = 0;
  for await (const batch of input.batches()) count += batch.length;
  return count;
}

describe("a file that changes while it is read", () => {
  const CHANGES: readonly [string, RegExp, (path: string) => void][] = [
    ["grows", /it grew from \d+ to \d+ bytes/, (path) => appendFileSync(path, rows(1))],
    ["shrinks", /it shrank from \d+ to \d+ bytes/, (path) => truncateSync(path, 300_000)],
    ["is touched", /it was changed/, (path) => utimesSync(path, 1, 1)],
    ["is removed", /it was removed/, (path) => rmSync(path)],
    [
      "is replaced",
      /it was replaced/,
      (path) => {
        writeFileSync(`${path}.new`, HEADER + rows(2));
        renameSync(`${path}.new`, path);
      },
    ],
  ];

  test.each(CHANGES)("and %s is not used", async (_, message, change) => {
    const path = join(openFolder(), "events.csv");
    await writeFile(path, HEADER + rows(100_000));
    await using input = await open(path);
    const batches = input.batches();
    await batches.next();
    change(path);
    const reading = async (): Promise<void> => {
      for await (const _ of batches);
    };
    const failure = await failureOf(reading());
    expect(failure).toMatchObject({ code: "usage", message: expect.stringMatching(message) });
    expect(failure.message).toContain("events.csv is still being written: ");
  });

  test("is seen behind standard input too", async () => {
    const path = join(openFolder(), "events.csv");
    await writeFile(path, HEADER + rows(100_000));
    const stdin = createReadStream(path, { autoClose: false }); // as process.stdin has it
    await once(stdin, "open");
    const [file] = await resolveInputs(["-"]);
    if (file === undefined) throw new Error("no input");
    await using input = await openInput(file, { stdin });
    const batches = input.batches();
    await batches.next();
    appendFileSync(path, "E-x");
    const reading = async (): Promise<void> => {
      for await (const _ of batches);
    };
    expect((await failureOf(reading())).message).toContain("Standard input is still being written: it grew");
  });
});

describe("a file that ends before its size", () => {
  /** It says 4096 bytes and holds one short line. */
  const SHORT = "/sys/kernel/uevent_seqnum";
  const onLinux = test.skipIf(!existsSync(SHORT));
  const message = expect.stringMatching(/^.*events\.csv ended after \d+ of its 4096 bytes\. None of it is used\.$/);

  onLinux(`is not used (needs ${SHORT})`, async () => {
    const path = join(openFolder(), "events.csv");
    await symlink(SHORT, path);
    await using input = await open(path);
    expect(await failureOf(readAll(input))).toMatchObject({ code: "usage", message });
  });

  test.each([
    [0, 826],
    [825, 826],
  ])("recognised by its bytes: %d of %d", (read, size) => {
    expect(() => refuseEarlyEnd({ name: "events.csv" }, size, read)).toThrow(
      `ended after ${read} of its ${size} bytes`,
    );
  });

  test.each([
    [826, 826],
    [5, 0], // a pipe, or a virtual file system
  ])("and one that gave %d of %d is whole", (read, size) => {
    expect(() => refuseEarlyEnd({ name: "events.csv" }, size, read)).not.toThrow();
  });
});

describe("a last line without its line end", () => {
  test("is told", async () => {
    const path = join(openFolder(), "events.csv");
    await writeFile(path, `${HEADER}E-1,EUR`);
    await using input = await open(path);
    expect([await readAll(input), input.unendedLine]).toEqual([1, 2]);
  });

  test.each([
    ["events.csv", `${HEADER}E-1,EUR\n`],
    ["events.csv", `${HEADER}E-1,EUR\r`],
    ["events.json", '[{"action":"newEvent","data":{"eventId":"E-1","currency":"EUR"}}]'],
  ])("is not missed in %s: %j", async (name, text) => {
    const path = join(openFolder(), name);
    await writeFile(path, text);
    await using input = await open(path);
    await readAll(input);
    expect(input.unendedLine).toBeUndefined();
  });
});

describe("an input that holds nothing", () => {
  const EMPTY = gzipSync("");
  test.each<[string, string | Buffer]>([
    ["events.csv", ""],
    ["events.csv", "\r\n\n"],
    ["events.csv.gz", EMPTY],
    ["events.ndjson.gz", ""],
  ])("%s, %j: exit 3, unless its source says allowEmpty", async (name, content) => {
    const field = await openField();
    await field.write(name, content);
    await field.write("other.ndjson", '{"action":"newEvent","data":{"eventId":"E-2","currency":"EUR"}}\n');
    const files = [name, "other.ndjson"];
    const refused = await field.stream(files);
    expect(refused.exitCode).toBe(3);
    expect(refused.said).toContain("input-empty");
    // What is wrong is the file: no mapping can fix it.
    expect(refused.said).toContain("Fix the input");
    expect(processedBy(field.sandbox)).toBe("");
    const source = '{match: "events*", action: newEvent, allowEmpty: true}';
    await field.write("tickets.config.yaml", `sources: {events: ${source}}\n`);
    const taken = await field.stream(files);
    expect([taken.exitCode, processedBy(field.sandbox)], taken.said).toEqual([0, "E-2"]);
    expect(taken.said).toContain("input-no-rows");
  });

  test.each<[string, string | Buffer, string]>([
    ["events.csv", "", "The file is empty: 0 bytes."],
    ["events.csv.gz", EMPTY, "The file is empty: unpacked, it holds nothing."],
  ])("%s, %j, is recognised by what it holds", async (name, content, reported) => {
    const field = await openField();
    await field.write(name, content);
    expect((await field.stream([name])).said).toContain(reported);
  });
});
