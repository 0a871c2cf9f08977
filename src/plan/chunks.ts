/** The new actions as the ledger enters them: cut into chunks, then each identity in the order of its key. */

import type { ActionName } from "../actions/actions.ts";
import { formOf } from "../actions/marks.ts";
import type { NewAction, NewChunk, Origin } from "../ledger/ledger.ts";
import type { Store } from "./store.ts";

export interface ChunkLimits {
  /** Most actions of a chunk. */
  readonly size: number;
  /** Most bytes of its request, unless one action alone is larger. */
  readonly bytes: number;
}

const COLUMNS = `action.seq, lane, stage, json, action.row, text, action.input, line, place, kind, subject, mark, content, digest, time,
  event, owner, action.run, action.at`;
type Stored = readonly [
  ...[seq: number, lane: number, stage: number, json: string, row: number, text: string],
  ...[input: number, line: number, place: number, kind: ActionName, subject: string, mark: string, content: string],
  ...[digest: string | null, time: number | null, event: string | null, owner: string | null],
  ...[run: number | null, at: number | null],
];

/**
 * A query of the new actions in the order in which they are sent: by stage and lane, then as the plan has them.
 *
 * @param isAsRead nothing moved them: they stand in the order of the input, in one lane. Else they are sorted without what is long.
 * @param rows how the columns' other tables are joined.
 */
function inOrder(store: Store, isAsRead: boolean, columns: string, rows = ""): string {
  const bodies = `CROSS JOIN body ON body.seq = action.seq ${rows}`;
  if (isAsRead) return `SELECT ${columns} FROM action ${bodies} WHERE verdict = 'new' ORDER BY action.seq`;
  store.run("DROP TABLE IF EXISTS sorted");
  store.run("CREATE TABLE sorted (number INTEGER PRIMARY KEY, seq INTEGER NOT NULL)");
  store.run("INSERT INTO sorted (seq) SELECT seq FROM action WHERE verdict = 'new' ORDER BY stage, lane, place");
  return `SELECT ${columns} FROM sorted CROSS JOIN action ON action.seq = sorted.seq ${bodies} ORDER BY sorted.number`;
}

/** The JSON of the new actions, many at a time. */
export function* bodiesOf(store: Store, isAsRead: boolean): Generator<readonly string[]> {
  for (const batch of store.tuples<readonly [json: string]>(inOrder(store, isAsRead, "json")))
    yield batch.map(([json]) => json);
}

/** All chunks. @param idOf the id of a run by its number. */
export async function* cutChunks(
  store: Store,
  isAsRead: boolean,
  limits: ChunkLimits,
  idOf: (run: number) => string,
): AsyncGenerator<NewChunk> {
  store.run("DELETE FROM spot");
  const query = inOrder(store, isAsRead, COLUMNS, "CROSS JOIN row ON row.row = action.row");
  let open: OpenChunk | undefined;
  let count = 0;
  for (const batch of store.tuples<Stored>(query))
    for (const [seq, lane, stage, json, row, text, ...origin] of batch) {
      const bytes = Buffer.byteLength(json) + 1;
      if (open?.takes(lane, stage, bytes, limits) === false) {
        yield open.end(store);
        open = undefined;
      }
      if (open === undefined) {
        count += 1;
        open = new OpenChunk(count, lane, stage);
      }
      open.add(seq, json, bytes, originOf(origin, open.placeOf(row, text), idOf));
    }
  if (open !== undefined) yield open.end(store);
}

/** @param row its index in the chunk. */
function originOf(
  [input, line, seq, kind, subject, mark, content, digest, time, event, owner, run, at]: OriginColumns,
  row: number,
  idOf: (run: number) => string,
): Origin {
  return {
    input,
    line,
    row,
    seq,
    kind,
    subject,
    mark,
    content,
    digest: digest ?? undefined,
    time: time ?? undefined,
    event: event ?? undefined,
    owner: owner ?? undefined,
    position: run === null || at === null ? undefined : { run: idOf(run), seq: at },
  };
}

type OriginColumns = Stored extends readonly [unknown, unknown, unknown, unknown, unknown, unknown, ...infer Rest]
  ? Rest
  : never;

class OpenChunk {
  readonly #head: { readonly chunk: number; readonly lane: number; readonly stage: number };
  readonly #seqs: number[] = [];
  readonly #json: string[] = [];
  readonly #origins: Origin[] = [];
  readonly #rows: string[] = [];
  #row: number | undefined;
  /** The brackets; each action has a comma. */
  #bytes = 1;

  constructor(chunk: number, lane: number, stage: number) {
    this.#head = { chunk, lane, stage };
  }

  takes(lane: number, stage: number, bytes: number, limits: ChunkLimits): boolean {
    const isSame = lane === this.#head.lane && stage === this.#head.stage;
    return isSame && this.#json.length < limits.size && this.#bytes + bytes <= limits.bytes;
  }

  /** Index of a row in the chunk: several actions may come from one. */
  placeOf(row: number, text: string): number {
    if (row !== this.#row) this.#rows.push(text);
    this.#row = row;
    return this.#rows.length - 1;
  }

  add(seq: number, json: string, bytes: number, origin: Origin): void {
    this.#bytes += bytes;
    this.#seqs.push(seq);
    this.#json.push(json);
    this.#origins.push(origin);
  }

  /** The whole chunk; the plan knows from now on where its actions are. */
  end(store: Store): NewChunk {
    const spots = "INSERT INTO spot SELECT value, ?, key FROM json_each(?)";
    store.run(spots, this.#head.chunk, JSON.stringify(this.#seqs));
    const body = Buffer.from(`[${this.#json.join(",")}]`);
    return { ...this.#head, body, origins: this.#origins, rows: this.#rows };
  }
}

/** Read from the beginning of both tables to their ends, then sorted: in the order of an index each action would be a page of its own. */
const BY_KEY = `SELECT kind, subject, mark, content, time, event, owner, action.place, coalesce(chunk, 0), coalesce(spot.place, 0)
  FROM action LEFT JOIN spot ON spot.seq = action.seq WHERE verdict = 'new' ORDER BY subject, kind, mark`;
type Keyed = readonly [
  ...[kind: ActionName, subject: string, mark: string, content: string, time: number | null],
  ...[event: string | null, owner: string | null, seq: number, chunk: number, place: number],
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
        chunk,
        place,
        seq,
        time: time ?? undefined,
        event: event ?? undefined,
        owner: owner ?? undefined,
        normal: normal === subject ? undefined : normal,
      };
    });
}
