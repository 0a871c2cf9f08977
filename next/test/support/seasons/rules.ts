/** What counts as already sent, as the design's reference has it: written from it line by line, and from nothing of the product. */

export type RefVerdict = "new" | "known" | "changed" | "late" | "unclear" | "held" | "bad";
export type RefPosition = readonly [run: number, seq: number];
/** Its first part is the kind of the mark. */
export type RefMark = readonly [kind: "once" | "key" | "time" | "to" | "user" | "content", value?: string | number];

export interface RefRow {
  readonly kind: string;
  readonly subject: string;
  readonly content: string;
  readonly time: number | undefined;
  readonly key: string | undefined;
  /** False of a bad row. */
  readonly ok: boolean;
  /** Of a row from rejects: where it was first read. */
  readonly position: RefPosition | undefined;
  /** Of a row that is bad or corrects a bad one. */
  readonly digest: string | undefined;
  /** Which of the season's actions it is; negative for others. */
  readonly g: number;
}

export interface RefItem {
  readonly row: RefRow;
  readonly mark: RefMark | undefined;
  verdict: RefVerdict;
  position: RefPosition;
}

interface RefAction {
  readonly mark: RefMark;
  readonly content: string;
  readonly position: RefPosition;
  readonly time: number | undefined;
}

const ONCE = new Set(["newEvent", "soldTicket", "checkedInTicket", "invalidatedTicket"]);
export const OVERWRITES: ReadonlySet<string> = new Set([
  "updateEvent",
  "updateTicket",
  "resoldTicket",
  "claimedTicket",
]);

const textOf = (mark: RefMark): string => JSON.stringify(mark);
const isLess = (one: RefPosition, other: RefPosition): boolean =>
  one[0] === other[0] ? one[1] < other[1] : one[0] < other[0];
const max = (one: RefPosition, other: RefPosition): RefPosition => (isLess(one, other) ? other : one);
const min = (one: RefPosition, other: RefPosition): RefPosition => (isLess(other, one) ? other : one);

export class RefLedger {
  /** By subject and kind, then by mark. */
  readonly actions = new Map<string, Map<string, RefAction>>();
  readonly corrected = new Map<string, RefMark>();
  run = 0;

  accept(row: RefRow, mark: RefMark, position: RefPosition): void {
    const of = `${row.subject} ${row.kind}`;
    const actions = this.actions.get(of) ?? new Map<string, RefAction>();
    this.actions.set(of, actions.set(textOf(mark), { mark, content: row.content, position, time: row.time }));
    if (row.digest !== undefined) this.corrected.set(row.digest, mark);
  }
}

function markOf(row: RefRow): RefMark {
  if (ONCE.has(row.kind)) return ["once"];
  if (row.key !== undefined) return ["key", row.key];
  if (row.time !== undefined) return ["time", row.time];
  if (row.kind === "claimedTicket") return ["user", row.content];
  return OVERWRITES.has(row.kind) ? ["content", row.content] : ["once"];
}

/** @param shows the source usually shows again what was accepted. */
export function refJudge(rows: readonly RefRow[], ledger: RefLedger, shows = true): readonly RefItem[] {
  const out: RefItem[] = [];
  const groups = new Map<string, RefItem[]>();
  const bad = new Set<string>();
  const span = new Map<string, readonly [number, number]>();
  for (const { ok, time, kind } of rows) {
    if (!ok || time === undefined) continue;
    const [lo, hi] = span.get(kind) ?? [time, time];
    span.set(kind, [Math.min(lo, time), Math.max(hi, time)]);
  }
  for (const [at, row] of rows.entries()) {
    const corrected = row.ok ? undefined : ledger.corrected.get(row.digest ?? "");
    const verdict = corrected !== undefined ? "known" : row.ok ? "new" : "bad";
    const mark = corrected ?? (row.ok ? markOf(row) : undefined);
    const item: RefItem = { row, mark, verdict, position: row.position ?? [ledger.run, at] };
    if (verdict === "bad") bad.add(row.subject);
    out.push(item);
    const of = `${row.subject} ${row.kind}`;
    groups.set(of, [...(groups.get(of) ?? []), item]);
  }
  for (const [of, items] of groups) {
    const [subject = "", kind = ""] = of.split(" ");
    judgeGroup(items, kind, ledger.actions.get(of) ?? new Map(), span.get(kind) ?? [1, 0], shows);
    for (const item of items) if (item.verdict === "new" && bad.has(subject)) item.verdict = "held";
  }
  return out;
}

