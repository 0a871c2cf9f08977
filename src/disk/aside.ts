/** Setting things aside: under another name beside themselves, so that nothing is deleted. */

import { existsSync, renameSync } from "node:fs";

/** The files that SQLite keeps beside a database. */
export const BESIDE_DATABASE = ["-wal", "-shm"] as const;

/**
 * Sets a file, link or folder aside under a name that says when, and what stands beside it under its name and one of
 * these endings. Returns the new name.
 */
export function setAside(path: string, at = new Date(), beside: readonly string[] = []): string {
  const stem = `${path}.${nameOfTime(at)}`;
  let aside = `${stem}.aside`;
  for (let number = 2; existsSync(aside); number += 1) aside = `${stem}.${number}.aside`;
  renameSync(path, aside);
  for (const ending of beside) if (existsSync(path + ending)) renameSync(path + ending, aside + ending);
  return aside;
}

/** An instant as a part of a file's name. */
const nameOfTime = (at: Date): string => at.toISOString().replace(/[:.]/g, "-");
