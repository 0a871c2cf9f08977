/** The new actions as the ledger enters them: cut into chunks, then each identity in the order of its key. */

import type { ActionName } from "../actions/actions.ts";
import { formOf } from "../actions/marks.ts";
import { NO_RUN } from "../actions/rejects-columns.ts";
import type { NewAction, NewChunk, Origin } from "../ledger/ledger.ts";
import type { Store } from "./store.ts";

export interface ChunkLimits {
  /** Most actions of a chunk. */
  readonly size: number;
  /** Most bytes of its request, unless one action alone is larger. */
  readonly bytes: number;
}

const IN_CHUNK = `json, octet_length(json) + 1, action.row, text, action.seq, action.input, line, place,
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
  return `SELECT ${columns} FROM action CROSS JOIN body ON body.seq = action.seq ${rows} ${spread}
    WHERE verdict = 'new' ORDER BY ${sorting}`;
}

/** The JSON of the new actions, many at a time. */
export function* bodiesOf(store: Store, sorting: Sorting): Generator<readonly string[]> {
  for (const batch of store.tuples<readonly [json: string]>(inOrder(sorting, "json")))
    yield batch.map(([json]) => json);
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
  let open: OpenChunk | undefined;
  let count = 0;
  for (const batch of store.tuples<Stored>(inOrder(sorting, columns, "CROSS JOIN row ON row.row = action.row")))
    for (const stored of batch) {
      if (open?.takes(stored, limits) === false) {
        yield open.end(store);
        open = undefined;
      }
      if (open === undefined) {
        count += 1;
        open = new OpenChunk(count, stored);
      }
      open.add(stored, runs);
    }
  if (open !== undefined) yield open.end(store);
}

class OpenChunk {
  readonly #head: { readonly chunk: number; readonly lane: number; readonly stage: number };
  readonly #seqs: number[] = [];
  readonly #json: string[] = [];
  readonly #origins: Origin[] = [];
  readonly #rows: string[] = [];
  #row: number | undefined;
  /** The brackets; each action has a comma. */
  #bytes = 1;

  constructor(chunk: number, [lane, stage]: Stored) {
    this.#head = { chunk, lane, stage };
  }

  takes([lane, stage, , bytes]: Stored, limits: ChunkLimits): boolean {
    const isSame = lane === this.#head.lane && stage === this.#head.stage;
    return isSame && this.#json.length < limits.size && this.#bytes + bytes <= limits.bytes;
  }

  add([, , json, bytes, row, text, seq, ...origin]: Stored, runs: ReadonlyMap<number, string>): void {
    this.#bytes += bytes;
    this.#seqs.push(seq);
    this.#json.push(json);
    // Several actions may come from one row.
    if (row !== this.#row) this.#rows.push(text);
    this.#row = row;
    const [input, line, place, kind, subject, mark, content, digest, time, event, owner, run, at] = origin;
    this.#origins.push({
      ...{ input, line, row: this.#rows.length - 1, seq: place, kind, subject, mark, content },
      ...{ digest: digest ?? undefined, time: time ?? undefined, event: event ?? undefined, owner: owner ?? undefined },
      position: run === null || at === null ? undefined : { run: runs.get(run) ?? NO_RUN, seq: at },
    });
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
