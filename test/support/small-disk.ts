/** A small file system in memory, to be filled or made read-only as a disk may be. Mounting one takes root. */

import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface SmallDisk {
  readonly path: string;
  /** Takes the room that is left, but for so many KiB. */
  fill(leaveKib?: number): void;
  makeRoom(): void;
  setReadOnly(readOnly: boolean): void;
}

/** Mounts a file system of so many KiB at `path`; it is gone with the test. */
export function mountSmallDisk(path: string, kib: number): SmallDisk {
  mkdirSync(path, { recursive: true });
  mount(`size=${kib}k,mode=0700`, path);
  onTestFinished(() => unmount(path));
  const filler = join(path, "filler");
  return {
    path,
    fill(leaveKib = 0) {
      const file = openSync(filler, "w");
      const block = Buffer.alloc(4096);
      try {
        for (;;) writeSync(file, block);
      } catch (cause) {
        if (!(cause instanceof Error && "code" in cause && cause.code === "ENOSPC")) throw cause;
      } finally {
        closeSync(file);
      }
      if (leaveKib > 0) truncateSync(filler, statSync(filler).size - leaveKib * 1024);
    },
    makeRoom: () => rmSync(filler),
    setReadOnly: (readOnly) => mount(`remount,${readOnly ? "ro" : "rw"}`, path),
  };
}

function mount(options: string, path: string): void {
  run("mount", "-t", "tmpfs", "-o", options, "tmpfs", path);
}

function unmount(path: string): void {
  run("umount", "--lazy", path);
}

function run(command: string, ...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
}

/**
 * Whether tests with small disks are left out: only where mounting isn't permitted, said aloud, and never in CI, where
 * they fail instead.
 */
export const WITHOUT_SMALL_DISKS = !process.env.CI && !canMount();

if (WITHOUT_SMALL_DISKS)
  console.warn("SKIPPED: the tests of full and read-only disks mount small file systems (tmpfs), which takes root.");

function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), "tickets-mount-"));
  try {
    mount("size=64k", path);
    unmount(path);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(path);
  }
}
