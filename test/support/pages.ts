/** The pages of this repository, as their readers have them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const PAGES: readonly string[] = globSync(["*.md", "docs/**/*.md", "fixtures/**/*.md", "bench/**/*.md"], {
  cwd: ROOT,
}).toSorted();

export const readPage = (page: string): string => readFileSync(join(ROOT, page), "utf8");

/** Targets of its links and pictures that lead somewhere in the repository, with their anchors. */
export function linksIn(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)|<(?:img|source) [^>]*src(?:set)?="([^"]+)"/g)]
    .map(([, target = "", picture = ""]) => target + picture)
    .filter((target) => !/^[a-z]+:/i.test(target));
}
