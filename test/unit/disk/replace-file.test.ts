import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replaceFile } from "../../../src/disk/files.ts";
import { openFolder } from "../../support/folder.ts";

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("a link that somebody put under the temporary name is not followed", async () => {
  const folder = openFolder();
  const [path, victim] = [join(folder, "out.csv"), join(folder, "victim")];
  await writeFile(victim, "precious", { mode: 0o600 });
  for (const [nameOf, planted] of [
    [undefined, `${path}.${process.pid}.tmp`],
    [(name: string) => `.${name}.new`, join(folder, ".out.csv.new")],
  ] as const) {
    await symlink(victim, planted);
    await replaceFile(path, "new", { mode: 0o644, ...(nameOf && { nameOf }) });
    expect([await readFile(path, "utf8"), (await lstat(path)).isSymbolicLink()]).toEqual(["new", false]);
    expect([await readFile(victim, "utf8"), await modeOf(victim)]).toEqual(["precious", 0o600]);
  }
});

test("what a link leads to is replaced, with its mode, and the link stays", async () => {
  const folder = openFolder();
  const [path, real] = [join(folder, "link.csv"), join(folder, "real.csv")];
  await writeFile(real, "old");
  await chmod(real, 0o640);
  await symlink("real.csv", path);
  await replaceFile(path, "new");
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect([await readFile(real, "utf8"), await modeOf(real)]).toEqual(["new", 0o640]);
});

test("where it can't be written, all is as it was", async () => {
  const folder = openFolder();
  const path = join(folder, "out.csv");
  await writeFile(path, "old");
  const failing = async function* (): AsyncGenerator<string> {
    yield "half of it";
    throw new Error("no room");
  };
  await expect(replaceFile(path, failing())).rejects.toThrow("no room");
  expect([await readFile(path, "utf8"), await readdir(folder)]).toEqual(["old", ["out.csv"]]);
});
