/** What was entered, and neither rejected nor abandoned since. */

import type { ActionName } from "../actions/actions.ts";
import { type Database, first, type Session } from "./database.ts";
import type { ActionFacts, Corrected, Identity, KnownAction, Ledger, NewAction, Origin } from "./ledger.ts";
import { ACTIONS, CORRECTED, PENDING, SPELLINGS } from "./schema.ts";
import { raw, rowsOf, type Sql, sql, type Value } from "./sql.ts";

const KEY = { subject: "text", kind: "text", mark: "text" } as const;
const keyOf = ({ subject, kind, mark }: Identity): readonly string[] => [subject, kind, mark];

/** The chunk and place of one that was adopted are null. */
export const toRow = (
  run: number,
  { subject, kind, mark, content, time, event, owner, seq }: ActionFacts & { readonly seq: number },
  chunk: number | null,
  place: number | null,
): readonly Value[] => [
  ...[subject, kind, mark, content, toSigned(time), event ?? null, owner ?? null],
  ...[run, chunk, place, run, seq],
];

/** Databases have signed numbers of 64 bits, and a time has none. */
const toSigned = (time: number | bigint | undefined): Value =>
  typeof time === "bigint" ? BigInt.asIntN(64, time) : (time ?? null);

function fromSigned(text: string | null): number | bigint | undefined {
  if (text === null) return undefined;
  const time = Number(text);
  return Number.isSafeInteger(time) && time >= 0 ? time : BigInt.asUintN(64, BigInt(text));
}

/** Part of a transaction. @throws Failure `busy` where one is known. */
export async function insertActions(session: Session, run: number, actions: readonly NewAction[]): Promise<void> {
  await session.insert(
    ACTIONS,
    actions.map((action) => toRow(run, action, action.chunk, action.place)),
  );
  await insertSpellings(session, actions);
}

/** What is known of it is what the row says now; who sent it stays. */
const ADOPTED = `ON CONFLICT (subject, kind, mark) DO UPDATE SET content = excluded.content, time = excluded.time, event = excluded.event,
  owner = excluded.owner, position_run = excluded.position_run, position_seq = excluded.position_seq`;

/** Part of a transaction: they are known from now on, and nothing is sent. */
export async function adoptActions(session: Session, run: number, actions: readonly NewAction[]): Promise<void> {
  const rows = actions.map((action) => toRow(run, action, null, null));
  await session.insert(ACTIONS, rows, ADOPTED);
  await insertSpellings(session, actions);
}

export async function insertSpellings(
  session: Session,
  actions: readonly Pick<NewAction, "normal" | "subject">[],
): Promise<void> {
  const spellings = actions.flatMap(({ normal, subject }) => (normal === undefined ? [] : [[normal, subject]]));
  if (spellings.length > 0) await session.insert(SPELLINGS, spellings, "ON CONFLICT DO NOTHING");
}

/** Part of a transaction: they were not taken, and may be sent again. */
export async function deleteActions(
  session: Session,
  run: number,
  chunk: number,
  actions: readonly Identity[],
): Promise<void> {
  if (actions.length === 0) return;
  await session.run(sql`DELETE FROM actions WHERE run = ${run} AND chunk = ${chunk}
    AND (subject, kind, mark) IN (SELECT subject, kind, mark FROM ${rowsOf(KEY, actions.map(keyOf))} AS gone)`);
}

/** Part of a transaction: another chunk holds them now, in this order. */
export async function moveActions(
  session: Session,
  run: number,
  from: number,
  to: number,
  actions: readonly Identity[],
): Promise<void> {
  const rows = rowsOf(
    { ...KEY, place: "int" },
    actions.map((action, place) => [...keyOf(action), place]),
  );
  await session.run(sql`UPDATE actions SET chunk = ${to}, place = moved.place FROM ${rows} AS moved
    WHERE actions.subject = moved.subject AND actions.kind = moved.kind AND actions.mark = moved.mark
      AND actions.run = ${run} AND actions.chunk = ${from}`);
}

/** Part of a transaction. */
export async function noteCorrected(
  session: Session,
  origins: readonly (Identity & Pick<Origin, "digest">)[],
): Promise<void> {
  const rows = origins.flatMap((origin) => (origin.digest === undefined ? [] : [[origin.digest, ...keyOf(origin)]]));
  if (rows.length > 0) await session.insert(CORRECTED, rows, "ON CONFLICT DO NOTHING");
}

