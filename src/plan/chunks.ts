/** The new actions as the ledger enters them: cut into chunks, then each identity in the order of its key. */

import type { ActionName } from "../actions/actions.ts";
import { formOf } from "../actions/marks.ts";
import type { NewAction, NewChunk, Origin } from "../ledger/ledger.ts";
import { NO_RUN } from "../read/rejects-columns.ts";
import type { Store } from "./store.ts";

export interface ChunkLimits {
  /** Most actions of a chunk. */
  readonly size: number;
  /** Most bytes of its request, unless one action alone is larger. */
  readonly bytes: number;
}

/** A row's text stands with its first action, which may be in another chunk. */
const TEXT = "coalesce(text, (SELECT text FROM action AS first WHERE first.seq = action.row))";
const IN_CHUNK = `json, octet_length(json) + 1, action.row, ${TEXT}, action.seq, action.input, line, place,
  kind, subject, mark, content, digest, time, event, owner, action.run, action.at`;
type Stored = readonly [
  ...[lane: number, stage: number, json: string, bytes: number, row: number, text: string],
  ...[seq: number, input: number, line: number, place: number],
  ...[kind: ActionName, subject: string, mark: string, content: string],
  ...[digest: string | null, time: number | null, event: string | null, owner: string | null],
  ...[run: number | null, at: number | null],
];

/** How the new actions are sent: in the order of the input, of the plan, or spread over lanes and stages. */
export type Sorting = "action.seq" | "place" | "stage, lane, place";

/** All that is read is sorted with what is long: in that order, each action would be a page of its own. */
function inOrder(sorting: Sorting, columns: string, rows = ""): string {
  const spread = sorting === "stage, lane, place" ? "JOIN laned ON laned.seq = action.seq" : "";
  return `SELECT ${columns} FROM action ${rows} ${spread} WHERE verdict = 'new' ORDER BY ${sorting}`;
}

/** The JSON of the new actions, many at a time. */
export function* bodiesOf(store: Store, sorting: Sorting): Generator<readonly string[]> {
  for (const batch of store.tuples<readonly [json: string]>(inOrder(sorting, "json")))
    yield batch.map(([json]) => json);
}

/** A chunk while it is filled. */
interface Open extends Pick<NewChunk, "chunk" | "lane" | "stage"> {
  /** The brackets; each action has a comma. */
  bytes: number;
  readonly seqs: number[];
  readonly json: string[];
  readonly origins: Origin[];
  readonly rows: string[];
  /** The last one. */
  row: number | undefined;
}

/** All chunks. @param runs the ids of runs by their numbers. */
export async function* cutChunks(
  store: Store,
  sorting: Sorting,
  limits: ChunkLimits,
  runs: ReadonlyMap<number, string>,
): AsyncGenerator<NewChunk> {
  store.run("DELETE FROM spot");
  const columns = `${sorting === "stage, lane, place" ? "lane, stage" : "0, 0"}, ${IN_CHUNK}`;
  let open: Open | undefined;
  let chunk = 0;
  for (const batch of store.tuples<Stored>(inOrder(sorting, columns, "LEFT JOIN row ON row.row = action.row")))
    for (const stored of batch) {
      const [lane, stage, , bytes] = stored;
      const isFull = open !== undefined && (open.json.length >= limits.size || open.bytes + bytes > limits.bytes);
      if (open !== undefined && (isFull || open.lane !== lane || open.stage !== stage)) {
        yield closed(store, open);
        open = undefined;
      }
      if (open === undefined) {
        chunk += 1;
        open = { chunk, lane, stage, bytes: 1, seqs: [], json: [], origins: [], rows: [], row: undefined };
      }
      add(open, stored, runs);
    }
  if (open !== undefined) yield closed(store, open);
}

function add(
  open: Open,
  [, , json, bytes, row, text, seq, ...origin]: Stored,
  runs: ReadonlyMap<number, string>,
): void {
  open.bytes += bytes;
  open.seqs.push(seq);
  open.json.push(json);
  // Several actions may come from one row.
  if (row !== open.row) open.rows.push(text);
  open.row = row;
  const [input, line, place, kind, subject, mark, content, digest, time, event, owner, run, at] = origin;
  open.origins.push({
    ...{ input, line, row: open.rows.length - 1, seq: place, kind, subject, mark, content },
    ...{ digest: digest ?? undefined, time: time ?? undefined, event: event ?? undefined, owner: owner ?? undefined },
    position: run === null || at === null ? undefined : { run: runs.get(run) ?? NO_RUN, seq: at },
  });
}

/** The plan knows from now on where its actions are. */
function closed(store: Store, { chunk, lane, stage, seqs, json, origins, rows }: Open): NewChunk {
  store.run("INSERT INTO spot SELECT value, ?, key FROM json_each(?)", chunk, JSON.stringify(seqs));
  return { chunk, lane, stage, body: Buffer.from(`[${json.join(",")}]`), origins, rows };
}

/** Read from the beginning of both tables to their ends, then sorted: in the order of an index each action would be a page of its own. */
const BY_KEY = `SELECT kind, subject, mark, content, time, event, owner, action.place, chunk, spot.place
  FROM action LEFT JOIN spot ON spot.seq = action.seq WHERE verdict = 'new' ORDER BY subject, kind, mark`;
type Keyed = readonly [
  ...[kind: ActionName, subject: string, mark: string, content: string, time: number | null],
  ...[event: string | null, owner: string | null, seq: number, chunk: number | null, place: number | null],
];

/** The same actions in the order of their identities, after the last chunk was cut. Also those that are adopted. */
export async function* actionsByKey(store: Store): AsyncGenerator<readonly NewAction[]> {
  for (const batch of store.tuples<Keyed>(BY_KEY))
    yield batch.map(([kind, subject, mark, content, time, event, owner, seq, chunk, place]) => {
      const normal = formOf(subject);
      return {
        subject,
        kind,
        mark,
        content,
        chunk: chunk ?? undefined,
        place: place ?? undefined,
        seq,
        time: time ?? undefined,
        event: event ?? undefined,
        owner: owner ?? undefined,
        normal: normal === subject ? undefined : normal,
      };
    });
}
