/** What the program and the thread that speaks with PostgreSQL say to each other. */

import type { SqlRow } from "../ledger.ts";

/** Where a database is, and how it is spoken to. Nothing of it but `shown` is ever printed. */
export interface ServerAddress {
  /** `postgres://user:password@host:port/database`; several hosts with commas between them, of which the one that takes writes is used. */
  readonly url: string;
  /** PEM texts. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  /** Names the session in the server's lists. */
  readonly application: string;
  /** Where the tables are. */
  readonly schema: string;
  readonly connectTimeoutMs: number;
}

export type SqlValue = null | number | bigint | string | NodeJS.ArrayBufferView;

export type Request =
  | { readonly kind: "connect" }
  | { readonly kind: "ask"; readonly sql: string; readonly values: readonly SqlValue[] }
  /** One statement as a person wrote it, for any columns. */
  | { readonly kind: "look"; readonly sql: string }
  | { readonly kind: "end" };

/** What a statement gives, as the server writes it. Names may stand twice. */
export interface TextTable {
  /** `type` is the OID of the column's type. */
  readonly columns: readonly { readonly name: string; readonly type: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

export type Reply =
  | { readonly kind: "rows"; readonly rows: readonly SqlRow[]; readonly changes: number }
  | ({ readonly kind: "table" } & TextTable)
  | {
      readonly kind: "error";
      readonly message: string;
      /** SQLSTATE, or what the system calls the error. */
      readonly code: string | undefined;
      /** The session is gone, and with it its locks. Whether the statement was carried out is not known. */
      readonly isLost: boolean;
    };

/** What the thread is started with. */
export interface WorkerSetup {
  readonly address: ServerAddress;
  /** One number: 0 while a request is being answered, 1 once its reply lies in the port. */
  readonly answered: SharedArrayBuffer;
}
