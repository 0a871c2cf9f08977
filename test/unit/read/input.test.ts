import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Failure } from "../../../src/failure.ts";
import { problemsOfContent } from "../../../src/read/content.ts";
import { type OpenInputOptions, openInput } from "../../../src/read/input.ts";
import type { InputFile } from "../../../src/read/input-file.ts";
import { type ResolveOptions, resolveInputs } from "../../../src/read/inputs.ts";
import type { Row } from "../../../src/read/row.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tickets-read-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** What a test writes is no export that is being written just now, whose end would be watched for seconds. */
const A_WHILE_AGO = new Date(Date.now() - 3_600_000);

async function write(name: string, content: string | Uint8Array): Promise<void> {
  await writeFile(join(folder, name), content);
  await utimes(join(folder, name), A_WHILE_AGO, A_WHILE_AGO);
}

async function link(target: string, name: string): Promise<void> {
  await symlink(target, join(folder, name));
}

async function pipe(name: string): Promise<void> {
  execFileSync("mkfifo", [join(folder, name)]);
}

async function resolveNames(patterns: readonly string[], options: ResolveOptions = {}): Promise<readonly string[]> {
  const inputs = await resolveInputs(patterns, { cwd: folder, ...options });
  return inputs.map((input) => input.name);
}

async function inputOf(name: string, options: ResolveOptions = {}): Promise<InputFile> {
  const [input] = await resolveInputs([name], { cwd: folder, ...options });
  if (input === undefined) throw new Error(`${name} was not resolved`);
  return input;
}

async function read(file: InputFile, options: OpenInputOptions = {}) {
  await using input = await openInput(file, options);
  const rows: Row[] = [];
  const sizes: number[] = [];
  for await (const batch of input.batches()) {
    sizes.push(batch.length);
    rows.push(...batch);
  }
  const { header, headerLine, delimiter, encoding, format, bytesRead, sha256 } = input;
  return { rows, sizes, header, headerLine, delimiter, encoding, format, bytesRead, sha256 };
}

async function failure(promise: Promise<unknown>, code = "usage"): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Failure)) throw new Error("no failure was thrown", { cause: error });
  expect(error.code).toBe(code);
  return `${error.message} ${error.hint ?? ""}`;
}

const CSV = "eventId,ticketId\nwave,1\nwave,2\n";
const ROWS = [
  { kind: "cells", line: 2, cells: ["wave", "1"] },
  { kind: "cells", line: 3, cells: ["wave", "2"] },
];
const PROMISE =
  '{"source":"sales.csv","line":2,"action":"soldTicket","ticketId":"1","status":"success","actionPromise":"p","environment":"sandbox","run":"7f3a","seq":1,"chunk":1,"at":"x"}\n';
const PROMISES_CSV = "source,line,action,eventId,ticketId,nftId,status,actionPromise,environment,run,seq,chunk,at\n";
const REJECTS_CSV = 'eventId,ticketId,tickets:reason,tickets:row\nwave,1,"not found",row@1:1\n';

