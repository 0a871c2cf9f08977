/**
 * Seeded exports of any size. Row n of a seed is the same whatever else is generated, so that a file may start at any
 * row; files are written as they are generated, and used again when they are there.
 */

import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Rows `first` to `first + rows - 1` of a seed. */
export interface Span {
  readonly seed: number;
  readonly first: number;
  readonly rows: number;
}

export interface Sale {
  readonly eventId: string;
  readonly ticketId: string;
  readonly userId: string;
  readonly price: string;
  readonly orderTime: number;
  readonly booking: string;
  readonly seat_label: string;
  readonly channel: string;
  readonly name: string;
  readonly imageUrl: string;
  readonly to: string;
  readonly metadataAttributes: readonly { readonly trait_type: string; readonly value: string }[];
}

export const COLUMNS = [
  "eventId",
  "ticketId",
  "userId",
  "price",
  "orderTime",
  "booking",
  "seat_label",
  "channel",
  "name",
  "imageUrl",
  "to",
  "metadataAttributes",
] as const satisfies readonly (keyof Sale)[];

const EVENT_COUNT = 200;
const CITIES = ["Köln", "Kraków", "Zürich", "東京", "Lyon", "Malmö", "Ἀθῆναι", "Oslo"] as const;
const SHOWS = [
  "Winterreise, neu gehört",
  'The "Big" Night',
  "Été au parc",
  "夏祭り、第二夜",
  "Open Air",
  "Gala\nPart two",
  "Lichtfest",
  "Die Räuber, 3. Akt",
] as const;
const CHANNELS = ["app", "web", "box office", "partner"] as const;
const CATEGORIES = ["Parkett", "Rang", "Stehplatz", "Loge – Süd"] as const;
const PRICES = ["19.50", "31.50", "48.00", "72.25"] as const;

