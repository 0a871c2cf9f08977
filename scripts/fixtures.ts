/**
 * Writes `fixtures/`: a season of 40 events with sales and everything that follows, and the folder of bad files.
 *
 *     node scripts/fixtures.ts
 *
 * The same seed gives the same bytes on every machine: no clock, no zone database, no compression library is asked.
 * It uses nothing of `src/`, so that a mistake there can't hide itself here.
 */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { BAD_FILES, type BadFile } from "./bad-fixtures.ts";
import { EVENTS, type EventSeed } from "./season.ts";

const SEED = 20260117;
const SALES = 12_000;
/** The cell that clears a field in an update (the default `clear` word of a source). */
const CLEAR = "\\clear";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A row by column name; what is absent is an empty cell in CSV and no key in NDJSON. */
type FixtureRow = Readonly<Record<string, string | number | readonly Attribute[]>>;

interface Attribute {
  readonly trait_type: string;
  readonly value: string | number;
  readonly display_type?: string;
}

/** The rows of one file; `action` is what the file's name or its `action` column says. */
interface FixtureTable {
  readonly stem: string;
  readonly action: string;
  readonly columns: readonly string[];
  readonly rows: readonly FixtureRow[];
}

interface Ticket {
  readonly event: EventSeed;
  readonly startsAt: number;
  readonly ticketId: string;
  readonly buyer: string;
  readonly price: string;
  readonly soldAt: number;
  readonly sale: FixtureRow;
  holder: string;
  /** Time of the last thing that happened to it. */
  touchedAt: number;
}

/** All files of `fixtures/` that this script owns, by path below `fixtures/`. */
export function generateFixtures(): ReadonlyMap<string, string | Uint8Array> {
  const tables = generateSeason();
  const files = new Map<string, string | Uint8Array>();
  for (const table of tables) files.set(`${table.stem}.csv`, toCsv(table));
  const sample = sampleActions(tables).map((action) => JSON.stringify(action));
  files.set("payload.json", `[\n${sample.join(",\n")}\n]\n`);
  for (const bad of BAD_FILES) files.set(`bad/${bad.file}`, bad.content);
  files.set("bad/expected.json", toExpected(BAD_FILES));
  files.set("README.md", toReadme(tables, sample.length, BAD_FILES));
  return files;
}

/** What is in `fixtures/` in another form, by name: the season's tables as NDJSON, and the items of `payload.json` one a line. Made where it is needed. */
export function generateTwins(): ReadonlyMap<string, string> {
  const tables = generateSeason();
  return new Map([
    ...tables.map((table) => [`${table.stem}.ndjson`, toNdjson(table)] as const),
    [
      "actions.ndjson",
      sampleActions(tables)
        .map((action) => `${JSON.stringify(action)}\n`)
        .join(""),
    ],
  ]);
}

/** The season's tables in the order in which a service takes them. */
function generateSeason(): readonly FixtureTable[] {
  const random = seededRandom(SEED);
  const tickets = sellTickets(random);
  return [
    { stem: "events", action: "newEvent", columns: EVENT_COLUMNS, rows: EVENTS.map(toEventRow) },
    { stem: "event-updates", action: "updateEvent", columns: EVENT_UPDATE_COLUMNS, rows: updateEvents(random) },
    { stem: "sales", action: "soldTicket", columns: SALE_COLUMNS, rows: tickets.map((ticket) => ticket.sale) },
    { stem: "updates", action: "updateTicket", columns: UPDATE_COLUMNS, rows: updateTickets(tickets, random) },
    ...afterSale(tickets, random),
  ];
}

// --- events -----------------------------------------------------------------------------------------------------------

const EVENT_COLUMNS = [
  "eventId",
  "eventName",
  "currency",
  "shopUrl",
  "coverImageUrl",
  "coverMediaUrl",
  "defaultNftImageUrl",
  "defaultNftMediaUrl",
  "latitude",
  "longitude",
  "startTime",
  "endTime",
  "callbackUrl",
  "city",
  "timezone",
];

