import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, onTestFinished, test } from "vitest";
import {
  chunkFiles,
  eventActions,
  type SaleAction,
  saleAction,
  salesCsv,
  salesNdjson,
} from "../../../bench/generate.ts";
import { answerTo } from "../../../bench/service.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tickets-generate-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const SPAN = { seed: 7, first: 0, rows: 400 };

test("a seed gives the same bytes every time, and another seed others", () => {
  const written = (seed: number): string => readFileSync(salesCsv(newFolder(), { ...SPAN, seed }), "utf8");
  expect(written(7)).toBe(written(7));
  expect(written(8)).not.toBe(written(7));
});

test("a file that starts later holds the later rows of a longer one", () => {
  const folder = newFolder();
  const lines = (span: typeof SPAN): readonly string[] => readFileSync(salesNdjson(folder, span), "utf8").split("\n");
  expect(lines({ ...SPAN, first: 100, rows: 50 }).slice(0, 50)).toEqual(lines(SPAN).slice(100, 150));
});

test("CSV, NDJSON and request bodies say the same", () => {
  const folder = newFolder();
  const rows = parse<Record<string, string>>(readFileSync(salesCsv(folder, SPAN)), { columns: true });
  const objects = readFileSync(salesNdjson(folder, SPAN), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const body = chunkFiles(folder, SPAN).flatMap((path) => JSON.parse(readFileSync(path, "utf8")) as SaleAction[]);
  expect(body.slice(0, eventActions().length)).toEqual(eventActions());
  const sales = body.slice(eventActions().length);
  expect(sales).toEqual(rows.map((_, n) => saleAction(SPAN.seed, n)));
  for (const [n, sale] of sales.entries()) {
    const { booking: _, seat_label: __, channel: ___, ...rest } = objects[n] ?? {};
    expect(rest).toEqual(sale.data);
    for (const [name, value] of Object.entries(sale.data))
      expect(rows[n]?.[name]).toBe(typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  expect(new Set(rows.map(({ ticketId }) => ticketId)).size).toBe(SPAN.rows);
});

test("the rows hold what is hard about CSV", () => {
  const text = readFileSync(salesCsv(newFolder(), SPAN), "utf8");
  for (const hard of [/"[^"]*,[^"]*"/, /""Big""/, /Gala\nPart two/, /ö/, /夏/]) expect(text).toMatch(hard);
});

test("the service echoes each action's name and ids, whatever stands in its texts", () => {
  const actions = [
    { action: "newEvent", data: { eventId: 'a "quoted\\', eventName: '"ticketId":"no"' } },
    { data: { eventId: "é\u00e9東", ticketId: "t,1", name: '{"action":"x"}\\"action\\":\\' }, action: "soldTicket" },
    { action: "scannedTicket", data: { nftId: "P-1-2" } },
  ];
  for (const space of [0, 2]) {
    const sent = actions.map(({ action, data }) => ({ action, data }));
    const { answer, actions: found } = answerTo(Buffer.from(JSON.stringify(sent, null, space)));
    expect(found).toBe(3);
    const { data } = JSON.parse(answer.toString()) as { data: Record<string, string>[] };
    expect(new Set(data.map(({ actionPromise }) => actionPromise)).size).toBe(3);
    expect(data.map(({ actionPromise: _, ...echoed }) => echoed)).toEqual([
      { status: "success", action: "newEvent", eventId: 'a "quoted\\' },
      { status: "success", action: "soldTicket", eventId: "éé東", ticketId: "t,1" },
      { status: "success", action: "scannedTicket", nftId: "P-1-2" },
    ]);
  }
});