/** A permutation of the 32-bit numbers that mixes well (the last rounds of MurmurHash3). */
export function mix(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

const pick = <T>(list: readonly [T, ...T[]] | readonly T[], number: number): T => list[number % list.length] as T; // in range

/** In Unix seconds: of the largest case, too, the last order is of the past, since a time to come is told with each row. */
const FIRST_ORDER = 1_730_000_000;

export function saleOf(seed: number, n: number): Sale {
  // A permutation, so no two rows of a seed share a ticket; the ids do not rise with the rows.
  const ticket = mix(n ^ Math.imul(seed, 0x9e3779b9));
  const a = mix(ticket ^ 0x51ed270b);
  const b = mix(a ^ 0x2545f491);
  // The smaller of two: some events sell more than others, as they do.
  const event = Math.min(a % EVENT_COUNT, b % EVENT_COUNT);
  const block = String.fromCharCode(65 + (a % 20));
  const row = 1 + (b % 40);
  const seat = 1 + ((a >>> 8) % 30);
  const code = ticket.toString(36).toUpperCase().padStart(7, "0");
  return {
    eventId: eventId(event),
    ticketId: `${code}-${1 + (a % 4)}`,
    userId: `guest-${b % 700_001}`,
    price: pick(PRICES, a >>> 4),
    orderTime: FIRST_ORDER + n,
    booking: code,
    seat_label: `Block ${block}, Row ${row}, Seat ${seat}`,
    channel: pick(CHANNELS, b >>> 5),
    name: (a >>> 3) % 3 === 0 ? `${pick(SHOWS, event)} ${pick(CITIES, event >>> 3)}` : "",
    imageUrl: (b >>> 3) % 4 === 0 ? `https://media.example.com/tickets/${code}.png` : "",
    to: a % 16 === 0 ? `0x${b.toString(16).padStart(8, "0").repeat(5)}` : "",
    metadataAttributes: [
      { trait_type: "Category", value: pick(CATEGORIES, a >>> 6) },
      { trait_type: "Seat", value: `${block}${row}-${seat}` },
    ],
  };
}

const eventId = (event: number): string => `season-26-${String(event).padStart(3, "0")}`;

export interface SaleAction {
  readonly action: "soldTicket";
  readonly data: Omit<Sale, "booking" | "seat_label" | "channel">;
}

/** What a row means to the service: its empty cells and what it does not know left out. */
export function saleAction(seed: number, n: number): SaleAction {
  const { booking: _, seat_label: __, channel: ___, ...data } = saleOf(seed, n);
  for (const name of ["name", "imageUrl", "to"] as const) if (data[name] === "") delete (data as Partial<Sale>)[name];
  return { action: "soldTicket", data };
}

interface EventAction {
  readonly action: "newEvent";
  readonly data: { readonly eventId: string; readonly eventName: string; readonly currency: string };
}

export function eventActions(): readonly EventAction[] {
  return Array.from({ length: EVENT_COUNT }, (_, event) => ({
    action: "newEvent",
    data: {
      eventId: eventId(event),
      eventName: `${pick(SHOWS, event)} ${pick(CITIES, event >>> 3)}`,
      currency: event % 5 === 0 ? "CHF" : "EUR",
    },
  }));
}

const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A row of the table; one that is to be unusual or wrong may have other texts. */
export function csvLine(row: Readonly<Record<(typeof COLUMNS)[number], unknown>>): string {
  return `${COLUMNS.map((column) => cell(column === "metadataAttributes" ? JSON.stringify(row[column]) : String(row[column]))).join(",")}\n`;
}

function jsonLine(row: Sale): string {
  return `${JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== "")))}\n`;
}

/** Makes the file of a name unless it is there; a half-written one never gets the name. */
export function made(folder: string, name: string, write: (put: (text: string) => void) => void): string {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unfinished = `${path}.part`;
  const file = openSync(unfinished, "w");
  let waiting = "";
  try {
    write((text) => {
      waiting += text;
      if (waiting.length < 1 << 20) return;
      writeFileSync(file, waiting);
      waiting = "";
    });
    writeFileSync(file, waiting);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  return path;
}

export const nameOf = ({ seed, first, rows }: Span): string => `${seed}-${first}-${rows}`;

/** The path of the sales as CSV with 12 columns: quoted commas, doubled quotes, line breaks in cells, UTF-8 of 1 to 3 bytes. */
export function salesCsv(folder: string, span: Span): string {
  return made(folder, `sales-${nameOf(span)}.csv`, (put) => {
    put(`${COLUMNS.join(",")}\n`);
    for (let n = span.first; n < span.first + span.rows; n += 1) put(csvLine(saleOf(span.seed, n)));
  });
}

/** The same rows as flat JSON, one a line. */
export function salesNdjson(folder: string, span: Span): string {
  return made(folder, `sales-${nameOf(span)}.ndjson`, (put) => {
    for (let n = span.first; n < span.first + span.rows; n += 1) put(jsonLine(saleOf(span.seed, n)));
  });
}

export function eventsCsv(folder: string): string {
  return made(folder, "events.csv", (put) => {
    put("eventId,eventName,currency\n");
    for (const { data } of eventActions())
      put(`${[data.eventId, data.eventName, data.currency].map(cell).join(",")}\n`);
  });
}

const CHUNK = 5000;

export const chunkCount = (rows: number): number => Math.ceil((EVENT_COUNT + rows) / CHUNK);

/** The paths of the request bodies that events and sales make, in order. */
export function chunkFiles(folder: string, span: Span): readonly string[] {
  const chunks = join(folder, `chunks-${nameOf(span)}`);
  const paths = Array.from({ length: chunkCount(span.rows) }, (_, at) => join(chunks, `${at + 1}.json`));
  if (existsSync(chunks)) return paths;
  const unfinished = `${chunks}.part`;
  rmSync(unfinished, { recursive: true, force: true });
  const events = eventActions();
  for (const at of paths.keys()) {
    const body: unknown[] = [];
    for (let n = at * CHUNK; n < Math.min((at + 1) * CHUNK, events.length + span.rows); n += 1)
      body.push(events[n] ?? saleAction(span.seed, span.first + n - events.length));
    made(unfinished, `${at + 1}.json`, (put) => put(JSON.stringify(body)));
  }
  renameSync(unfinished, chunks);
  return paths;
}

/** How many actions events and sales make. */
export const actionCount = (rows: number): number => EVENT_COUNT + rows;
