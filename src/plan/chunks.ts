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

const WHOLE = `SELECT action.seq, action.row, action.input, line, text, digest, lane, stage, place, kind, subject, mark, content, time,
  event, owner, action.run, action.at, json`;
const AS_READ = `${WHOLE} FROM action JOIN body ON body.seq = action.seq JOIN row ON row.row = action.row
  WHERE verdict = 'new' ORDER BY action.seq`;
/** Sorted without what is long. */
const SORTED = `${WHOLE} FROM sorted CROSS JOIN action ON action.seq = sorted.seq CROSS JOIN body ON body.seq = action.seq
  CROSS JOIN row ON row.row = action.row ORDER BY sorted.number`;
type Stored = readonly [
  ...[seq: number, row: number, input: number, line: number, text: string, digest: string | null],
  ...[lane: number, stage: number, place: number, kind: ActionName, subject: string, mark: string, content: string],
  ...[
    time: number | null,
    event: string | null,
    owner: string | null,
    run: number | null,
    at: number | null,
    json: string,
  ],
];

const ENTERED = `UPDATE action SET chunk = ?, spot = each.key FROM json_each(?) AS each WHERE action.seq = each.value`;

/**
 * All chunks, in the order in which they are sent: by stage and lane, then as the plan has them.
 *
 * @param isAsRead nothing moved them: they stand in the order of the input, in one lane.
 * @param idOf the id of a run by its number.
 */
export async function* cutChunks(
  store: Store,
  isAsRead: boolean,
  limits: ChunkLimits,
  idOf: (run: number) => string,
): AsyncGenerator<NewChunk> {
  if (!isAsRead) {
    store.run("DROP TABLE IF EXISTS sorted");
    store.run("CREATE TABLE sorted (number INTEGER PRIMARY KEY, seq INTEGER NOT NULL)");
    store.run("INSERT INTO sorted (seq) SELECT seq FROM action WHERE verdict = 'new' ORDER BY stage, lane, place");
  }
  let open: OpenChunk | undefined;
  let count = 0;
  for (const batch of store.tuples<Stored>(isAsRead ? AS_READ : SORTED)) {
    for (const stored of batch) {
      const bytes = Buffer.byteLength(stored[18]) + 1;
      if (open !== undefined && !open.takes(stored, bytes, limits)) {
        yield open.end(store);
        open = undefined;
      }
      if (open === undefined) {
        count += 1;
        open = new OpenChunk(count, stored[6], stored[7], idOf);
      }
      open.add(stored, bytes);
    }
  }
  if (open !== undefined) yield open.end(store);
}

class OpenChunk {
  readonly #head: { readonly chunk: number; readonly lane: number; readonly stage: number };
  readonly #seqs: number[] = [];
  readonly #json: string[] = [];
  readonly #origins: Origin[] = [];
  readonly #rows: string[] = [];
  readonly #idOf: (run: number) => string;
  #row: number | undefined;
  /** The brackets; each action has a comma. */
  #bytes = 1;

  constructor(chunk: number, lane: number, stage: number, idOf: (run: number) => string) {
    this.#head = { chunk, lane, stage };
    this.#idOf = idOf;
  }

  takes(stored: Stored, bytes: number, limits: ChunkLimits): boolean {
    const { lane, stage } = this.#head;
    return (
      stored[6] === lane &&
      stored[7] === stage &&
      this.#json.length < limits.size &&
      this.#bytes + bytes <= limits.bytes
    );
  }

  add(stored: Stored, bytes: number): void {
    const [
      seq,
      row,
      input,
      line,
      text,
      digest,
      ,
      ,
      place,
      kind,
      subject,
      mark,
      content,
      time,
      event,
      owner,
      run,
      at,
      json,
    ] = stored;
    this.#bytes += bytes;
    this.#seqs.push(seq);
    this.#json.push(json);
    if (row !== this.#row) this.#rows.push(text);
    this.#row = row;
    this.#origins.push({
      input,
      line,
      row: this.#rows.length - 1,
      seq: place,
      kind,
      subject,
      mark,
      content,
      digest: digest ?? undefined,
      time: time ?? undefined,
      event: event ?? undefined,
      owner: owner ?? undefined,
      position: run === null || at === null ? undefined : { run: this.#idOf(run), seq: at },
    });
  }

  /** The whole chunk; its actions know their place in it from now on. */
  end(store: Store): NewChunk {
    store.run(ENTERED, this.#head.chunk, JSON.stringify(this.#seqs));
    const body = Buffer.from(`[${this.#json.join(",")}]`);
    return { ...this.#head, body, origins: this.#origins, rows: this.#rows };
  }
}

const BY_KEY = `SELECT kind, subject, mark, content, time, event, owner, place, coalesce(chunk, 0), coalesce(spot, 0)
  FROM action WHERE verdict = 'new' ORDER BY subject, kind, mark`;
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
