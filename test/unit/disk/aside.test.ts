import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setAside } from "../../../src/disk/files.ts";
import { openFolder } from "../../support/folder.ts";

const AT = new Date("2026-11-21T03:00:00.123Z");

test("what is set aside keeps all that is in it, under a name that says when", () => {
  const folder = openFolder();
  const path = join(folder, "promises.ndjson");
  writeFileSync(path, "something of value\n");
  const aside = setAside(path, AT);
  expect(aside).toBe(`${path}.2026-11-21T03-00-00-123Z.aside`);
  expect(readFileSync(aside, "utf8")).toBe("something of value\n");
  expect(existsSync(path)).toBe(false);
});

test("what was set aside at the same instant is not overwritten", () => {
  const path = join(openFolder(), "a");
  const names = ["first", "second", "third"].map((text) => {
    writeFileSync(path, text);
    return setAside(path, AT);
  });
  expect(names.map((name) => readFileSync(name, "utf8"))).toEqual(["first", "second", "third"]);
});

test("a database goes with the files beside it, so that it can be opened under its new name", () => {
  const folder = openFolder();
  for (const name of ["ledger.db", "ledger.db-wal", "lock.db"]) writeFileSync(join(folder, name), name);
  setAside(join(folder, "ledger.db"), AT);
  expect(readdirSync(folder).sort()).toEqual([
    "ledger.db.2026-11-21T03-00-00-123Z.aside",
    "ledger.db.2026-11-21T03-00-00-123Z.aside-wal",
    "lock.db",
  ]);
});

test.each(["what it leads to", "nothing"])("a link is set aside, and not %s", (to) => {
  const folder = openFolder();
  const target = join(folder, "target");
  if (to !== "nothing") writeFileSync(target, to);
  symlinkSync(target, join(folder, "link"));
  setAside(join(folder, "link"), AT);
  expect(existsSync(target)).toBe(to !== "nothing");
  expect(readdirSync(folder)).toContain("link.2026-11-21T03-00-00-123Z.aside");
});
