/**
 * A disk under a run: what is certainly on it at a moment, and what the system may still hold back. From both come the
 * states in which a power cut may leave it.
 */

import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeOld } from "../folder.ts";
import { isHollow, type Operation, type Traced } from "./trace.ts";

/** A change of what a file holds. */
type Change =
  | { readonly kind: "write"; readonly offset: number; readonly length: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly size: number };

/** What a file holds; of a hollow one, only its size counts. */
export interface Content {
  readonly size: number;
  readonly bytes: Buffer;
}

interface Pending<What> {
  readonly what: What;
  readonly end: number;
}

interface DiskFile {
  readonly kind: "file";
  readonly hollow: boolean;
  /** What was forced to the disk. */
  durable: Content;
  readonly pending: Pending<Change>[];
  /** As the program sees it. */
  size: number;
}

interface Folder {
  readonly kind: "folder";
  readonly mode: number;
  /** As the program sees it. */
  readonly names: Map<string, Entry>;
  /** What was forced to the disk. */
  readonly durable: Map<string, Entry>;
}

type Entry = DiskFile | Folder;

/** One change of names, in one folder: all of it is done, or nothing. */
interface NameChange {
  readonly folder: Folder;
  /** Undefined: gone. */
  readonly names: ReadonlyMap<string, Entry | undefined>;
}

/** What of the pending changes arrived. */
export interface Arrival {
  /** Whether a change of names did, given that all before it of the same names have. */
  name(at: number, of: number): boolean;
  /** @param versions what the file has held since it was forced to the disk last, that first. */
  content(path: string, versions: readonly Content[]): Content | undefined;
}

/** All that is below `root` now, as a disk that holds it: a new one each time. */
export function readDisk(root: string): () => Disk {
  const top = readFolder(root);
  return () => new Disk(root, copyOf(top));
}

export class Disk {
  readonly #root: string;
  readonly #top: Folder;
  #renamed: Pending<NameChange>[] = [];
  /** What had a name before: a call of another thread that began while it was renamed may still tell the file by it. */
  readonly #formerly = new Map<string, Entry | undefined>();

  constructor(root: string, top: Folder) {
    this.#root = root;
    this.#top = top;
  }

  /** Plays what had begun before a place of the log. Whatever had not ended by then may not have happened. */
  play(trace: readonly Traced[], until = Number.POSITIVE_INFINITY): this {
    for (const { start, end, operation } of trace) {
      if (start >= until) continue;
      if (operation.kind === "sync") {
        if (end <= until) this.#sync(operation.path, start);
      } else this.#change(operation, end);
    }
    return this;
  }

  /** Puts a state of the disk in place of what is below the root. */
  write(arrival: Arrival): void {
    const done = this.#renamed.reduce<{ readonly applied: NameChange[]; readonly lost: NameChange[] }>(
      ({ applied, lost }, { what }, at, { length }) => {
        // What was done to a name later can't be there without what was done to it before.
        const isFree = !lost.some((before) => before.folder === what.folder && sharesName(before, what));
        (isFree && arrival.name(at, length) ? applied : lost).push(what);
        return { applied, lost };
      },
      { applied: [], lost: [] },
    ).applied;
    for (const name of readdirSync(this.#root)) rmSync(join(this.#root, name), { recursive: true, force: true });
    const put = (folder: Folder, path: string): void => {
      const names = new Map(folder.durable);
      for (const change of done) if (change.folder === folder) rename(names, change.names);
      for (const [name, entry] of names) {
        const at = join(path, name);
        if (entry.kind === "file") {
          const content = arrival.content(at.slice(this.#root.length + 1), versionsOf(entry));
          if (content !== undefined) writeContent(at, entry, content);
        } else {
          mkdirSync(at);
          chmodSync(at, entry.mode);
          put(entry, at);
        }
      }
    };
    put(this.#top, this.#root);
  }

  #find(path: string): Entry | undefined {
    let at: Entry | undefined = this.#top;
    for (const name of path.slice(this.#root.length + 1).split("/")) {
      if (name === "") continue;
      at = at?.kind === "folder" ? at.names.get(name) : undefined;
    }
    return at;
  }

  /** What a call names that was open to it. */
  #findOpen(path: string): Entry | undefined {
    return this.#find(path) ?? this.#formerly.get(path);
  }

  #folder(path: string): Folder {
    const found = this.#find(path);
    if (found?.kind !== "folder") throw new Error(`the trace knows no folder ${path}`);
    return found;
  }

  #file(path: string): DiskFile {
    const found = this.#findOpen(path);
    if (found?.kind !== "file") throw new Error(`the trace knows no file ${path}`);
    return found;
  }

  #change(operation: Exclude<Operation, { kind: "sync" }>, end: number): void {
    switch (operation.kind) {
      case "open": {
        const { path, empties } = operation;
        const found = this.#find(path);
        if (found === undefined) this.#name(path, newFile(path), end);
        else if (empties && found.kind === "file") this.#fill(found, { kind: "truncate", size: 0 }, end);
        return;
      }
      case "write": {
        const { path, offset, length, bytes } = operation;
        const file = this.#file(path);
        this.#fill(file, { kind: "write", offset: offset === "end" ? file.size : offset, length, bytes }, end);
        return;
      }
      case "truncate":
        this.#fill(this.#file(operation.path), { kind: "truncate", size: operation.size }, end);
        return;
      case "clone": {
        const { size, bytes } = versionsOf(this.#file(operation.from)).at(-1) ?? NOTHING;
        this.#fill(this.#file(operation.path), { kind: "write", offset: 0, length: size, bytes }, end);
        return;
      }
      case "mkdir":
        this.#name(operation.path, newFolder(operation.mode), end);
        return;
      case "remove":
        this.#name(operation.path, undefined, end);
        return;
      case "rename": {
        const { path, to } = operation;
        if (dirname(path) !== dirname(to)) throw new Error(`nobody rebuilds a move from ${path} to ${to}`);
        const entry = this.#find(path);
        this.#formerly.set(path, entry);
        this.#rename(path, new Map([[basename(path), undefined] as const, [basename(to), entry] as const]), end);
        return;
      }
      case "send":
    }
  }

  #name(path: string, entry: Entry | undefined, end: number): void {
    this.#rename(path, new Map([[basename(path), entry]]), end);
  }