function toEventRow(event: EventSeed, index: number): FixtureRow {
  const slug = event.id.toLowerCase();
  return {
    eventId: event.id,
    eventName: event.name,
    currency: event.currency,
    shopUrl: `https://shop.example.com/${event.country.toLowerCase()}/${slug}?lang=${event.language}`,
    coverImageUrl: `https://media.example.com/${slug}/cover.jpg`,
    ...(index % 3 === 0 ? { coverMediaUrl: `https://media.example.com/${slug}/trailer.mp4` } : {}),
    defaultNftImageUrl: `https://media.example.com/${slug}/ticket.png`,
    ...(index % 4 === 1 ? { defaultNftMediaUrl: `https://media.example.com/${slug}/ticket.mp4` } : {}),
    latitude: event.latitude,
    longitude: event.longitude,
    startTime: event.starts,
    endTime: event.ends,
    ...(index % 5 === 2 ? { callbackUrl: `https://hooks.example.com/tickets/${slug}` } : {}),
    city: event.city,
    timezone: event.zone,
  };
}

const EVENT_UPDATE_COLUMNS = [
  "action",
  "eventId",
  "eventName",
  "shopUrl",
  "coverMediaUrl",
  "defaultNftMediaUrl",
  "startTime",
  "endTime",
  "reason",
];

/** Two rounds of changes: some events move or lose their date, some drop a link; the second round repairs part of it. */
function updateEvents(random: Random): readonly FixtureRow[] {
  const rows: FixtureRow[] = [];
  for (const event of EVENTS) {
    const update = { action: "updateEvent", eventId: event.id };
    const slug = event.id.toLowerCase();
    const kind = random.below(6);
    if (kind === 0) {
      rows.push({ ...update, startTime: CLEAR, endTime: CLEAR, reason: "postponed, no new date yet" });
      rows.push({ ...update, startTime: event.starts, endTime: event.ends, reason: "back on its first date" });
    } else if (kind === 1) {
      rows.push({ ...update, shopUrl: CLEAR, reason: "shop closed" });
    } else if (kind === 2) {
      rows.push({ ...update, startTime: CLEAR, reason: "open doors, no fixed start" });
      rows.push({ ...update, coverMediaUrl: CLEAR, defaultNftMediaUrl: CLEAR, reason: "video rights ended" });
    } else if (kind === 3) {
      rows.push({ ...update, eventName: `${event.name} – sold out`.replaceAll("\n", " "), reason: "sold out" });
    } else if (kind === 4) {
      rows.push({
        ...update,
        coverMediaUrl: `https://media.example.com/${slug}/trailer-2.mp4`,
        reason: 'new trailer, "extended cut"',
      });
    } else {
      rows.push({ ...update, shopUrl: `https://tickets.example.org/${slug}`, reason: "shop moved" });
    }
  }
  return rows;
}

// --- sales ------------------------------------------------------------------------------------------------------------

/** Twelve columns, of which `booking`, `seat_label` and `channel` are no fields of the service. */
const SALE_COLUMNS = [
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
];

const CHANNELS = ["web", "web", "web", "app", "app", "box office", "partner"] as const;
/** Without E, so that no code looks like a number in scientific notation. */
const CODE_LETTERS = "ABCDFGHJKLMNPQRSTUVWXYZ3789";

interface Booking {
  readonly event: EventSeed;
  readonly at: number;
  readonly tickets: number;
}

function sellTickets(random: Random): readonly Ticket[] {
  const bookings = EVENTS.flatMap((event, index) => bookEvent(event, shareOfSales(index), random));
  bookings.sort((a, b) => a.at - b.at); // stable: equal times keep the order of the events
  const used = new Set<string>();
  const seats = new Map<string, number>();
  const tickets: Ticket[] = [];
  for (const booking of bookings) {
    const code = unique(used, () => random.text(CODE_LETTERS, 6));
    const buyer = `guest-${1001 + random.below(5200)}`;
    const channel = random.pick(CHANNELS);
    const category = random.pick(booking.event.prices);
    const wallet = random.below(30) === 0 ? toWallet(random) : undefined;
    for (let position = 1; position <= booking.tickets; position += 1) {
      const seat = seats.get(booking.event.id) ?? 0;
      seats.set(booking.event.id, seat + 1);
      tickets.push(toTicket({ booking, code, position, buyer, channel, category, wallet, seat, used }, random));
    }
  }
  return tickets;
}

