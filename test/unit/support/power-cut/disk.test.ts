import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFolder } from "../../../support/folder.ts";
import { type Arrival, readDisk } from "../../../support/power-cut/disk.ts";
import type { Operation, Traced } from "../../../support/power-cut/trace.ts";

const NOTHING: Arrival = { name: () => false, content: (_path, versions) => versions[0] };
const ALL: Arrival = { name: () => true, content: (_path, versions) => versions.at(-1) };

interface Place {
  readonly folder: string;
  readonly path: (name: string) => string;
  /** Leaves the folder as the disk after these calls. */
  readonly cut: (operations: readonly Operation[], arrival: Arrival, until?: number) => void;
  readonly read: (name: string) => string | undefined;
}

/** A folder with `old.txt` and the folder `kept` in it. */
function openPlace(): Place {
  const folder = openFolder();
  const path = (name: string): string => join(folder, name);
  writeFileSync(path("old.txt"), "old");
  mkdirSync(path("kept"));
  const disk = readDisk(folder);
  return {
    folder,
    path,
    cut: (operations, arrival, until) => disk().play(traced(operations), until).write(arrival),
    read: (name) => (existsSync(path(name)) ? readFileSync(path(name), "utf8") : undefined),
  };
}

/** One call after the other: the first from 0 to 10, the next from 10 to 20. */
const traced = (operations: readonly Operation[]): readonly Traced[] =>
  operations.map((operation, at) => ({ start: at * 10, end: at * 10 + 10, operation }));

const create = (path: string): Operation => ({ kind: "open", path, creates: true, empties: false });
const sync = (path: string): Operation => ({ kind: "sync", path });
const append = (path: string, text: string): Operation => ({
  kind: "write",
  path,
  offset: "end",
  length: text.length,
  bytes: Buffer.from(text),
});

test("what was written is lost until the file was forced to the disk", () => {
  const { path, cut, read } = openPlace();
  const calls = [append(path("old.txt"), "+1"), sync(path("old.txt")), append(path("old.txt"), "+2")];
  cut(calls, NOTHING);
  expect(read("old.txt")).toBe("old+1");
  cut(calls, ALL);
  expect(read("old.txt")).toBe("old+1+2");
});

test("an fsync counts once it has ended", () => {
  const { path, cut, read } = openPlace();
  const calls = [append(path("old.txt"), "+1"), sync(path("old.txt"))];
  cut(calls, NOTHING, 19);
  expect(read("old.txt")).toBe("old");
  cut(calls, NOTHING, 20);
  expect(read("old.txt")).toBe("old+1");
});

test("a new file is lost with all that was forced to the disk in it, until its folder was", () => {
  const { folder, path, cut, read } = openPlace();
  const calls = [create(path("new.txt")), append(path("new.txt"), "new"), sync(path("new.txt"))];
  cut(calls, NOTHING);
  expect(read("new.txt")).toBeUndefined();
  cut([...calls, sync(folder)], NOTHING);
  expect(read("new.txt")).toBe("new");
});

test("a file that was renamed and not forced to the disk may stand empty under its new name", () => {
  const { path, cut, read } = openPlace();
  const calls: Operation[] = [
    create(path("kept/next.txt")),
    append(path("kept/next.txt"), "next"),
    { kind: "rename", path: path("kept/next.txt"), to: path("kept/now.txt") },
    sync(path("kept")),
  ];
  cut(calls, NOTHING);
  expect(read("kept/now.txt")).toBe("");
  expect(readdirSync(path("kept"))).toEqual(["now.txt"]);
});
