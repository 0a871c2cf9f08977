import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFolder } from "../../../support/folder.ts";
import { type Arrival, readDisk } from "../../../support/power-cut/disk.ts";
import type { Operation } from "../../../support/power-cut/trace.ts";

const NOTHING: Arrival = { name: () => false, content: (_path, versions) => versions[0] };
const ALL: Arrival = { name: () => true, content: (_path, versions) => versions.at(-1) };

const create = (path: string): Operation => ({ kind: "open", path, creates: true, empties: false });
const sync = (path: string): Operation => ({ kind: "sync", path });
const append = (path: string, text: string): Operation => ({
  ...{ kind: "write", path, offset: "end", length: text.length, bytes: Buffer.from(text) },
});
const OLD = [append("old.txt", "+1"), sync("old.txt"), append("old.txt", "+2")];
const NEW = [create("new.txt"), append("new.txt", "new"), sync("new.txt")];
const MOVED: readonly Operation[] = [
  ...[create("kept/next.txt"), append("kept/next.txt", "next")],
  ...[{ kind: "rename", path: "kept/next.txt", to: "kept/now.txt" } as const, sync("kept")],
];

/** In a folder with `old.txt` and the folder `kept`; one call after the other, the first from 0 to 10, the next from 10 to 20. */
test.each([
  ["what was written is lost until the file was forced to the disk", OLD, NOTHING, undefined, "old.txt", "old+1"],
  ["what the system held back may all arrive", OLD, ALL, undefined, "old.txt", "old+1+2"],
  ["an fsync that has not ended counts for nothing", OLD, NOTHING, 19, "old.txt", "old"],
  ["an fsync counts once it has ended", OLD, NOTHING, 20, "old.txt", "old+1"],
  ["a new file is lost with all that was forced to the disk in it", NEW, NOTHING, undefined, "new.txt", undefined],
  ["a new file stays once its folder was forced", [...NEW, sync(".")], NOTHING, undefined, "new.txt", "new"],
  [
    "a renamed file that was not forced may stand empty under its new name",
    MOVED,
    NOTHING,
    undefined,
    "kept/now.txt",
    "",
  ],
  ["a renamed file has left its old name", MOVED, NOTHING, undefined, "kept/next.txt", undefined],
] as const)("%s", (_name, calls, arrival, until, name, expected) => {
  const folder = openFolder();
  writeFileSync(join(folder, "old.txt"), "old");
  mkdirSync(join(folder, "kept"));
  const inFolder = (each: Operation): Operation => ({
    ...each,
    ...("path" in each && { path: join(folder, each.path) }),
    ...("to" in each && { to: join(folder, each.to) }),
  });
  const trace = calls.map((each, at) => ({ start: at * 10, end: at * 10 + 10, operation: inFolder(each) }));
  readDisk(folder)().play(trace, until).write(arrival);
  const path = join(folder, name);
  expect(existsSync(path) ? readFileSync(path, "utf8") : undefined).toBe(expected);
});