/** Larger events sell more; the shares add up to SALES exactly. */
function shareOfSales(index: number): number {
  const total = EVENTS.reduce((sum, event) => sum + event.size, 0);
  let before = 0;
  for (const event of EVENTS.slice(0, index)) before += event.size;
  const upTo = (size: number) => Math.floor((size * SALES) / total);
  return upTo(before + (EVENTS[index]?.size ?? 0)) - upTo(before);
}

function bookEvent(event: EventSeed, count: number, random: Random): readonly Booking[] {
  const startsAt = toUnix(event.starts);
  const opensAt = startsAt - (100 + random.below(80)) * DAY;
  const closesAt = startsAt - 3 * HOUR;
  const bookings: Booking[] = [];
  for (let left = count; left > 0; ) {
    const tickets = Math.min(left, random.pick([1, 1, 1, 2, 2, 2, 2, 3, 4, 4, 6]));
    const late = random.fraction();
    // Squared: most tickets go in the first weeks.
    const at = opensAt + Math.floor((closesAt - opensAt) * late * late);
    bookings.push({ event, at, tickets });
    left -= tickets;
  }
  return bookings;
}

interface TicketSeed {
  readonly booking: Booking;
  readonly code: string;
  readonly position: number;
  readonly buyer: string;
  readonly channel: string;
  readonly category: EventSeed["prices"][number];
  readonly wallet: string | undefined;
  readonly seat: number;
  readonly used: Set<string>;
}

function toTicket(seed: TicketSeed, random: Random): Ticket {
  const { event, at } = seed.booking;
  const ticketId = toTicketId(seed, random);
  const [categoryName, price] = seed.category;
  const section = "ABCDEFGH".charAt(Math.floor(seed.seat / 240) % 8);
  const row = Math.floor((seed.seat % 240) / 20) + 1;
  const place = (seed.seat % 20) + 1;
  const special = categoryName === "VIP";
  const attributes: Attribute[] = [{ trait_type: "Category", value: categoryName }];
  if (event.seated) {
    attributes.push(
      { trait_type: "Section", value: section },
      { trait_type: "Row", value: row },
      { trait_type: "Seat", value: place },
    );
  }
  if (special) attributes.push({ trait_type: "Doors", value: toUnix(event.starts) - HOUR, display_type: "date" });
  const sale: FixtureRow = {
    eventId: event.id,
    ticketId,
    userId: seed.buyer,
    price,
    orderTime: at,
    booking: seed.code,
    seat_label: event.seated ? `Block ${section}, Row ${row}, Seat ${place}` : "General admission",
    channel: seed.channel,
    ...(special ? { name: `${event.city}: ${categoryName} ${seed.seat + 1}` } : {}),
    ...(special ? { imageUrl: `https://media.example.com/${event.id.toLowerCase()}/vip.png` } : {}),
    ...(seed.wallet === undefined ? {} : { to: seed.wallet }),
    ...(special || random.below(5) === 0 ? { metadataAttributes: attributes } : {}),
  };
  return {
    event,
    startsAt: toUnix(event.starts),
    ticketId,
    buyer: seed.buyer,
    price,
    soldAt: at,
    sale,
    holder: seed.buyer,
    touchedAt: at,
  };
}

/** Three habits of real systems: a barcode with leading zeros, a number within the event, booking code and position. */
function toTicketId(seed: TicketSeed, random: Random): string {
  const { event } = seed.booking;
  if (event.ticketIds === "barcode") return unique(seed.used, () => `00${random.text("0123456789", 11)}`);
  if (event.ticketIds === "number") return `${event.id}-${String(seed.seat + 1).padStart(6, "0")}`;
  return `${seed.code}-${seed.position}`;
}

// --- what follows a sale ----------------------------------------------------------------------------------------------

const UPDATE_COLUMNS = ["ticketId", "imageUrl", "mediaUrl", "metadataAttributes", "changed_by"];

