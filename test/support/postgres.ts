/**
 * Debian's PostgreSQL for tests: in a temporary folder, on loopback, as a user of its own, gone with the process that started
 * it however that ends. One server for all tests of a worker, and others that a test may stop, kill, and replace by a standby.
 */

import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { onTestFinished } from "vitest";
import { freePort } from "./raw-server.ts";

/** Where Debian keeps the programs of each version, and the newest of these. */
const VERSIONS = "/usr/lib/postgresql";
const programs = (existsSync(VERSIONS) ? readdirSync(VERSIONS) : [])
  .filter((version) => existsSync(join(VERSIONS, version, "bin", "initdb")))
  .toSorted((one, other) => Number(other) - Number(one))
  .map((version) => join(VERSIONS, version, "bin"))[0];

/** Whether tests with a server are left out: only where there is none, which their names say, and never in CI, where they fail. */
export const WITHOUT_POSTGRES = programs === undefined && !process.env.CI;
/** For the names of these tests. */
export const NEEDS_POSTGRES = programs === undefined ? " (needs Debian's package postgresql)" : "";

const [USER, PASSWORD, DATABASE] = ["tickets", "p@ss/w:rd?", "ledgers"];
/** As it stands in an address. */
const PASSWORD_IN_ADDRESS = encodeURIComponent(PASSWORD);
const [ADMIN, ADMIN_PASSWORD] = ["postgres", "of-the-administrator"];
/** The server does not run as root. */
const SERVER_USER = "postgres";

export interface PostgresServer {
  readonly port: number;
  /** For a ledger: of a user with no rights but on a database of its own. */
  readonly url: string;
  /** A name that no other test has. */
  readonly newSchema: () => string;
  /** Asks as the administrator. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** What is done to it is done when the call returns, so that it can be done in the middle of a transaction. */
export interface OwnServer extends PostgresServer {
  /** `at once`: as a crash does, without a checkpoint; `killed`: all its processes, by SIGKILL. */
  readonly stop: (how: "at once" | "killed") => void;
  /** Once more, on the same port, after it was stopped. */
  readonly start: () => void;
  /** Makes a second server that has each commit before it is confirmed. */
  readonly addStandby: () => Promise<Standby>;
}

interface Standby extends OwnServer {
  /** Has it take writes, after the first one was stopped. */
  readonly promote: () => void;
}

let shared: Promise<PostgresServer> | undefined;

/** The server of this worker, for tests that leave it as it is. */
export function startPostgres(): Promise<PostgresServer> {
  shared ??= startServer(newFolder());
  return shared;
}

/**
 * A server that ends with the test.
 *
 * @param settings of postgresql.conf.
 */
export async function startOwnPostgres(settings: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
  const server = await startServer(newFolder(), settings);
  onTestFinished(() => server.stop("at once"));
  return server;
}

/** Of the cluster in `data`, and all that begin as its copies. */
interface Cluster {
  readonly data: string;
  readonly port: number;
}

async function startServer(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
  const data = join(folder, "data");
  // A database compares by the rules of a language, as it does where nobody thought of it.
  const locale = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"];
  await program("initdb", [`--pgdata=${data}`, `--username=${ADMIN}`, "--auth=trust", "--no-sync", ...locale]);
  configure(data, { ...SMALL, ...settings });
  const cluster = { data, port: await startOnFreePort(data) };
  const admin = await connected(cluster, "postgres");
  try {
    await admin.query(
      `ALTER ROLE ${ADMIN} PASSWORD '${ADMIN_PASSWORD}'; CREATE ROLE ${USER} LOGIN PASSWORD '${PASSWORD}'`,
    );
    await admin.query(`CREATE DATABASE ${DATABASE} OWNER ${USER}`);
    // From now on everybody needs a password.
    execFileSync("sed", ["-i", "s/trust$/scram-sha-256/", join(data, "pg_hba.conf")]);
    await admin.query("SELECT pg_reload_conf()");
  } finally {
    await admin.end();
  }
  return toServer(cluster, folder);
}

/** What a small server needs, which keeps its word all the same. */
const SMALL = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "16MB",
  max_connections: "60",
  min_wal_size: "32MB",
  // Nothing of it is left in /dev/shm by a kill.
  dynamic_shared_memory_type: "mmap",
  lc_messages: "C",
};

function configure(data: string, settings: Readonly<Record<string, string>>, file = "postgresql.conf"): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  appendFileSync(join(data, file), lines.join(""));
}

function toServer(cluster: Cluster, folder: string): OwnServer {
  const { data, port } = cluster;
  let schemas = 0;
  const query: PostgresServer["query"] = async (sql) => {
    const client = await connected(cluster, DATABASE);
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    port,
    url: `postgres://${USER}:${PASSWORD_IN_ADDRESS}@127.0.0.1:${port}/${DATABASE}`,
    newSchema() {
      schemas += 1;
      return `test_${process.pid}_${schemas}`;
    },
    query,
    stop: (how) => stop(data, how),
    start: () => startOn(data, port),
    async addStandby() {
      const standby = await startStandby(cluster, folder);
      const isInSync = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'";
      await query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await query("SELECT pg_reload_conf()");
      while ((await query(isInSync)).length === 0) await wait(LOOK_MS);
      return standby;
    },
  };
}

