import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manPage } from "../../../scripts/man.ts";
import { ROOT, readPage } from "../../support/pages.ts";

test("man/tickets.1 is what npm run generate makes of the program", () => {
  expect(readPage("man/tickets.1")).toBe(manPage());
});

test("groff formats it without a warning, with all commands and flags in it", () => {
  const { stdout, stderr, status } = spawnSync(
    "groff",
    ["-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", join(ROOT, "man/tickets.1")],
    { encoding: "utf8" },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  for (const reported of ["tickets stream [options] files ...", "--max-age <time>", "all but init", "docs/commands.md"])
    expect(stdout).toContain(reported);
});