describe("which files are read", () => {
  test("numbers in a glob's matches as numbers, so that each day's file comes after the day before's", async () => {
    const names = [
      "updates-8.csv",
      "updates-10.csv",
      "updates-010.csv",
      "updates-9b.csv",
      "updates-9.csv",
      "updates.csv",
    ];
    for (const name of names) await write(name, "");
    expect(await resolveNames(["updates*.csv"])).toEqual([
      "updates-8.csv",
      "updates-9.csv",
      "updates-9b.csv",
      "updates-010.csv",
      "updates-10.csv",
      "updates.csv",
    ]);
  });

  test("an existing path wins over its meaning as a glob", async () => {
    await write("sales[1].csv", CSV);
    await write("sales1.csv", CSV);
    const inputs = await resolveInputs(["sales[1].csv"], { cwd: folder });
    expect(inputs).toEqual([
      { path: join(folder, "sales[1].csv"), name: "sales[1].csv", format: "csv", compression: "none" },
    ]);
  });

  test.each([
    ["a dangling link", "b.csv", "There is no file b.csv.", () => link("gone.csv", "b.csv")],
    ["a link that leads to itself", "b.csv", "b.csv could not be read (ELOOP).", () => link("b.csv", "b.csv")],
    ["a named pipe", undefined, "b.csv is a named pipe; a glob must not match it.", () => pipe("b.csv")],
    [
      "a dangling link behind a link to a directory",
      "d/b.csv",
      "There is no file d/b.csv.",
      async () => {
        await mkdir(join(folder, "real"));
        await link("real", "d");
        await link("gone.csv", "real/b.csv");
      },
    ],
  ])("%s stops a glob that matches it", async (_name, named, message, make) => {
    await write("a.csv", CSV);
    await make();
    expect(await failure(resolveNames(["{*,d/*}.csv"]))).toContain(message);
    if (named !== undefined) expect(await failure(resolveNames([named]))).toContain(message);
  });

  test("a glob matches files, not directories", async () => {
    for (const name of ["old.csv", "empty.csv"]) await mkdir(join(folder, name));
    await write("a.csv", CSV);
    await write("old.csv/b.csv", CSV);
    await link("old.csv", "linked.csv");
    expect(await resolveNames(["*.csv"])).toEqual(["a.csv"]);
    expect(await resolveNames(["old.cs[v]/**"])).toEqual(["old.csv/b.csv"]);
    expect(await failure(resolveNames(["*/*.csv"]))).toContain("/b.csv was given twice.");
    expect(await failure(resolveNames(["e*.csv"]))).toContain("No file matches e*.csv.");
  });

  test("--format overrides the name, not the compression", async () => {
    await write("export.txt.gz", gzipSync(CSV));
    expect(await inputOf("export.txt.gz", { inputFormat: "csv" })).toMatchObject({ format: "csv", compression: "gz" });
    expect(await inputOf("-", { inputFormat: "ndjson" })).toMatchObject({ path: "-", format: "ndjson" });
    expect(await inputOf("-")).toMatchObject({ path: "-", format: "detect" });
  });

  test("what can't be used is refused in one sentence", async () => {
    await write("a.csv", CSV);
    await write("notes.txt", "");
    await write("x.constructor", "");
    await write("book.xlsx", "");
    await mkdir(join(folder, "dir"));
    await symlink(join(folder, "a.csv"), join(folder, "link.csv"));
    const cases: [string[], ResolveOptions, string][] = [
      [["missing.csv"], {}, "There is no file missing.csv."],
      [["missing.txt"], {}, "There is no file missing.txt."],
      [["a.csv/b.csv"], {}, "There is no file a.csv/b.csv."],
      [["no*.csv"], {}, "No file matches no*.csv."],
      [["dir"], {}, 'dir is a directory, not a file. Name the files in it, such as "dir/*.csv".'],
      [["dir/"], {}, 'such as "dir/*.csv"'],
      [[""], {}, "A file name is empty."],
      [["notes.txt"], {}, "--format"],
      [["x.constructor"], {}, "--format"],
      [["book.xlsx"], {}, 'Save a workbook as "CSV UTF-8".'],
      [["a.csv"], { inputFormat: "ndjsn" }, "Did you mean ndjson?"],
      [["a.csv"], { inputFormat: "constructor" }, 'There is no input format "constructor".'],
      [["a.csv", "a.csv"], {}, "a.csv was given twice."],
      [["a.csv", "./a.csv"], {}, "./a.csv was given twice (by a.csv and by ./a.csv)."],
      [["a.csv", "a*.csv"], {}, "a.csv was given twice (by a.csv and by a*.csv)."],
      [["a.csv", "link.csv"], {}, "link.csv was given twice"],
      [["-", "-"], {}, "Standard input was given twice."],
    ];
    for (const [patterns, options, message] of cases) {
      expect(await failure(resolveInputs(patterns, { cwd: folder, ...options }))).toContain(message);
    }
  });

  test.each<[name: string, content: string | Uint8Array, glob: string | undefined, literal: string | undefined]>([
    ["promises.ndjson", PROMISE, "promises file", "promises file"],
    ["failed.ndjson", PROMISE.replace('"actionPromise":"p",', ""), "promises file", "promises file"],
    ["promises.csv", PROMISES_CSV, "promises file", "promises file"],
    ["rejects.csv", REJECTS_CSV, "rejects file", undefined],
    ["rejects.tsv", REJECTS_CSV.replaceAll(",", "\t"), "rejects file", undefined],
    ["rejects.ndjson", '{"a":1,"tickets:reason":"x"}\n', "rejects file", undefined],
    ["rejects.json", '[\n{"a":1,"tickets:reason":"x"},\n{"a":2}]\n', "rejects file", undefined],
    ["runs.csv", "run,seq,status\n", undefined, undefined],
    ["sales.ndjson", '{"status":"paid","run":1}\n', undefined, undefined],
    ["broken.ndjson", '{"status', undefined, undefined],
  ])("own output: %s", async (name, content, byGlob, byName) => {
    await write(name, content);
    const glob = `[${name[0]}]${name.slice(1)}`;
    if (byGlob === undefined) expect(await resolveNames([glob])).toEqual([name]);
    else expect(await failure(resolveNames([glob]))).toContain(`${name} is a ${byGlob} that tickets wrote`);
    if (byName === undefined) expect(await resolveNames([name])).toEqual([name]);
    else expect(await failure(resolveNames([name]))).toContain(`${name} is a ${byName} that tickets wrote`);
  });
});