function updateTickets(tickets: readonly Ticket[], random: Random): readonly FixtureRow[] {
  const rows: FixtureRow[] = [];
  for (const ticket of sample(tickets, 380, random)) {
    const { ticketId, event } = ticket;
    const base = `https://media.example.com/${event.id.toLowerCase()}`;
    const kind = random.below(5);
    if (kind === 0) rows.push({ ticketId, imageUrl: CLEAR, changed_by: "design" });
    else if (kind === 1) {
      rows.push({ ticketId, mediaUrl: `${base}/teaser.mp4`, changed_by: "design" });
      rows.push({ ticketId, mediaUrl: CLEAR, changed_by: "legal" });
    } else if (kind === 2) {
      rows.push({
        ticketId,
        metadataAttributes: [{ trait_type: "Gate", value: random.pick(["North", "South", "Tor 3"]) }],
        changed_by: "door",
      });
    } else if (kind === 3)
      rows.push({ ticketId, imageUrl: `${base}/night.png`, mediaUrl: CLEAR, changed_by: "design" });
    else {
      rows.push({
        ticketId,
        imageUrl: `${base}/upgrade.png`,
        metadataAttributes: [
          { trait_type: "Category", value: 'Upgrade, "Gold"' },
          { trait_type: "Bonus", value: 10 + random.below(40), display_type: "boost_percentage" },
        ],
        changed_by: "box office",
      });
    }
  }
  return rows;
}

interface TimedRow {
  readonly at: number;
  readonly row: FixtureRow;
}

function afterSale(tickets: readonly Ticket[], random: Random): readonly FixtureTable[] {
  const early = tickets.filter((ticket) => ticket.startsAt - ticket.soldAt > 5 * DAY);
  const resold = sample(early, 520, random);
  const resales = resold.flatMap((ticket, index) => resell(ticket, index, random));

  const refunded = new Set([...sample(resold, 40, random), ...sample(early, 300, random)]);
  const valid = tickets.filter((ticket) => !refunded.has(ticket));
  const scanned = sample(valid, 700, random);
  const scans = scanned.flatMap((ticket) => scan(ticket, random));

  const admitted = [...new Set([...scanned.slice(0, 450), ...sample(valid, 180, random)])];
  const checkins = admitted.map((ticket) => checkIn(ticket, random));

  const claiming = [...new Set([...admitted.slice(0, 280), ...sample(valid, 120, random)])];
  const claims = claiming.map((ticket, index) => claim(ticket, index, random));

  const invalidations = [...refunded].map((ticket) => invalidate(ticket, random));
  const table = (
    stem: string,
    action: string,
    columns: readonly string[],
    rows: readonly TimedRow[],
  ): FixtureTable => ({
    stem,
    action,
    columns,
    rows: rows.toSorted((a, b) => a.at - b.at).map(({ row }) => row),
  });
  return [
    table("resales", "resoldTicket", ["ticketId", "userId", "price", "orderTime", "to", "platform"], resales),
    table("scans", "scannedTicket", ["ticketId", "orderTime", "gate", "device"], scans),
    table("checkins", "checkedInTicket", ["ticketId", "orderTime", "gate"], checkins),
    table("claims", "claimedTicket", ["ticketId", "userId", "to", "orderTime"], claims),
    table("invalidations", "invalidatedTicket", ["ticketId", "orderTime", "reason"], invalidations),
  ];
}

/** One resale, or two: back to the first buyer (A → B → A) or on to a third (A → B → C). */
function resell(ticket: Ticket, index: number, random: Random): readonly TimedRow[] {
  const lastAt = ticket.startsAt - 2 * DAY;
  const firstBuyer = ticket.holder;
  const buyers = [otherGuest([firstBuyer], random)];
  if (index % 8 === 0) buyers.push(firstBuyer);
  else if (index % 8 === 4) buyers.push(otherGuest([firstBuyer, ...buyers], random));
  return buyers.map((buyer) => {
    const at = ticket.touchedAt + HOUR + random.below(Math.max(1, Math.floor((lastAt - ticket.touchedAt) / 2)));
    ticket.touchedAt = at;
    ticket.holder = buyer;
    const row: FixtureRow = {
      ticketId: ticket.ticketId,
      userId: buyer,
      price: scalePrice(ticket.price, 80 + random.below(41)),
      orderTime: at,
      ...(random.below(6) === 0 ? { to: toWallet(random) } : {}),
      platform: random.pick(["fan market", "own shop", "waiting list"]),
    };
    return { at, row };
  });
}

