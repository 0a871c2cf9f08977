/** Machines that share a ledger: each with state, home and host name of its own, in the folder of one test. */

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openRig, type Ran, type Rig } from "./invariant/rig.ts";
import type { PostgresServer } from "./postgres.ts";
import { sharedLedger } from "./shared-ledger.ts";

interface Machine {
  /** Runs `tickets` as on this machine. */
  run(args: readonly string[], options?: Parameters<Rig["run"]>[1]): Promise<Ran>;
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

/** @param of the server that they share; without one, that of this worker. */
export async function openMachines(of?: PostgresServer): Promise<Machines> {
  const ledger = await sharedLedger(of);
  const { server, schema } = ledger;
  const rig = await openRig({ shared: ledger });
  const { place } = rig;
  return {
    rig,
    add(host) {
      mkdirSync(place.path(host));
      const named = place.write(
        join(host, "host.mjs"),
        `import os from "node:os";\nimport { syncBuiltinESMExports } from "node:module";\nos.hostname = () => ${JSON.stringify(host)};\nsyncBuiltinESMExports();\n`,
      );
      const env = { TICKETS_STATE_DIR: place.path(join(host, "state")), NODE_OPTIONS: `--import=${named}` };
      return { run: (args, options = {}) => rig.run(args, { ...options, env: { ...env, ...options.env } }) };
    },
    query: (sql) => server.query(sql.replaceAll("@", `"${schema}".`)),
    async lose() {
      await server.query(`DROP SCHEMA "${schema}" CASCADE`);
    },
    lines: (name) => readFileSync(place.path(name), "utf8").trimEnd().split("\n").filter(Boolean),
  };
}
