/** One of the many states in which a power cut may leave a disk, by chance. */

import type { Arrival, Content } from "./disk.ts";

/** What may be lost of a file is lost in pieces of the sizes in which disks and file systems write. */
const SECTORS = [512, 4096];
const SHARES = [0.2, 0.5, 0.8];

export interface Cut extends Arrival {
  /** What it did, for who looks into a state that went wrong. */
  readonly story: readonly string[];
}

/** Nothing arrived that was not forced to the disk. */
export const HARDEST_CUT: Cut = {
  story: ["nothing arrived that was not forced to the disk"],
  name: () => false,
  content: (path, versions) => (path.endsWith("-shm") ? undefined : versions[0]),
};

/**
 * How much of what the system held back arrived: nothing, all, what came first, or any of it. Each of these is a state of
 * its own kind: nothing is what a program without fsync relies on least, all is a kill, what came first is a journal, and
 * anything is what the standard allows.
 *
 * @param torn a file of which any part arrived.
 */
export function cutBy(random: () => number, torn: string | undefined): Cut {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T; // none is empty
  const names = pick(["none", "all", "first", "any", "any"] as const);
  const contents = pick(["none", "all", "any", "any", "any"] as const);
  const share = pick(SHARES);
  const first = random();
  const story = [`names: ${names} (${names === "first" ? first.toFixed(2) : share}), contents: ${contents}`];

  const part = (path: string, versions: readonly Content[]): Content => {
    const reported = (how: string, content: Content): Content => {
      story.push(`${path}: ${how}, ${content.size} bytes`);
      return content;
    };
    const last = versions.at(-1) as Content; // the durable one is always there
    const at = Math.floor(random() * versions.length);
    const version = versions[at] as Content; // within
    const how = pick(["version", "torn", "torn, zeros", "sectors", "sectors"] as const);
    if (how === "version" || last.bytes.length !== last.size)
      return reported(`${at} of ${versions.length - 1}`, version);
    if (how === "sectors") {
      const sector = pick(SECTORS);
      const content = mixed(versions, sector, pick(versions).size, random);
      return reported(`sectors of ${sector}`, content);
    }
    // The next change came in part.
    const before = versions[Math.max(0, at - 1)] as Content; // within
    const from = firstDifference(before.bytes, version.bytes);
    const end = from + Math.floor(random() * (version.size - from + 1));
    const size = how === "torn" ? Math.max(end, Math.min(before.size, version.size)) : version.size;
    const bytes = Buffer.alloc(size);
    before.bytes.copy(bytes);
    version.bytes.copy(bytes, 0, 0, end);
    return reported(`${at} of ${versions.length - 1} ${how} at ${end}`, { size, bytes });
  };

  return {
    story,
    name(at, of) {
      if (names === "none" || names === "all") return names === "all";
      return names === "first" ? at < first * of : random() < share;
    },
    content(path, versions) {
      // Mapped into memory, and made anew by whoever finds it after a start.
      if (path.endsWith("-shm")) return anyShared(pick, random);
      if (versions.length === 1) return versions[0];
      if (contents === "any" || torn?.endsWith(`/${path}`)) return part(path, versions);
      return contents === "none" ? versions[0] : versions.at(-1);
    },
  };
}

/** Each sector as one of the versions had it. */
function mixed(versions: readonly Content[], sector: number, size: number, random: () => number): Content {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at += sector) {
    const version = versions[Math.floor(random() * versions.length)] as Content; // within
    bytes.set(version.bytes.subarray(at, Math.min(at + sector, size)), at);
  }
  return { size, bytes };
}

function firstDifference(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) if (one[at] !== other[at]) return at;
  return length;
}

const SHARED_BYTES = 32_768;

function anyShared(pick: <T>(choices: readonly T[]) => T, random: () => number): Content | undefined {
  const how = pick(["missing", "zeros", "anything"] as const);
  if (how === "missing") return undefined;
  const bytes = Buffer.alloc(SHARED_BYTES);
  if (how === "anything") for (let at = 0; at < bytes.length; at += 1) bytes[at] = random() * 256;
  return { size: bytes.length, bytes };
}