interface ActionRow {
  readonly subject: string;
  readonly kind: ActionName;
  readonly mark: string;
  readonly content: string;
  readonly time: string | null;
  readonly event: string | null;
  readonly owner: string | null;
  readonly run: number;
  readonly chunk: number | null;
  readonly place: number | null;
  readonly position_run: number;
  readonly position_seq: number;
}

const COLUMNS = sql`actions.subject, kind, mark, content, CAST(time AS TEXT) AS time, event, owner, run, chunk, place, position_run, position_seq`;

/** Rows of `actions` in the order of subject and position. @param from the rest of the statement. */
export async function selectActions(
  session: Session,
  from: Sql,
  ids: Map<number, string>,
): Promise<readonly KnownAction[]> {
  const rows = await session.all<ActionRow>(
    sql`SELECT ${COLUMNS} FROM ${from} ORDER BY actions.subject, position_run, position_seq`,
  );
  if (rows.length === 0) return [];
  const pending = await pendingChunks(session);
  await learnIds(session, rows, ids);
  // Field by field: copying what is left of an object takes longer than reading it from the disk.
  return rows.map((row) => ({
    subject: row.subject,
    kind: row.kind,
    mark: row.mark,
    content: row.content,
    time: fromSigned(row.time),
    event: row.event ?? undefined,
    owner: row.owner ?? undefined,
    run: row.run,
    runId: ids.get(row.run) ?? "",
    chunk: row.chunk ?? undefined,
    place: row.place ?? undefined,
    position: { run: row.position_run, seq: row.position_seq },
    state: row.chunk !== null && pending.get(row.run)?.has(row.chunk) === true ? "pending" : "sent",
  }));
}

async function pendingChunks(session: Session): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const pending = new Map<number, Set<number>>();
  const rows = await session.all<{ run: number; chunk: number }>(
    sql`SELECT run, chunk FROM chunks WHERE state IN ${raw(PENDING)}`,
  );
  for (const { run, chunk } of rows) pending.set(run, (pending.get(run) ?? new Set()).add(chunk));
  return pending;
}

/** A run's id never changes. */
async function learnIds(session: Session, rows: readonly ActionRow[], ids: Map<number, string>): Promise<void> {
  const unknown = [...new Set(rows.map(({ run }) => run))].filter((run) => !ids.has(run));
  if (unknown.length === 0) return;
  const wanted = rowsOf(
    { number: "int" },
    unknown.map((run) => [run]),
  );
  const found = await session.all<{ number: number; id: string }>(
    sql`SELECT number, id FROM runs WHERE number IN (SELECT number FROM ${wanted} AS wanted)`,
  );
  for (const { number, id } of found) ids.set(number, id);
}

export type ActionMethods = Pick<Ledger, "actionsOf" | "near" | "corrected" | "noteCorrected">;

/** @param ids of runs, by number, as far as they are known. */
export function actionMethods(database: Database, ids: Map<number, string>): ActionMethods {
  const oneColumn = (name: string, values: readonly string[]) =>
    rowsOf(
      { [name]: "text" },
      values.map((value) => [value]),
    );
  return {
    actionsOf: (subjects) =>
      database.read(async (session) => {
        const wanted = oneColumn("subject", subjects);
        // The order of the two is kept: SQLite would rather read all that is known.
        const from = sql`${wanted} AS wanted CROSS JOIN actions WHERE actions.subject = wanted.subject`;
        return await selectActions(session, from, ids);
      }),
    near: (normals) =>
      database.read(async (session) => {
        const wanted = oneColumn("normal", normals);
        return await session.all<{ normal: string; subject: string }>(
          sql`SELECT wanted.normal, spellings.subject FROM ${wanted} AS wanted CROSS JOIN spellings WHERE spellings.normal = wanted.normal
          UNION SELECT wanted.normal, actions.subject FROM ${wanted} AS wanted CROSS JOIN actions WHERE actions.subject = wanted.normal ORDER BY 1, 2`,
        );
      }),
    corrected: (digests) =>
      database.read((session) =>
        session.all<Corrected>(
          sql`SELECT corrected.digest, subject, kind, mark FROM ${oneColumn("digest", digests)} AS wanted
            CROSS JOIN corrected WHERE corrected.digest = wanted.digest`,
        ),
      ),
    noteCorrected: async (rows) => {
      if (rows.length > 0) await database.write((session) => noteCorrected(session, rows));
    },
  };
}

export async function countActions(session: Session): Promise<number> {
  return Number((await first<{ n: number }>(session, sql`SELECT count(*) AS n FROM actions`))?.n);
}