describe("what an opened input tells", () => {
  test("the hash is that of the whole file though reading stopped early", async () => {
    const content = `a,b\n1,"x"y\n${"3,4\n".repeat(200_000)}`;
    for (const [name, stored] of [
      ["bad.csv", Buffer.from(content)],
      ["bad.csv.gz", gzipSync(content)],
      ["bad.csv.zst", zstdCompressSync(content)],
    ] as const) {
      await write(name, stored);
      await using input = await openInput(await inputOf(name));
      const rows: Row[] = [];
      for await (const batch of input.batches()) rows.push(...batch);
      expect(rows).toMatchObject([{ kind: "malformed", line: 2, bordersKnown: false }]);
      expect(input.bytesRead).toBe(stored.length);
      expect(input.sha256).toBe(createHash("sha256").update(stored).digest("hex"));
    }
  });
});

describe("encodings", () => {
  test.each<[what: string, encoding: string, content: Buffer, found: string | undefined]>([
    ["UTF-8", "windows-1252", Buffer.from("a,b\n1,x\n2,Gärten und Öl\n"), "3 Gärten GÃ¤rten"],
    ["UTF-8 far behind", "windows-1250", Buffer.from(`a,b\n${"1,x\n".repeat(50_000)}2,Œuvre\n`), "50002 Œuvre Ĺ’uvre"],
    ["UTF-8 of many blocks", "koi8-r", Buffer.from(`a,b\n${"1,žŸ€\n".repeat(30_000)}`), "2 žŸ€"],
    ["legacy behind UTF-8", "windows-1252", Buffer.from("a,b\n1,GÃ¤rten\n2,G\xe4rten\n", "latin1"), undefined],
    ["a character that is cut off", "windows-1252", Buffer.from("a,b\n1,GÃ¤rten\n2,AMANHÃ", "latin1"), undefined],
    ["two bytes of GBK", "gbk", Buffer.from([...Buffer.from("a,b\n1,"), 0xd0, 0xa1, 0x0a]), undefined],
    ["much UTF-8 as GBK", "gbk", Buffer.from("a,b\n1,中文中文中文中文\n"), "2 中文中文中文中文"],
  ])("a legacy encoding of %s", async (_, encoding, content, found) => {
    await write("sales.csv", content);
    await using input = await openInput(await inputOf("sales.csv"), { encoding });
    let rows = 0;
    for await (const batch of input.batches()) rows += batch.length;
    const problems = problemsOfContent(input, rows, false).filter(({ rule }) => rule === "looks-like-utf8");
    if (found === undefined) return expect(problems).toEqual([]);
    const [line, ...words] = found.split(" ");
    expect(problems).toMatchObject([{ line: Number(line) }]);
    for (const word of [`read as ${input.encoding}`, ...words]) expect(problems[0]?.message).toContain(word);
  });

  test.each([
    ["rejects.csv", "eventId,tickets:reason,tickets:row\nE,Gärten,1\n"],
    ["rejects.ndjson", '{"eventId":"Gärten","tickets:reason":"","tickets:row":"1"}\n'],
  ])("rejects are UTF-8, whatever is said of them: %s", async (name, text) => {
    await write(name, text);
    const read_ = await read(await inputOf(name), { encoding: "windows-1252" });
    expect(read_.encoding).toBe("utf-8");
    expect(JSON.stringify(read_.rows)).toContain("Gärten");
    await write(name, Buffer.from(text, "latin1"));
    expect(await failure(read(await inputOf(name), { encoding: "windows-1252" }))).toContain(
      "is a rejects file and not valid UTF-8",
    );
  });
});