/** Once at the door, for some again after a break; never twice in the same second. */
function scan(ticket: Ticket, random: Random): readonly TimedRow[] {
  const first = ticket.startsAt - 90 * MINUTE + random.below(80 * MINUTE);
  const times = random.below(4) === 0 ? [first, first + 20 * MINUTE + random.below(30 * MINUTE)] : [first];
  const gate = random.pick(["North", "South", "Tor 3", "入口 A"]);
  return times.map((at) => {
    ticket.touchedAt = at;
    return { at, row: { ticketId: ticket.ticketId, orderTime: at, gate, device: `scanner-${1 + random.below(24)}` } };
  });
}

function checkIn(ticket: Ticket, random: Random): TimedRow {
  const at = Math.max(ticket.touchedAt, ticket.startsAt - 90 * MINUTE) + 5 + random.below(10 * MINUTE);
  ticket.touchedAt = at;
  return {
    at,
    row: { ticketId: ticket.ticketId, orderTime: at, gate: random.pick(["North", "South", "Tor 3", "入口 A"]) },
  };
}

/** By user, by wallet or by both in turn. */
function claim(ticket: Ticket, index: number, random: Random): TimedRow {
  const at = Math.max(ticket.touchedAt, ticket.startsAt) + HOUR + random.below(6 * DAY);
  ticket.touchedAt = at;
  const wallet = toWallet(random);
  const row: FixtureRow = {
    ticketId: ticket.ticketId,
    ...(index % 3 === 1 ? {} : { userId: ticket.holder }),
    // Without capitals there is no checksum to check; services take both.
    ...(index % 3 === 0 ? {} : { to: index % 20 === 7 ? wallet.toLowerCase() : wallet }),
    orderTime: at,
  };
  return { at, row };
}

function invalidate(ticket: Ticket, random: Random): TimedRow {
  const at = ticket.touchedAt + HOUR + random.below(36 * HOUR);
  ticket.touchedAt = at;
  const reason = random.pick(["refunded", "charged back", "cancelled by the buyer", 'duplicate booking, see "notes"']);
  return { at, row: { ticketId: ticket.ticketId, orderTime: at, reason } };
}

// --- a sample of whole actions ----------------------------------------------------------------------------------------

interface SampleAction {
  readonly action: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const SAMPLE_EVENTS = ["ber-lichtfest-2026", "TYO-2026-044", "kwt-pearl-nights", "004711", "nyc-harbor-26"];

/** About 300 actions of all nine kinds: what happened at a few events to the tickets with the fullest lives. */
function sampleActions(tables: readonly FixtureTable[]): readonly SampleAction[] {
  const follows = new Map<unknown, number>();
  for (const { stem, rows } of tables) {
    if (stem === "events" || stem === "event-updates" || stem === "sales") continue;
    for (const { ticketId } of rows) follows.set(ticketId, (follows.get(ticketId) ?? 0) + 1);
  }
  const chosen = new Set<unknown>();
  for (const table of tables) {
    if (table.stem !== "sales") continue;
    for (const eventId of SAMPLE_EVENTS) {
      const ofEvent = table.rows.filter((row) => row.eventId === eventId);
      const fullest = ofEvent.toSorted((a, b) => (follows.get(b.ticketId) ?? 0) - (follows.get(a.ticketId) ?? 0));
      for (const row of fullest.slice(0, 16)) chosen.add(row.ticketId);
    }
  }
  return tables.flatMap(({ action, rows }) =>
    rows
      .filter((row) =>
        row.ticketId === undefined ? SAMPLE_EVENTS.includes(String(row.eventId)) : chosen.has(row.ticketId),
      )
      .map((row) => ({ action, data: toData(row) })),
  );
}

/** Columns that are no fields of the service. */
const NO_FIELDS = new Set([
  "action",
  "booking",
  "seat_label",
  "channel",
  "city",
  "timezone",
  "reason",
  "changed_by",
  "platform",
  "gate",
  "device",
]);

function toData(row: FixtureRow): Readonly<Record<string, unknown>> {
  const data: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row))
    if (!NO_FIELDS.has(column)) data[column] = toFieldValue(column, value);
  return data;
}

