/** A thread that speaks with PostgreSQL for the program, which waits for each reply (connection.ts). */

import { type MessagePort, workerData } from "node:worker_threads";
import pg from "pg";
import type { SqlRow } from "../ledger.ts";
import type { Reply, Request, ServerAddress, WorkerSetup } from "./exchange.ts";
import { withNul } from "./nul.ts";

const { port, setup } = workerData as { readonly port: MessagePort; readonly setup: WorkerSetup };
const answered = new Int32Array(setup.answered);

/** OIDs of PostgreSQL's types (pg_type.dat), each with how a value of it is read. */
const READERS = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === "t" ? 1 : 0)], // boolean, as SQLite has it
  [17, toBytes],
  [20, Number], // bigint
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  [1700, Number], // numeric: sums of bigint
]);

const types = { getTypeParser: (oid: number) => READERS.get(oid) ?? withNul };

/** In a memory of its own: what is sent to another thread takes all of its memory along. */
function toBytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.slice(2), "hex"));
}

let client: pg.Client | undefined;
let isLost = false;
/** By statement, the name that the server has prepared it under. */
let names = new Map<string, string>();

async function connect({ url, tls, application, schema, connectTimeoutMs }: ServerAddress): Promise<void> {
  await client?.end().catch(() => undefined);
  client = undefined;
  const made = new pg.Client({
    connectionString: url,
    application_name: application,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types,
    // Said in any case: the driver would look into its own variables.
    ssl: tls ?? false,
  });
  // Told by the statement that is under way, or by the next one.
  made.on("error", () => {
    isLost = true;
  });
  await made.connect();
  const escaped = made.escapeIdentifier(schema);
  // A statement of the ledger takes less time than compiling it does, whatever the server expects.
  await made.query(`SET search_path TO ${escaped}, pg_catalog; SET client_min_messages TO warning; SET jit TO off`);
  names = new Map();
  isLost = false;
  client = made;
}

async function ask(sql: string, values: readonly unknown[]): Promise<Reply> {
  if (client === undefined || isLost) throw Object.assign(new Error("the connection was lost"), { code: "08003" });
  if (values.length === 0 && !sql.startsWith("SELECT")) {
    const result = await client.query(sql);
    return toReply(Array.isArray(result) ? result.at(-1) : result);
  }
  let name = names.get(sql);
  if (name === undefined) {
    name = `s${names.size}`;
    names.set(sql, name);
  }
  return toReply(await client.query({ name, text: sql, values: [...values] }));
}

/** One statement and no more, which only the extended protocol sees to; its cells as they come. */
async function look(sql: string): Promise<Reply> {
  if (client === undefined || isLost) throw Object.assign(new Error("the connection was lost"), { code: "08003" });
  const asText = { getTypeParser: () => (text: string) => text };
  const query = { text: sql, rowMode: "array", queryMode: "extended", types: asText } as const;
  const { fields, rows } = await client.query(query);
  const columns = fields.map(({ name, dataTypeID: type }) => ({ name, type }));
  return { kind: "table", columns, rows: rows as readonly (readonly (string | null)[])[] }; // by rowMode and types
}

const toReply = ({ rows, rowCount }: pg.QueryResult): Reply => ({
  kind: "rows",
  rows: rows as readonly SqlRow[],
  changes: rowCount ?? 0,
});

/** Classes of SQLSTATE after which the session is gone: connection exceptions, and the server's own end (PostgreSQL, Appendix A). */
const LOST = /^(?:08|57P0)/;

/** The driver gives these no code. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/does not support SSL/, "NO_TLS"],
  [/client password must be/, "NO_PASSWORD"],
  [/timeout expired/, "ETIMEDOUT"],
  [/Connection terminated|connection was lost/i, "08006"],
];

function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  return NAMED.find(([words]) => words.test(cause.message))?.[1];
}

function toError(thrown: unknown): Reply {
  // All addresses of a host, each with an error of its own.
  const cause: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  const code = codeOf(cause);
  // What the server said of a statement has a severity; without one the connection itself has failed.
  const isFromServer = cause instanceof Error && "severity" in cause && cause.severity !== undefined;
  const lost = isLost || !isFromServer || LOST.test(code ?? "");
  isLost ||= lost;
  return { kind: "error", message: cause instanceof Error ? cause.message : String(cause), code, isLost: lost };
}

async function answer(request: Request): Promise<Reply> {
  try {
    switch (request.kind) {
      case "connect":
        await connect(setup.address);
        return { kind: "rows", rows: [], changes: 0 };
      case "ask":
        return await ask(request.sql, request.values);
      case "look":
        return await look(request.sql);
      case "end":
        await client?.end();
        return { kind: "rows", rows: [], changes: 0 };
    }
  } catch (cause) {
    return toError(cause);
  }
}

port.on("message", (request: Request) => {
  void answer(request).then((reply) => {
    port.postMessage(reply);
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
    if (request.kind === "end") port.close();
  });
});
