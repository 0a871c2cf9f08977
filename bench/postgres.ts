/** Debian's PostgreSQL with its usual settings, on loopback and below the bench's folder; each commit waits for the disk. */

import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const VERSIONS = "/usr/lib/postgresql";
/** It refuses to run as root. */
const USER = "postgres";

export interface Database extends Disposable {
  readonly url: string;
}

/** Undefined where it is not installed. */
export async function startDatabase(folder: string): Promise<Database | undefined> {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const version = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  if (version === undefined) return undefined;
  const isRoot = process.getuid?.() === 0;
  const idOf = (which: string): number => Number(execFileSync("id", [which, USER], { encoding: "utf8" }));
  const run = (name: string, args: readonly string[]): void => {
    const command = [join(VERSIONS, version, "bin", name), ...args];
    const drop = isRoot ? ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"] : [];
    const [file = "", ...rest] = [...drop, ...command];
    execFileSync(file, rest, { cwd: tmpdir(), stdio: "ignore" });
  };
  const home = mkdtempSync(join(folder, "postgres-"));
  if (isRoot) {
    // Its user passes through.
    chmodSync(folder, 0o755);
    chownSync(home, idOf("-u"), idOf("-g"));
  }
  const data = join(home, "data");
  run("initdb", [`--pgdata=${data}`, "--username=tickets", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]);
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  run("pg_ctl", ["start", "--wait", `--pgdata=${data}`, `--log=${data}.log`, `--options=${options}`]);
  return {
    url: `postgres://tickets@127.0.0.1:${port}/postgres`,
    [Symbol.dispose]() {
      run("pg_ctl", ["stop", "--wait", "--mode=fast", `--pgdata=${data}`]);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
  });
  return promise;
}
