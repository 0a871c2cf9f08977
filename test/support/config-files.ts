import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Failure } from "../../src/failure.ts";

/** A project folder and a home of its own, gone at the end of the test. */
export async function openFolders(files: Readonly<Record<string, string>> = {}) {
  const root = await mkdtemp(join(tmpdir(), "tickets-config-"));
  const cwd = join(root, "above", "project");
  const home = join(root, "home");
  const write = async (path: string, text: string) => {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  await mkdir(cwd, { recursive: true });
  await mkdir(home, { recursive: true });
  for (const [path, text] of Object.entries(files)) await write(path, text);
  return {
    root,
    cwd,
    home,
    write,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** The failure that `promise` ends in. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
  throw new Error("nothing failed");
}

export const PROJECT = "above/project/tickets.config.yaml";
export const USER = "home/.config/tickets/config.yaml";
