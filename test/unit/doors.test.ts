import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { describe, expect, it } from "vitest";
import { importsOf } from "../support/imports.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The tables of the service and of rules, the sandbox, exit codes and the points at which a process may be killed. */
const OPEN_TO_ALL = /^src\/(?:actions\/|sandbox\/|(?:failure|rules)\.ts$|disk\/crash-points\.ts$)/;

/** The files of this repository that a file imports, by their paths. */
function importedBy(path: string): readonly string[] {
  return importsOf(readFileSync(join(ROOT, path), "utf8"))
    .filter((target) => target.startsWith("."))
    .map((target) => posix.join(posix.dirname(path), target));
}

/** The one way of other tests to commands. */
const DOOR = "test/support/context.ts";

/** Support of unit tests alone. */
const FOR_UNITS: readonly string[] = ["ledgers", "worlds/by-product"].map((name) => `test/support/${name}.ts`);

/** What a test knows of the inside, itself or through its support: `src/a.ts`, or `src/a.ts by test/support/b.ts`. */
function insideOf(path: string, doors: readonly string[] = []): readonly string[] {
  const seen = new Set([path]);
  const found = new Set<string>();
  for (const file of seen) {
    if (doors.includes(file)) continue;
    for (const target of importedBy(file)) {
      if (target.startsWith("test/") && existsSync(join(ROOT, target))) seen.add(target);
      if (!target.startsWith("src/") || OPEN_TO_ALL.test(target)) continue;
      found.add(file === path ? target : `${target} by ${file}`);
    }
  }
  return [...found];
}

describe("a test that types commands", () => {
  const files = globSync("test/e2e/**/*.test.ts", { cwd: ROOT });

  it("is one of many", () => {
    expect(files.length).toBeGreaterThan(40);
  });

  it.each(files)("%s knows nothing of the inside", (path) => {
    expect(insideOf(path)).toEqual([]);
  });
});

describe("a test that carries out commands", () => {
  const files = globSync("test/pipeline/**/*.ts", { cwd: ROOT });

  it.each(files)("%s knows the inside by one door", (path) => {
    expect(insideOf(path, [DOOR])).toEqual([]);
  });
});

describe("support", () => {
  const files = globSync("test/support/**/*.ts", { cwd: ROOT }).filter((path) => !FOR_UNITS.includes(path));

  it.each(files)("%s knows the inside by the same door", (path) => {
    expect(insideOf(path, [DOOR, ...FOR_UNITS])).toEqual([]);
  });
});