  #rename(path: string, names: NameChange["names"], end: number): void {
    const folder = this.#folder(dirname(path));
    rename(folder.names, names);
    this.#renamed.push({ what: { folder, names }, end });
  }

  #fill(file: DiskFile, change: Change, end: number): void {
    file.size = change.kind === "truncate" ? change.size : Math.max(file.size, change.offset + change.length);
    file.pending.push({ what: change, end });
  }

  /** What had ended before an fsync began is on the disk once that has ended. */
  #sync(path: string, start: number): void {
    const entry = this.#findOpen(path);
    if (entry === undefined) return;
    if (entry.kind === "folder") {
      const isCovered = ({ what, end }: Pending<NameChange>): boolean => what.folder === entry && end <= start;
      for (const { what } of this.#renamed.filter(isCovered)) rename(entry.durable, what.names);
      this.#renamed = this.#renamed.filter((each) => !isCovered(each));
      return;
    }
    while (entry.pending[0] !== undefined && entry.pending[0].end <= start) {
      const [{ what }] = entry.pending.splice(0, 1) as [Pending<Change>]; // there is one
      entry.durable = changed(entry.durable, what, entry.hollow);
    }
  }
}

const NOTHING: Content = { size: 0, bytes: Buffer.alloc(0) };

function newFile(path: string, content = NOTHING, hollow = isHollow(path)): DiskFile {
  return { kind: "file", hollow, durable: content, pending: [], size: content.size };
}

const newFolder = (mode: number): Folder => ({ kind: "folder", mode, names: new Map(), durable: new Map() });

function readFolder(path: string): Folder {
  const folder = newFolder(lstatSync(path).mode & 0o777);
  for (const name of readdirSync(path)) {
    const at = join(path, name);
    const found = lstatSync(at);
    const bytes = found.isDirectory() || isHollow(at) ? NOTHING.bytes : readFileSync(at);
    add(folder, name, found.isDirectory() ? readFolder(at) : newFile(at, { size: found.size, bytes }));
  }
  return folder;
}

function add({ names, durable }: Folder, name: string, entry: Entry): void {
  names.set(name, entry);
  durable.set(name, entry);
}

function copyOf({ mode, names }: Folder): Folder {
  const folder = newFolder(mode);
  for (const [name, entry] of names) {
    add(folder, name, entry.kind === "folder" ? copyOf(entry) : newFile(name, entry.durable, entry.hollow));
  }
  return folder;
}

function rename(names: Map<string, Entry>, changes: NameChange["names"]): void {
  for (const [name, entry] of changes) {
    if (entry === undefined) names.delete(name);
    else names.set(name, entry);
  }
}

const sharesName = (one: NameChange, other: NameChange): boolean =>
  [...one.names.keys()].some((name) => other.names.has(name));

function versionsOf({ durable, pending, hollow }: DiskFile): readonly Content[] {
  const versions = [durable];
  for (const { what } of pending) versions.push(changed(versions.at(-1) ?? durable, what, hollow));
  return versions;
}

function changed({ size, bytes }: Content, change: Change, hollow: boolean): Content {
  const next = change.kind === "truncate" ? change.size : Math.max(size, change.offset + change.length);
  if (hollow) return { size: next, bytes };
  const copy = Buffer.alloc(next);
  bytes.copy(copy);
  if (change.kind === "write") change.bytes.copy(copy, change.offset);
  return { size: next, bytes: copy };
}

function writeContent(path: string, { hollow }: DiskFile, { size, bytes }: Content): void {
  writeOld(path, bytes);
  chmodSync(path, 0o600);
  if (hollow) truncateSync(path, size);
}
