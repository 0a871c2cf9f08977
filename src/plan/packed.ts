/** Rows as one flat list of what they hold: another thread is told that for less than half of what objects cost. */

import type { ActionName } from "../actions/actions.ts";
import type { Looked } from "./look.ts";

type Values = readonly (string | number | undefined)[];

export interface Packed {
  /** Of each row what it holds, and the number of its actions, then what each of these holds. */
  readonly values: Values;
  /** What is unusual of some rows, by the row's place in the batch. */
  readonly unusual: ReadonlyMap<number, Looked["unusual"]>;
}

export function pack(rows: readonly Looked[]): Packed {
  const values: (string | number | undefined)[] = [];
  const unusual = new Map<number, Looked["unusual"]>();
  for (const [at, row] of rows.entries()) {
    values.push(row.kind, row.line, row.text, row.index, row.event, row.actions.length);
    if (row.unusual !== undefined) unusual.set(at, row.unusual);
    for (const { kind, identity } of row.actions) {
      const { subject, mark, content, time, event, owner, decimals, json } = identity;
      values.push(kind, subject, mark, content, time, event, owner, decimals, json);
    }
  }
  return { values, unusual };
}

export function unpack({ values, unusual }: Packed): readonly Looked[] {
  const rows: Looked[] = [];
  let at = 0;
  // As `pack` put it there.
  const next = <Value extends Values[number]>(): Value => values[at++] as Value;
  while (at < values.length) {
    const kind: Looked["kind"] = next();
    const line: number = next();
    const text: string = next();
    const index: number = next();
    const event: string | undefined = next();
    const count: number = next();
    const actions: Looked["actions"][number][] = [];
    for (let nth = 0; nth < count; nth += 1)
      actions.push({
        kind: next<ActionName>(),
        identity: {
          subject: next(),
          mark: next(),
          content: next(),
          time: next(),
          event: next(),
          owner: next(),
          decimals: next(),
          json: next(),
        },
      });
    const ofRow = unusual.get(rows.length);
    rows.push({
      ...{ kind, line, text, index, actions },
      ...(event !== undefined && { event }),
      ...(ofRow && { unusual: ofRow }),
    });
  }
  return rows;
}
