import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import {
  type Ended,
  findLedger,
  type Ledger,
  type LedgerPlace,
  type NewAction,
  type NewChunk,
  type NewRun,
  type Origin,
  openLedger,
} from "../../src/ledger/ledger.ts";
import { openFolder } from "./folder.ts";
import { NEEDS_POSTGRES, startPostgres, WITHOUT_POSTGRES } from "./postgres.ts";

export const SERVICE = "https://api.example.com/v1";

export interface Place {
  readonly place: LedgerPlace;
  readonly open: (boundTo?: string) => Promise<Ledger>;
  readonly find: (boundTo?: string) => Promise<Ledger | undefined>;
}

export function toPlace(place: LedgerPlace): Place {
  const closing = <T extends Ledger | undefined>(ledger: T): T => {
    onTestFinished(async () => await ledger?.[Symbol.asyncDispose]());
    return ledger;
  };
  return {
    place,
    open: async (boundTo = SERVICE) => closing(await openLedger({ place, boundTo })),
    find: async (boundTo) => closing(await findLedger({ place, boundTo })),
  };
}

export const inSqlite = async (): Promise<Place> => toPlace({ kind: "sqlite", path: join(openFolder(), "ledger.db") });

async function inPostgres(): Promise<Place> {
  const server = await startPostgres();
  const schema = server.newSchema();
  const shown = `postgres://127.0.0.1/ledgers (schema ${schema})`;
  return toPlace({ kind: "postgres", url: server.url, isTls: false, schema, shown, application: "test" });
}

type NewPlace = () => Promise<Place>;
/** A test of a ledger that was just made. */
type LedgerTest = (name: string, body: (ledger: Ledger, place: Place) => Promise<void>) => void;

export function describeBoth(name: string, tests: (newPlace: NewPlace, it: LedgerTest) => void): void {
  const suite = (newPlace: NewPlace) => (): void => {
    const it: LedgerTest = (title, body) => {
      test(title, async () => {
        const place = await newPlace();
        await body(await place.open(), place);
      });
    };
    tests(newPlace, it);
  };
  describe(`${name}: SQLite`, suite(inSqlite));
  describe.skipIf(WITHOUT_POSTGRES)(`${name}: PostgreSQL${NEEDS_POSTGRES}`, suite(inPostgres));
}

export const at = (second: number): string => new Date(Date.UTC(2026, 2, 1, 3, 0, second)).toISOString();

let runs = 0;

export function newRun(over: Partial<NewRun> = {}): NewRun {
  runs += 1;
  return {
    run: runs.toString(16).padStart(8, "0"),
    createdAt: at(0),
    environment: "production",
    output: "/out/promises.ndjson",
    inputs: [{ name: "sales.csv", source: "sales", format: "csv", sha256: "ab".repeat(32), rows: 2 }],
    rows: { read: 2, mapped: 2 },
    actions: { total: 2 },
    byAction: { soldTicket: 2 },
    problems: { errors: 0, warnings: 0 },
    options: {},
    ...over,
  };
}

/** One action as a test names it. */
export interface Sale {
  readonly id: string;
  readonly price?: string;
  readonly digest?: string;
}

const jsonOf = ({ id, price = "18" }: Sale): string =>
  `{"action":"soldTicket","data":{"eventId":"e1","ticketId":${JSON.stringify(id)},"userId":"u1","price":${price}}}`;

export const bodyOf = (sales: readonly Sale[]): string => `[${sales.map(jsonOf).join(",")}]`;

interface Planned {
  readonly chunks: readonly NewChunk[];
  readonly actions: readonly NewAction[];
}

/** Sales in chunks, each in a lane and a stage. */
export function planned(
  parts: readonly { readonly sales: readonly Sale[]; readonly lane?: number; readonly stage?: number }[],
): Planned {
  let seq = 0;
  const actions: NewAction[] = [];
  const chunks = parts.map(({ sales, lane = 1, stage = 0 }, index): NewChunk => {
    const chunk = index + 1;
    const origins = sales.map((sale, place): Origin => {
      seq += 1;
      const { id, price = "18", digest } = sale;
      const same = { subject: `t:${id}`, kind: "soldTicket", mark: "", content: `price=${price}`, seq } as const;
      const facts = { time: 1_700_000_000 + seq, event: "e1", owner: "u1" };
      actions.push({ ...same, ...facts, chunk, place });
      return { ...same, ...facts, input: 0, line: seq + 1, row: place, digest };
    });
    const rows = sales.map(({ id, price = "18" }) => `${id};${price}`);
    return { chunk, lane, stage, body: Buffer.from(bodyOf(sales)), origins, rows };
  });
  const isBefore = (a: NewAction, b: NewAction): number => (a.subject < b.subject ? -1 : 1);
  return { chunks, actions: actions.toSorted(isBefore) };
}

export async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export async function enter(ledger: Ledger, run: NewRun, plan: Planned): Promise<number> {
  return (await ledger.enterRun(run, each(plan.chunks), each([plan.actions]))).number;
}

/** How the request of a chunk ends. */
export const ending = (event: Ended["event"], of: Partial<Ended> = {}): Ended => ({
  ...{ chunk: 1, at: at(2), event, class: event === "answer" ? "answered" : event },
  ...of,
});

export const promise = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