function judgeGroup(
  items: readonly RefItem[],
  kind: string,
  actions: ReadonlyMap<string, RefAction>,
  [lo, hi]: readonly [number, number],
  shows: boolean,
): void {
  const here = new Map<string, RefItem>();
  for (const [n, item] of items.entries()) {
    const { row, mark } = item;
    if (!row.ok || mark === undefined) continue;
    const text = textOf(mark);
    const first = here.get(text);
    const known = actions.get(text);
    if (first !== undefined) {
      const before = items.at(n - 1)?.mark;
      const isNext = before !== undefined && textOf(before) === text;
      item.verdict =
        first.row.content !== row.content ? "changed" : mark[0] === "content" && !isNext ? "unclear" : "known";
    } else if (known !== undefined) item.verdict = known.content === row.content ? "known" : "changed";
    else if ([...actions.values()].some((each) => each.mark[0] !== mark[0])) item.verdict = "unclear";
    if (first === undefined) here.set(text, item);
  }
  const marks = new Set(items.flatMap(({ mark }) => (mark === undefined ? [] : [textOf(mark)])));
  const hidden =
    shows &&
    [...actions].some(
      ([m, { time }]) => time !== undefined && lo <= time && time <= hi && !here.has(m) && !marks.has(m),
    );
  let seen: number | undefined;
  for (const item of items) {
    const { ok, time } = item.row;
    if (!ok || time === undefined) continue;
    const falls = OVERWRITES.has(kind) && seen !== undefined && time < seen;
    if (item.verdict === "new" && (hidden || falls)) item.verdict = "unclear";
    seen = Math.max(seen ?? time, time);
  }
  if (OVERWRITES.has(kind) && actions.size > 0) inOrder(items, actions);
}

function inOrder(items: readonly RefItem[], actions: ReadonlyMap<string, RefAction>): void {
  const [[last, { position: newest }] = ["", { position: [0, 0] as RefPosition }]] = [...actions].sort(
    ([, one], [, other]) => (isLess(one.position, other.position) ? 1 : -1),
  );
  const times = [...actions.values()].flatMap(({ time }) => (time === undefined ? [] : [time]));
  const lastTime = times.length === 0 ? undefined : Math.max(...times);
  const here = new Set(items.flatMap(({ mark }) => (mark === undefined ? [] : [textOf(mark)])));
  let behind: RefPosition | undefined;
  for (const item of items.toReversed()) {
    const { row, mark, verdict } = item;
    const known = mark === undefined ? undefined : actions.get(textOf(mark));
    if (known !== undefined) behind = max(behind ?? known.position, known.position);
    else if (behind !== undefined) item.position = min(item.position, behind);
    if (verdict === "bad" && !here.has(last)) behind = newest;
    if (verdict !== "new") continue;
    if (row.time !== undefined && lastTime !== undefined) item.verdict = row.time < lastTime ? "late" : "new";
    else item.verdict = isLess(newest, item.position) ? "new" : "late";
  }
  const end = items.at(-1);
  const mark = end?.mark;
  if (end === undefined || mark?.[0] !== "content" || !actions.has(textOf(mark))) return;
  if (textOf(mark) !== last && end.row.position === undefined && !here.has(last)) end.verdict = "unclear";
}