function toFieldValue(column: string, value: FixtureRow[string]): unknown {
  if (column === "startTime" || column === "endTime") return value === CLEAR ? 0 : toUnix(String(value));
  return value === CLEAR ? "" : value;
}

// --- files ------------------------------------------------------------------------------------------------------------

function toCsv({ columns, rows }: FixtureTable): string {
  const lines = rows.map((row) => columns.map((column) => toCell(row[column])).join(","));
  return `${[columns.join(","), ...lines].join("\n")}\n`;
}

function toCell(value: FixtureRow[string] | undefined): string {
  const text = value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function toNdjson({ rows }: FixtureTable): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

/** One line an entry, so that a change of one shows as one line. */
function toExpected(badFiles: readonly BadFile[]): string {
  const entries = badFiles.map(({ file, args, exit, rule, line, field }) =>
    JSON.stringify({ file, args, exit, rule, line, field }),
  );
  return `[\n${entries.map((entry) => `  ${entry}`).join(",\n")}\n]\n`;
}

function toReadme(tables: readonly FixtureTable[], sampled: number, badFiles: readonly BadFile[]): string {
  const count = (rows: number) => rows.toLocaleString("en-US");
  return `${[
    "# Fixtures",
    "",
    "A season of a company that does not exist: 40 events, the sales, and what became of the tickets. No real people, places of",
    "sale or keys; guests are numbers, links are example.com. All of it except `service/` is written by",
    "`npx node scripts/fixtures.ts` (seeded; the same bytes every time); change the script, not the files.",
    "",
    "## The season",
    "",
    "Each is a `.csv`; tests make the same rows as `.ndjson` where they need them. In this order a service accepts every action:",
    "",
    "| file | rows | action | what is in it |",
    "|---|---:|---|---|",
    ...tables.map(
      ({ stem, rows, action }) => `| \`${stem}\` | ${count(rows.length)} | ${action} | ${CONTENTS[stem] ?? ""} |`,
    ),
    "",
    `\`payload.json\` is a request body of ${count(sampled)} whole actions of all nine kinds: a few events and their tickets with the fullest lives,`,
    "taken from the files above. It stands for itself, and is no news after those files.",
    "",
    "## `bad/`",
    "",
    "One file per way of being bad, named after what is wrong. `bad/expected.json` says what `tickets validate` answers: exit code, and the",
    "rule, line and field of the problem, beside which others may stand (an exit code of 0 means that the rule only warns; one of 2 that the file",
    "can't be used at all).",
    "No file has a row of more than 1 MiB (`row-too-long`) or more than 5000 items (`payload-too-long`): the tests that need them make them. What",
    "was accepted before is no matter of one file (`late`, `mapping-changed`, `nothing-recognised`).",
    "",
    "| file | exit | rule | line | what is wrong |",
    "|---|---:|---|---:|---|",
    ...badFiles.map(
      ({ file, exit, rule, line, why }) => `| \`${file}\` | ${exit} | ${rule ?? ""} | ${line ?? ""} | ${why} |`,
    ),
    "",
    "## `exports/`",
    "",
    "What five real ticketing systems export (pretix, alf.io, Hi.Events, Eventbrite, Open Event), with data of our own: each folder holds a config as a user of that system would",
    "write it, an export or two per source, and `*.expected.ndjson`, the exact actions that it gives. [docs/mapping.md](../docs/mapping.md) explains the configs.",
    "",
    "## `newcomer/`",
    "",
    "Three exports of invented systems, which `test/e2e/newcomer.test.ts` takes from `init` to `stream` with an answer to each question.",
    "",
    "## `reports/`",
    "",
    "Files that were once misread, or refused without saying why: one folder each, with its config where it has one.",
    "",
    "## `strangers/`",
    "",
    "More such files, after public issues of other tools, under one config; see `strangers/README.md`.",
    "",
    "## `faults/`",
    "",
    "Scripts of faults for the sandbox; [docs/when-it-fails.md](../docs/when-it-fails.md#rehearsals) uses them.",
    "",
    "## `service/`",
    "",
    "Literal request and response bodies, written by hand from the specification of the service; see `service/README.md`.",
  ].join("\n")}\n`;
}

const CONTENTS: Readonly<Record<string, string>> = {
  events:
    "times in RFC 3339 with the event's offset; quotes, commas, umlauts, CJK and one line break in names; currencies with 0, 2 and 3 decimals",
  "event-updates": "an `action` column; fields changed, and cleared by the word `\\clear`",
  sales: "12 columns, of which 9 are fields; several tickets a booking; attributes as JSON text; ordered by time",
  updates: "fields set, cleared by `\\clear`, attributes replaced; some tickets twice",
  resales: "never to the holder; some back to the first buyer (A → B → A), some on to a third",
  scans: "some tickets twice, never in the same second",
  checkins: "after which only claims follow",
  claims: "by user, by wallet, by both; most after the check-in",
  invalidations: "tickets that nobody scanned; some were resold before",
};

// --- small things -----------------------------------------------------------------------------------------------------

interface Random {
  fraction(): number;
  below(limit: number): number;
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T;
  text(letters: string, length: number): string;
}

/** mulberry32: 32-bit integer arithmetic only, so the same on every machine. */
function seededRandom(seed: number): Random {
  let state = seed;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
    text: (letters, length) => Array.from({ length }, () => letters.charAt(below(letters.length))).join(""),
  };
}

/** `count` different items in random order. */
function sample<T>(items: readonly T[], count: number, random: Random): readonly T[] {
  const pool = [...items];
  const taken: T[] = [];
  while (taken.length < count && pool.length > 0) {
    const at = random.below(pool.length);
    const [item] = pool.slice(at, at + 1);
    const last = pool.pop();
    if (at < pool.length && last !== undefined) pool[at] = last;
    if (item !== undefined) taken.push(item);
  }
  return taken;
}

function unique(used: Set<string>, make: () => string): string {
  let text = make();
  while (used.has(text)) text = make();
  used.add(text);
  return text;
}

function otherGuest(not: readonly string[], random: Random): string {
  return unique(new Set(not), () => `guest-${1001 + random.below(5200)}`);
}

/** A wallet address with its EIP-55 checksum: capitals where the hash of the lower-case digits has a nibble above 7. */
function toWallet(random: Random): string {
  const digits = random.text("0123456789abcdef", 40);
  const hash = keccak_256(new TextEncoder().encode(digits));
  const cased = Array.from(digits, (digit, at) => {
    const byte = hash[at >> 1] ?? 0;
    return ((at % 2 === 0 ? byte >> 4 : byte) & 0xf) > 7 ? digit.toUpperCase() : digit;
  });
  return `0x${cased.join("")}`;
}

/** `percent` of a price with as many decimals as it had; by integers, a price is never a float. */
function scalePrice(price: string, percent: number): string {
  const decimals = price.includes(".") ? price.length - price.indexOf(".") - 1 : 0;
  const units = String(Math.floor((Number(price.replace(".", "")) * percent) / 100)).padStart(decimals + 1, "0");
  return decimals === 0 ? units : `${units.slice(0, -decimals)}.${units.slice(-decimals)}`;
}

function toUnix(rfc3339: string): number {
  return Date.parse(rfc3339) / 1000;
}

function writeFixtures(folder: string): void {
  rmSync(join(folder, "bad"), { recursive: true, force: true });
  for (const [path, content] of generateFixtures()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  process.stderr.write(`${readdirSync(folder, { recursive: true }).length} files in ${folder}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFixtures(fileURLToPath(new URL("../fixtures/", import.meta.url)));
