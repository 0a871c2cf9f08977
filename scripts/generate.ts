/**
 * Writes what is generated, the table of currencies, docs and the man page; with --check only says which of them are not as they should
 * be, and fails if any.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CURRENCY_TABLE, currencyTable } from "./currencies.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const isCheck = process.argv.includes("--check");

write(CURRENCY_TABLE, currencyTable());
// The docs are made from src/, of which the table is a part.
const { generatedDocs } = await import("./docs.ts");
for (const [path, text] of generatedDocs()) write(path, text);
const { manPage } = await import("./man.ts");
write("man/tickets.1", manPage());

function write(path: string, text: string): void {
  const file = join(root, path);
  if (readIfThere(file) === text) return;
  if (isCheck) {
    process.stderr.write(`${path} is not what npm run generate makes.\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`${path}\n`);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}
