/** What was entered, and neither rejected nor abandoned since. */

import type { ActionName } from "../actions/actions.ts";
import { PENDING_STATES } from "./chunks.ts";
import {
  type Database,
  listOf,
  type Reader,
  type Rows,
  raw,
  type Sql,
  select,
  sql,
  type Value,
  type Writer,
  words,
} from "./database.ts";

/** An action's identity is its subject, its kind and its mark (src/actions/identity.ts). */
export interface Identity {
  /** `t:<ticketId>`, `n:<nftId>` or `e:<eventId>`. */
  readonly subject: string;
  readonly kind: ActionName;
  readonly mark: string;
}

/** A bad row, by its digest, and an action that its corrected version gives. */
export interface Corrected extends Identity {
  readonly digest: string;
}

/** Where an action was read: the number of the run and the place there, from 1. Later runs have higher numbers. */
export interface Position {
  readonly run: number;
  readonly seq: number;
}

/** An action as far as later ones depend on it. */
export interface ActionFacts extends Identity {
  /** Canonical content: short text itself, else its digest. */
  readonly content: string;
  /** orderTime; at most `Number.MAX_SAFE_INTEGER`. */
  readonly time?: number | undefined;
  /** The eventId that it names. */
  readonly event?: string | undefined;
  /** Who has the ticket once it is accepted. */
  readonly owner?: string | undefined;
}

export interface NewAction extends ActionFacts {
  /** The chunk that holds it, and its place there, from 0; undefined for one that is adopted. */
  readonly chunk?: number | undefined;
  readonly place?: number | undefined;
  /** Place in the order in which it was judged, from 1: its position in this run. */
  readonly seq: number;
  /** Its subject with the id in normal form, where that differs from the subject (`id-near-another`). */
  readonly normal?: string | undefined;
}

/** An action that was entered, and neither rejected nor abandoned since. */
export interface KnownAction extends ActionFacts {
  readonly position: Position;
  /** The run that holds it. */
  readonly run: number;
  readonly runId: string;
  /** Undefined for one that was adopted. */
  readonly chunk: number | undefined;
  readonly place: number | undefined;
  /** Its chunk's: sent once that is answered, or a person said so; pending before. */
  readonly state: "sent" | "pending";
}

const KEY = { subject: "text", kind: "text", mark: "text" } as const;
const partsOf = ({ subject, kind, mark }: Identity): readonly string[] => [subject, kind, mark];
/** The same for the same identity alone. */
export const keyOf = (identity: Identity): string => JSON.stringify(partsOf(identity));

/** A table `wanted` of these, each with its place among them. */
export const identities = (actions: readonly Identity[]): Rows => ({
  columns: { ...KEY, at: "int" },
  rows: actions.map((action, at) => [...partsOf(action), at]),
});
export const IS_WANTED = raw(
  "actions.subject = wanted.subject AND actions.kind = wanted.kind AND actions.mark = wanted.mark",
);

const COLUMNS = {
  ...KEY,
  ...({ content: "text", time: "int", event: "text", owner: "text", run: "int", chunk: "int", place: "int" } as const),
  ...({ position_run: "int", position_seq: "int" } as const),
};

const toRow = (run: number, action: NewAction): readonly Value[] => {
  const { time, event = null, owner = null, chunk = null, place = null, seq } = action;
  return [...partsOf(action), action.content, time ?? null, event, owner, run, chunk, place, run, seq];
};

/** @param onConflict what becomes of one that is known; otherwise @throws Failure `busy`. */
export async function insertActions(
  writer: Writer,
  run: number,
  actions: readonly NewAction[],
  onConflict = "",
): Promise<void> {
  if (actions.length === 0) return;
  await writer.insert("actions", { columns: COLUMNS, rows: actions.map((action) => toRow(run, action)) }, onConflict);
  const rows = actions.flatMap(({ normal, subject }) => (normal === undefined ? [] : [[normal, subject]]));
  const spellings = { columns: { normal: "text", subject: "text" }, rows } as const;
  if (rows.length > 0) await writer.insert("spellings", spellings, "ON CONFLICT DO NOTHING");
}

/** What is known of it is what the row says now; who sent it stays. */
const ADOPTED = `ON CONFLICT (subject, kind, mark) DO UPDATE SET content = excluded.content, time = excluded.time, event = excluded.event,
  owner = excluded.owner, position_run = excluded.position_run, position_seq = excluded.position_seq`;

/** They are known from now on, and nothing is sent. Of one that stands there several times, the last counts. */
export async function adoptActions(writer: Writer, run: number, actions: readonly NewAction[]): Promise<void> {
  const latest = new Map(actions.map((action) => [keyOf(action), action]));
  await insertActions(writer, run, [...latest.values()], ADOPTED);
}