let standbys = 0;

async function startStandby(of: Cluster, folder: string): Promise<Standby> {
  standbys += 1;
  const data = join(folder, `standby-${standbys}`);
  const primary = `host=127.0.0.1 port=${of.port} user=${ADMIN} password=${ADMIN_PASSWORD}`;
  const copy = ["--checkpoint=fast", "--no-sync", "--wal-method=stream", "--write-recovery-conf"];
  await program("pg_basebackup", [`--pgdata=${data}`, `--dbname=${primary}`, ...copy]);
  // Whom the first one waits for it does not wait for when it has taken its place.
  configure(data, { synchronous_standby_names: "", wal_retrieve_retry_interval: "100ms" }, "postgresql.auto.conf");
  const cluster = { data, port: await startOnFreePort(data) };
  onTestFinished(() => stop(data, "at once"));
  return { ...toServer(cluster, folder), promote: () => control("promote", data) };
}

async function connected({ port }: Cluster, database: string): Promise<pg.Client> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: ADMIN, password: ADMIN_PASSWORD, database });
  // A server that is stopped ends its connections; whoever asks over one hears of it.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Another program may take a port between its being found free and its being used. */
const MOST_PORTS = 20;

async function startOnFreePort(data: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      startOn(data, port);
      return port;
    } catch (cause) {
      if (tries === MOST_PORTS || !readFileSync(logOf(data), "utf8").includes("Address already in use")) throw cause;
    }
  }
}

const logOf = (data: string): string => `${data}.log`;

/** Returns once it takes connections. */
function startOn(data: string, port: number): void {
  control("start", data, `--log=${logOf(data)}`, `--options=-p ${port}`);
}

const LOOK_MS = 10;

function stop(data: string, how: "at once" | "killed"): void {
  const pid = serverOf(data);
  if (pid === undefined || !isAlive(pid)) return;
  if (how === "at once") endNow(pid, "SIGQUIT");
  else {
    // It would start other processes in place of those that are killed.
    process.kill(pid, "SIGSTOP");
    const children = childrenOf(pid);
    for (const each of [...children, pid]) endNow(each, "SIGKILL");
    while (children.some(isAlive)) sleep();
  }
  while (isAlive(pid)) sleep();
  if (how === "killed") tidyAfterKill(join(data, "postmaster.pid"));
}

/** Of its lines the seventh names a piece of shared memory, as key and id (pidfile.h). */
function tidyAfterKill(pidFile: string): void {
  const [, memory] = readFileSync(pidFile, "utf8").split("\n")[6]?.trim().split(/ +/) ?? [];
  if (memory !== undefined) spawnSync("ipcrm", ["--shmem-id", memory]);
  // A process that nobody has asked for its exit code yet would pass for a server that runs.
  rmSync(pidFile);
}

function serverOf(data: string): number | undefined {
  const path = join(data, "postmaster.pid");
  return existsSync(path) ? Number(readFileSync(path, "utf8").split("\n")[0]) : undefined;
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

function endNow(pid: number, signal: "SIGKILL" | "SIGQUIT"): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause;
  }
}

/** A process that has ended, and which nobody has asked for its exit code yet, is none. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/**
 * Waits for the end of this process, which closes its input, and then ends every server in the folder and removes it.
 * `$1`: the folder.
 */
const WARDEN = `
cat >/dev/null
for data in "$1"/*/; do
  pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) || continue
  [ "$(readlink "/proc/$pid/cwd")/" = "$data" ] && kill -QUIT "$pid"
done
until rm -rf "$1" 2>/dev/null; do :; done
`;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-postgres-"));
  if (isRoot) chownSync(folder, idOf("-u"), idOf("-g"));
  const warden = spawn("sh", ["-c", WARDEN, "sh", folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  warden.unref();
  if ("unref" in warden.stdin && typeof warden.stdin.unref === "function") warden.stdin.unref();
  return folder;
}

const isRoot = process.getuid?.() === 0;

const idOf = (which: "-u" | "-g"): number => Number(execFileSync("id", [which, SERVER_USER], { encoding: "utf8" }));

const sleep = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);

async function program(name: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(...toRun(name, args));
}

function control(what: "start" | "promote", data: string, ...args: readonly string[]): void {
  execFileSync(...toRun("pg_ctl", [what, "--wait", `--pgdata=${data}`, ...args]));
}

function toRun(name: string, args: readonly string[]): [string, string[], { cwd: string; env: NodeJS.ProcessEnv }] {
  if (programs === undefined) throw new Error("there is no PostgreSQL: Debian has it in the package postgresql");
  const drop = isRoot ? ["setpriv", `--reuid=${SERVER_USER}`, `--regid=${SERVER_USER}`, "--clear-groups"] : [];
  const [file = "", ...rest] = [...drop, join(programs, name), ...args];
  return [file, rest, { cwd: tmpdir(), env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" } }];
}
