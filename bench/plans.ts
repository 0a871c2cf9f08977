/** Files whose plans are timed beside that of the sales: a shop's own export, and sales of which some rows are unusual or wrong. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { COLUMNS, csvLine, made, mix, nameOf, type Sale, type Span, saleOf } from "./generate.ts";

const two = (number: number): string => String(number).padStart(2, "0");
const SEATS = ["", "1", "12", "27", "30"] as const;
const DECLARED = [
  "Order",
  "Position",
  "Event",
  "Customer",
  "Price",
  "Category",
  "Paid",
  "Row",
  "Seat",
  "Status",
  "Used",
  "Note",
];

/** One row of 100 is not paid, and one in 50 of the others was used. No cell needs quotes. */
function declaredLine({ seed, n }: { readonly seed: number; readonly n: number }): string {
  const code = mix(n ^ Math.imul(seed, 0x9e3779b9));
  const a = mix(code ^ 0x51ed270b);
  const cells = [
    `F${code.toString(36).toUpperCase()}`,
    1 + (a % 4),
    two(a % 99),
    `guest-${a % 700_001}`,
    `${10 + (a % 90)},${two((a >>> 7) % 100)}`,
    "ABSL".charAt((a >>> 9) % 4),
    `2025-${two(1 + ((a >>> 3) % 12))}-${two(1 + ((a >>> 5) % 28))} ${two(4 + (a % 20))}:${two((a >>> 11) % 60)}`,
    `Reihe ${1 + (a % 40)}`,
    SEATS[a % SEATS.length],
    a % 100 === 0 ? "open" : "paid",
    (a >>> 4) % 50 === 0 ? "yes" : "",
    (a >>> 6) % 5 === 0 ? "bezahlt über Gutschein" : "",
  ];
  return `${cells.join(";")}\n`;
}

export function declaredCsv(folder: string, span: Span): string {
  return made(folder, `orders-${nameOf(span)}.csv`, (put) => {
    put(`${DECLARED.join(";")}\n`);
    for (let n = span.first; n < span.first + span.rows; n += 1) put(declaredLine({ seed: span.seed, n }));
  });
}

/** Templates, a constant, a table of values, a time with its zone, a decimal comma, attributes and two conditions. */
const CONFIG = `sources:
  orders:
    match: "orders-*.csv"
    csv: {delimiter: ";"}
    zone: Europe/Berlin
    fields:
      eventId: "season-26-{Event}"
      ticketId: "{Order}-{Position}"
      userId: "{Customer}"
      price: {from: "{Price}", decimal: ","}
      orderTime: {from: "{Paid}", format: "yyyy-MM-dd HH:mm"}
      name: {from: "{Category}", map: {A: Parkett, B: Rang, S: Stehplatz, L: "Loge – Süd"}}
      description: Season ticket of 2026
      metadataAttributes: {Row: "{Row}", Seat: "{Seat}"}
    skip: {Status: [open]}
    actions:
      - soldTicket: {when: {Status: [paid]}}
      - invalidatedTicket: {when: {Used: ["yes"]}}
`;

/** The path of the config that reads them. */
export function declaredConfig(folder: string): string {
  const path = join(folder, "orders.config.yaml");
  writeFileSync(path, CONFIG);
  return path;
}

/** What makes a row unusual, and still valid. */
const UNUSUAL: readonly ((sale: Sale) => Partial<Record<keyof Sale, string>>)[] = [
  ({ userId }) => ({ userId: `  ${userId} ` }),
  ({ userId }) => ({ userId: userId.replace("guest", "gäst") }),
  () => ({ orderTime: "2026-05-01T20:00:00+02:00" }),
  () => ({ imageUrl: "http://müller.example/ä.png" }),
  () => ({ to: "0x52908400098527886E0F7030069857D2E4169EE7" }),
];
const INVALID: typeof UNUSUAL = [
  () => ({ price: "12,50" }),
  () => ({ ticketId: "" }),
  () => ({ to: "0x12" }),
  () => ({ orderTime: "yesterday" }),
];

/** The sales, of which every `every`th is made otherwise. */
function changedCsv(folder: string, name: string, span: Span, every: number, changes: typeof UNUSUAL): string {
  return made(folder, `sales-${name}-${nameOf(span)}.csv`, (put) => {
    put(`${COLUMNS.join(",")}\n`);
    for (let n = span.first; n < span.first + span.rows; n += 1) {
      const sale = saleOf(span.seed, n);
      const change = n % every === every - 1 ? changes[Math.floor(n / every) % changes.length]?.(sale) : undefined;
      put(csvLine({ ...sale, ...change }));
    }
  });
}

/** One row of twenty is unusual. */
export const unusualCsv = (folder: string, span: Span): string => changedCsv(folder, "unusual", span, 20, UNUSUAL);

/** One row of a hundred is invalid. */
export const invalidCsv = (folder: string, span: Span): string => changedCsv(folder, "invalid", span, 100, INVALID);