/** They were not taken, and may be sent again. What they were to correct is not corrected. */
export async function deleteActions(
  writer: Writer,
  run: number,
  chunk: number,
  actions: readonly (Identity & { readonly digest?: string | undefined })[],
): Promise<void> {
  if (actions.length === 0) return;
  const digests = [...new Set(actions.flatMap(({ digest }) => digest ?? []))];
  if (digests.length > 0)
    await writer.run(
      sql`DELETE FROM corrected WHERE digest IN (SELECT digest FROM ${listOf("digest", "text", digests)} AS wanted)`,
    );
  await writer.run(sql`DELETE FROM actions WHERE run = ${run} AND chunk = ${chunk}
    AND (subject, kind, mark) IN (SELECT subject, kind, mark FROM ${identities(actions)} AS wanted)`);
}

/** Another chunk holds them now, in this order. */
export async function moveActions(
  writer: Writer,
  run: number,
  from: number,
  to: number,
  actions: readonly Identity[],
): Promise<void> {
  await writer.run(sql`UPDATE actions SET chunk = ${to}, place = wanted.at FROM ${identities(actions)} AS wanted
    WHERE ${IS_WANTED} AND actions.run = ${run} AND actions.chunk = ${from}`);
}

/** What an earlier version gave, and is not known, will not come any more. */
export async function noteCorrected(writer: Writer, corrected: readonly Corrected[]): Promise<void> {
  if (corrected.length === 0) return;
  const digests = [...new Set(corrected.map(({ digest }) => digest))];
  await writer.run(sql`DELETE FROM corrected
    WHERE digest IN (SELECT digest FROM ${listOf("digest", "text", digests)} AS wanted)
    AND NOT EXISTS (SELECT 1 FROM actions WHERE ${IS_CORRECTED})`);
  const rows = corrected.map((action) => [action.digest, ...partsOf(action)]);
  await writer.insert("corrected", { columns: { digest: "text", ...KEY }, rows }, "ON CONFLICT DO NOTHING");
}

const IS_CORRECTED = raw(
  "actions.subject = corrected.subject AND actions.kind = corrected.kind AND actions.mark = corrected.mark",
);

type ActionRow = Omit<KnownAction, "position"> & {
  readonly positionRun: number;
  readonly positionSeq: number;
};

/** In the order of subject and position. @param from `actions`, and what is joined to it. */
export async function selectActions(reader: Reader, from: Sql, where: Sql): Promise<readonly KnownAction[]> {
  const rows = await select<ActionRow>(
    reader,
    sql`SELECT actions.subject, actions.kind, actions.mark, content, time, event, owner, actions.run, runs.id AS run_id,
        actions.chunk, place, position_run, position_seq,
        CASE WHEN chunks.state IN ${words(PENDING_STATES)} THEN 'pending' ELSE 'sent' END AS state
      FROM ${from} LEFT JOIN runs ON runs.number = actions.run
        LEFT JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk
      WHERE ${where} ORDER BY actions.subject, position_run, position_seq`,
  );
  // Field by field: copying what is left of an object takes longer than reading it from the disk.
  return rows.map((row) => ({
    subject: row.subject,
    kind: row.kind,
    mark: row.mark,
    content: row.content,
    time: row.time,
    event: row.event,
    owner: row.owner,
    run: row.run,
    runId: row.runId,
    chunk: row.chunk,
    place: row.place,
    position: { run: row.positionRun, seq: row.positionSeq },
    state: row.state,
  }));
}

/** Of these subjects. The order of the join is kept: SQLite would rather read all that is known. */
export const selectBySubject = (reader: Reader, subjects: readonly string[]): Promise<readonly KnownAction[]> =>
  selectActions(
    reader,
    sql`${listOf("subject", "text", subjects)} AS wanted CROSS JOIN actions`,
    sql`actions.subject = wanted.subject`,
  );

export const actionMethods = (database: Database) => ({
  /** All that is known of these subjects, in the order of (subject, position). Ask some thousand at a time, in code point order. */
  actionsOf: (subjects: readonly string[]) => selectBySubject(database, subjects),
  /** Subjects that are known and whose normal form is one of these: `id-near-another`. */
  near: (normals: readonly string[]) => {
    const wanted = listOf("normal", "text", normals);
    return database.all<{ readonly normal: string; readonly subject: string }>(
      sql`SELECT wanted.normal, spellings.subject FROM ${wanted} AS wanted CROSS JOIN spellings WHERE spellings.normal = wanted.normal
        UNION SELECT wanted.normal, actions.subject FROM ${wanted} AS wanted CROSS JOIN actions WHERE actions.subject = wanted.normal ORDER BY 1, 2`,
    );
  },
  /** Of these digests of bad rows, those whose corrected version was accepted whole, with the actions that it gave. */
  corrected: (digests: readonly string[]) =>
    database.all<Corrected>(
      sql`SELECT given.digest, given.subject, given.kind, given.mark FROM ${listOf("digest", "text", digests)} AS wanted
        CROSS JOIN corrected AS given WHERE given.digest = wanted.digest AND NOT EXISTS (
          SELECT 1 FROM corrected LEFT JOIN actions ON ${IS_CORRECTED}
            LEFT JOIN chunks ON chunks.run = actions.run AND chunks.chunk = actions.chunk
          WHERE corrected.digest = wanted.digest
            AND (actions.subject IS NULL OR chunks.state IN ${words(PENDING_STATES)}))`,
    ),
});
