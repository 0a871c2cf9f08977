/** Machines that share a ledger: each with state, home and host name of its own, in the folder of one test. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openRig, type Ran, type Rig } from "./invariant/rig.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";

type RunOptions = Parameters<Rig["run"]>[1];

interface Machine {
  readonly host: string;
  /** Runs `tickets` as on this machine. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
}

export interface Machines {
  readonly rig: Rig;
  /** One that has never been there. */
  add(host: string): Machine;
  /** Asks the ledger's database as its administrator; tables are named with `@` in front. */
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Loses the ledger. */
  lose(): Promise<void>;
  /** Lines of a file of promises. */
  lines(name: string): readonly string[];
}

const ENVIRONMENT = "playground";
export const ON_IT = ["--env", ENVIRONMENT] as const;

/** @param of the server that they share; without one, that of this worker. */
export async function openMachines(of?: PostgresServer): Promise<Machines> {
  const rig = await openRig();
  onTestFinished(rig.close);
  const { place } = rig;
  const server = of ?? (await startPostgres());
  const schema = server.newSchema();
  place.write(
    "shared.yaml",
    [
      "environments:",
      `  ${ENVIRONMENT}:`,
      `    baseUrl: ${rig.sandbox.url}`,
      "    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}",
      `    ledger: {postgres: {url: {env: TICKETS_LEDGER_URL}, schema: ${schema}}}`,
      "",
    ].join("\n"),
  );
  return {
    rig,
    add(host) {
      mkdirSync(place.path(host));
      const named = place.write(
        join(host, "host.mjs"),
        `import os from "node:os";\nimport { syncBuiltinESMExports } from "node:module";\nos.hostname = () => ${JSON.stringify(host)};\nsyncBuiltinESMExports();\n`,
      );
      const env = {
        TICKETS_CONFIG: place.path("shared.yaml"),
        TICKETS_LEDGER_URL: server.url,
        TICKETS_STATE_DIR: place.path(join(host, "state")),
        NODE_OPTIONS: `--import=${named}`,
      };
      return {
        host,
        run: (args, options = {}) => rig.run(args, { ...options, env: { ...env, ...options.env } }),
      };
    },
    query: (sql) => server.query(sql.replaceAll("@", `"${schema}".`)),
    async lose() {
      await server.query(`DROP SCHEMA "${schema}" CASCADE`);
    },
    lines: (name) => readFileSync(place.path(name), "utf8").trimEnd().split("\n").filter(Boolean),
  };
}

/** Writes a file of sales: an event, and tickets `from` to `to` of it. */
export function writeSales(path: string, from: number, to: number): void {
  const rows = Array.from({ length: to - from + 1 }, (_, at) => ({
    action: "soldTicket",
    data: { ticketId: `T${from + at}`, eventId: "E1", userId: "u1", price: "10", orderTime: 1_767_225_600 + from + at },
  }));
  const event = { action: "newEvent", data: { eventId: "E1", eventName: "One", currency: "EUR" } };
  const all = from === 1 ? [event, ...rows] : rows;
  writeFileSync(path, all.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
