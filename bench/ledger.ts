/** A ledger of many nights, filled as an import of promises files fills one: runs of a million sales each, every one accepted. */

import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { draftOf } from "../src/actions/draft.ts";
import { identityOf } from "../src/actions/marks.ts";
import type { ImportedLine, Ledger } from "../src/ledger/ledger.ts";
import { openLedger } from "../src/ledger/open.ts";
import { eventActions, type Span, saleAction } from "./generate.ts";

const CHUNK = 5000;
const RUN = 1_000_000;

/** Sees to it that the ledger holds the events and the sales of the span, and belongs to the service. Makes it when it does not. */
export async function fillLedger(path: string, span: Span, baseUrl: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  {
    await using ledger = await openLedger({ place: { kind: "sqlite", path }, boundTo: undefined });
    await fill(ledger, span);
  }
  // The service has another port each time.
  using database = new DatabaseSync(path);
  database.prepare("UPDATE meta SET value = ? WHERE name = 'bound_to'").run(baseUrl);
}

/** The same for a ledger that is open. */
export async function fill(ledger: Ledger, span: Span): Promise<void> {
  const runs = await ledger.runs();
  for (let number = 0; number * RUN < span.rows; number += 1) {
    const first = number * RUN;
    const part = { ...span, first: span.first + first, rows: Math.min(RUN, span.rows - first) };
    const lines = linesOf(number, part);
    const known = runs.find(({ run }) => run === runId(number));
    const { accepted = 0 } = known === undefined ? {} : await ledger.counts(known.number);
    if (accepted === part.rows + (number === 0 ? eventActions().length : 0)) continue;
    await ledger.importActions(lines);
    console.error(`  ledger: ${(first + part.rows).toLocaleString("en")} tickets`);
  }
}

/** How many runs were sent since it was filled. */
export async function nightsOf(path: string): Promise<number> {
  await using ledger = await openLedger({ place: { kind: "sqlite", path }, boundTo: undefined });
  return (await ledger.runs()).filter(({ kind }) => kind === "sent").length;
}

export function removeLedger(path: string): void {
  rmSync(dirname(path), { recursive: true, force: true });
}

const runId = (number: number): string => `be${String(number).padStart(6, "0")}`;

/** The promises of one run, a chunk at a time. The first run begins with the events. */
async function* linesOf(number: number, { seed, first, rows }: Span): AsyncGenerator<readonly ImportedLine[]> {
  const events = number === 0 ? eventActions() : [];
  const at = new Date(1_760_000_000_000 + number * 86_400_000).toISOString();
  for (let start = 0; start < events.length + rows; start += CHUNK) {
    const lines: ImportedLine[] = [];
    for (let n = start; n < Math.min(start + CHUNK, events.length + rows); n += 1) {
      const action = events[n] ?? saleAction(seed, first + n - events.length);
      const { subject, mark, content, time, owner, event } = identityOf(draftOf(action.action, action.data));
      lines.push({
        ...{ kind: action.action, subject, mark, content, time, owner, event },
        ...{ runId: runId(number), environment: "bench", chunk: 1 + start / CHUNK, seq: n + 1 },
        ...{ source: "sales.csv", line: n + 2, at, outcome: "accepted", response: undefined },
        promise: `${String(number).padStart(8, "0")}-0000-4000-8000-${String(n + 1).padStart(12, "0")}`,
      });
    }
    yield lines;
  }
}
