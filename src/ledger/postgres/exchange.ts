/** What the program and the thread that speaks with PostgreSQL say to each other. */

import type { SqlRow } from "../ledger.ts";

/** Where a database is, and how it is spoken to. Nothing of it but `shownAddress` is ever printed. */
export interface ServerAddress {
  /** `postgres://user:password@host:port/database`; several hosts with commas between them, of which the one that takes writes is used. */
  readonly url: string;
  /** PEM texts. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  /** Names the session in the server's lists. */
  readonly application: string;
  /** Where the tables are. */
  readonly schema: string;
  /** How long each host may take until it lets the session in. */
  readonly connectTimeoutMs: number;
  /** After so long without a reply the server is asked, on another connection, whether it is still at work (10,000). */
  readonly silenceMs?: number;
}

export type SqlValue = null | number | bigint | string | NodeJS.ArrayBufferView;

export type Request =
  | { readonly kind: "connect" }
  | { readonly kind: "ask"; readonly sql: string; readonly values: readonly SqlValue[] }
  | { readonly kind: "end" };

export type Reply =
  | {
      readonly kind: "rows";
      readonly rows: readonly SqlRow[];
      readonly changes: number;
      /** The server has warned of something. */
      readonly isWarned: boolean;
    }
  | {
      readonly kind: "error";
      readonly message: string;
      /** SQLSTATE, or what the system calls the error. */
      readonly code: string | undefined;
      /** The session is gone, and with it its locks. Whether the statement was carried out is not known. */
      readonly isLost: boolean;
    };

/** Of which request a reply is: after one was given up, its reply may still come. */
export type Numbered<Of> = Of & { readonly number: number };

/** What the thread is started with. */
export interface WorkerSetup {
  readonly address: ServerAddress;
  /** Grows with each reply that lies in the port. */
  readonly answered: SharedArrayBuffer;
}