describe("compressed files", () => {
  const checksum = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
  const skippable = Buffer.concat([Buffer.of(0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0), Buffer.from("abc")]);
  const incompressible = `a,b\n${randomBytes(400_000).toString("base64")},1\n`;
  const text = Buffer.from(CSV);
  const half = text.indexOf("wave,2");

  test.each<[name: string, stored: Uint8Array]>([
    ["members.csv.gz", Buffer.concat([gzipSync(text.subarray(0, half)), gzipSync(text.subarray(half))])],
    ["checked.csv.zst", zstdCompressSync(CSV, checksum)],
    [
      "frames.csv.zst",
      Buffer.concat([zstdCompressSync(text.subarray(0, half), checksum), zstdCompressSync(text.subarray(half))]),
    ],
    ["emptyframe.csv.zst", Buffer.concat([zstdCompressSync(""), zstdCompressSync(CSV), zstdCompressSync("")])],
  ])("%s is read whole", async (name, stored) => {
    await write(name, stored);
    const result = await read(await inputOf(name));
    expect(result.rows).toMatchObject(ROWS);
    expect(result.bytesRead).toBe(stored.length);
    expect(result.sha256).toBe(createHash("sha256").update(stored).digest("hex"));
  });

  const gz = gzipSync(incompressible);
  const zst = zstdCompressSync(incompressible, checksum);
  const flipped = (bytes: Uint8Array, at: number) =>
    Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 0x55 : byte)));

  test.each<[name: string, stored: Uint8Array]>([
    ["plain.csv.gz", text],
    ["cut1.csv.gz", gz.subarray(0, -1)],
    ["bent.csv.gz", flipped(gz, gz.length - 6)],
    ["padded.csv.gz", Buffer.concat([gz, Buffer.alloc(1000)])],
    ["more.csv.gz", Buffer.concat([gz, text])],
    ["zerosmore.csv.gz", Buffer.concat([gz, Buffer.alloc(9), text])],
    ["cut1.csv.zst", zst.subarray(0, -1)],
    ["cut3.csv.zst", Buffer.concat([zst, zst.subarray(0, 3)])],
    ["cut4.csv.zst", Buffer.concat([zst, skippable.subarray(0, 9)])],
    ["bent.csv.zst", flipped(zst, zst.length - 1)],
  ])("%s is refused", async (name, stored) => {
    await write(name, stored);
    expect(await failure(read(await inputOf(name)))).toMatch(
      new RegExp(`^${name} is damaged, cut off or not (gzip|Zstandard)-compressed \\(.+\\)\\.`),
    );
  });
});

