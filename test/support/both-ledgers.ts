/** The same tests with a ledger in SQLite and with one in PostgreSQL. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openLedger } from "../../src/ledger/open-ledger.ts";
import { openPostgres } from "../../src/ledger/postgres/open-postgres.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "./postgres.ts";

const addressOf = (url: string, schema: string) => ({ url, schema, application: "test", connectTimeoutMs: 10_000 });

interface OpenOptions {
  readonly boundTo?: string;
  readonly readOnly?: boolean;
}

/** Where one ledger is, which may be opened more than once. */
interface LedgerPlace extends Disposable {
  readonly open: (options?: OpenOptions) => Ledger;
}

export interface LedgerKind {
  readonly kind: Ledger["kind"];
  /** Of its own. */
  readonly newPlace: () => Promise<LedgerPlace>;
}

const SQLITE: LedgerKind = {
  kind: "sqlite",
  async newPlace() {
    const folder = mkdtempSync(join(tmpdir(), "tickets-ledger-"));
    return {
      open: (options = {}) => openLedger({ path: join(folder, "ledger.db"), boundTo: undefined, ...options }),
      [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
    };
  },
};

const POSTGRES: LedgerKind = {
  kind: "postgres",
  async newPlace() {
    const server = await startPostgres();
    const address = addressOf(server.url, server.newSchema());
    return {
      open: (options = {}) => openPostgres({ address, boundTo: undefined, ...options }),
      // It goes with the server.
      [Symbol.dispose]: () => undefined,
    };
  },
};

/** A suite that holds for both. */
export function describeBothLedgers(name: string, suite: (of: LedgerKind) => void): void {
  describe(`${name}, in SQLite`, () => suite(SQLITE));
  describe.skipIf(WITHOUT_POSTGRES)(`${name}, in PostgreSQL${NEEDS_POSTGRES}`, () => suite(POSTGRES));
}

/** A ledger that ends with the test. */
export async function newLedger(of: LedgerKind, options: OpenOptions = {}): Promise<Ledger> {
  const place = await of.newPlace();
  const ledger = place.open(options);
  onTestFinished(() => {
    ledger[Symbol.dispose]();
    place[Symbol.dispose]();
  });
  return ledger;
}