describe("standard input", () => {
  test.each([
    [CSV, "csv"],
    ['\n {"action":"newEvent"}\n', "ndjson"],
    ['  [{"action":"newEvent"}]', "json"],
  ])("%j is recognised by its first character", async (content, format) => {
    const file = await inputOf("-");
    expect((await read(file, { stdin: Readable.from([Buffer.from(content)]) })).format).toBe(format);
  });

  test("an error of the stream is a failure, an abort its reason", async () => {
    const broken = new Readable({
      read() {
        this.destroy(Object.assign(new Error("broken"), { code: "EIO" }));
      },
    });
    expect(await failure(read(await inputOf("-"), { stdin: broken }))).toContain(
      "Standard input could not be read (EIO).",
    );
    const controller = new AbortController();
    const silent = new PassThrough();
    const reading = read(await inputOf("-"), { stdin: silent, signal: controller.signal });
    controller.abort(new Error("stopped by a person"));
    await expect(reading).rejects.toThrow("stopped by a person");
    expect(silent.destroyed).toBe(true);
  });
});

test("an abort ends the reading of files, packed or not", async () => {
  const content = `a,b\n${"1,2\n".repeat(300_000)}`;
  await write("a.csv", content);
  await write("b.csv.gz", gzipSync(content));
  await write("c.csv.zst", zstdCompressSync(content));
  for (const name of ["a.csv", "b.csv.gz", "c.csv.zst"]) {
    const controller = new AbortController();
    const reading = (async () => {
      await using input = await openInput(await inputOf(name), { signal: controller.signal });
      for await (const batch of input.batches()) if (batch.length > 0) controller.abort(new Error("enough"));
    })();
    await expect(reading).rejects.toThrow("enough");
  }
});

describe("memory stays flat", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const BLOCKS_BETWEEN = 200;

  /** What is in use after everything else was collected, in MiB; resident memory says how busy the machine is, too. */
  function liveMiB(): number {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 1024 ** 2;
  }

  /** Reads what `chunk` yields `times` times; the most that is in use on the way above what was at the start, in MiB. */
  async function growthMiB(
    head: string,
    chunk: string,
    times: number,
    tail: string,
    inputFormat: string,
  ): Promise<{ rows: number; growth: number }> {
    liveMiB();
    await nextTurn(); // what the tests before have left is given back in a later turn
    const before = liveMiB();
    let most = before;
    function* chunks() {
      yield Buffer.from(head);
      const block = Buffer.from(chunk);
      for (let count = 0; count < times; count += 1) {
        if (count % BLOCKS_BETWEEN === 0) most = Math.max(most, liveMiB());
        yield block;
      }
      yield Buffer.from(tail);
    }
    let rows = 0;
    await using input = await openInput(await inputOf("-", { inputFormat }), { stdin: Readable.from(chunks()) });
    for await (const batch of input.batches()) rows += batch.filter((row) => row.kind !== "malformed").length;
    return { rows, growth: Math.max(most, liveMiB()) - before };
  }

  type Large = [name: string, head: string, row: string, tail: string, format: string];

  const isFlat = async (...[_name, head, row, tail, format]: Large): Promise<void> => {
    const perChunk = Math.floor(100_000 / row.length);
    const times = Math.ceil(200_000_000 / (perChunk * row.length));
    const { rows, growth } = await growthMiB(head, row.repeat(perChunk), times, tail, format);
    expect(rows).toBe(perChunk * times + (format === "json" ? 1 : 0));
    expect(growth).toBeLessThan(100);
  };

  test.each<Large>([
    ["200 MB of NDJSON", "", `{"action":"newEvent","data":{"eventId":"${"x".repeat(140)}"}}\n`, "", "ndjson"],
    ["200 MB of CSV", "a,b,c\n", `${"x".repeat(90)},"1,2",é\n`, "", "csv"],
    ["a JSON array of 200 MB", "[{}", `,\n{"action":"newEvent","data":{"eventId":"${"x".repeat(140)}"}}`, "]", "json"],
  ])("%s", { tags: ["long"] }, isFlat);
});
