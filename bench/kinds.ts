/** Nine kinds of rows, as ticketing systems write them, made from a seed: the same seed gives the same files. */

/** What a row says, by column. In a table, numbers and lists become text. */
type Row = Readonly<Record<string, unknown>>;
type Change = (row: Row) => Row;

interface Kind {
  readonly title: string;
  /** How its files are named; the program tells by it what the rows are. */
  readonly file: `${string}.csv` | `${string}.ndjson`;
  readonly delimiter?: string;
  readonly config?: string;
  readonly row: (luck: Luck) => Row;
  /** How a line of NDJSON wraps the row. */
  readonly wrap?: (row: Row) => unknown;
  /** What makes a row rare and still valid. */
  readonly unusual: readonly Change[];
  readonly invalid: readonly Change[];
}

/** All that is drawn for a row. */
interface Luck {
  /** Of the row, from 0. */
  readonly n: number;
  readonly a: number;
  readonly b: number;
  /** Of the ticket: no two rows of a seed share it, and it does not rise with the rows. */
  readonly code: string;
  readonly event: number;
}

/** As many as a season of a house has. */
export const EVENTS = 200;
/** In Unix seconds. The last order of the largest case is past as well. */
const FIRST_ORDER = 1_730_000_000;

const CHANNELS = ["app", "web", "box office", "partner"] as const;
const PRICES = ["19.50", "31.50", "48.00", "72.25"] as const;
const CATEGORIES = ["Parkett", "Rang", "Stehplatz", "Loge – Süd"] as const;
const OFFSETS = ["+02:00", "Z", "-05:00", "+05:30"] as const;
const NAMES = [
  'Jürgen "Jo" Müller, Köln',
  "Ελένη Παπαδοπούλου",
  "Наталья «Ната» Иванова",
  "ليلى حداد",
  "יעל כהן",
  "अनन्या शर्मा",
  "山田 花子\n二階席",
] as const;
const SHOWS = [
  "Winterreise, neu gehört",
  'The "Big" Night',
  "Été au parc",
  "夏祭り、第二夜",
  "Gala\nPart two",
] as const;

const pick = <T>(list: readonly T[], number: number): T => list[number % list.length] as T; // in range
const two = (number: number): string => String(number).padStart(2, "0");

const eventId = (event: number): string => `season-26-${String(event).padStart(3, "0")}`;
const ticketId = ({ code, a }: Luck): string => `${code}-${1 + (a % 4)}`;
const wallet = (number: number): string => `0x${number.toString(16).padStart(8, "0").repeat(5)}`;
const link = ({ code }: Luck): string => `https://media.example.com/tickets/${code}.png`;

const sale = (luck: Luck): Row => ({
  eventId: eventId(luck.event),
  ticketId: ticketId(luck),
  userId: `guest-${luck.b % 700_001}`,
  price: pick(PRICES, luck.a >>> 4),
  orderTime: FIRST_ORDER + luck.n,
});

const traits = ({ a, b }: Luck): readonly Row[] => [
  { trait_type: "Category", value: pick(CATEGORIES, a >>> 6) },
  { trait_type: "Row", value: 1 + (b % 40) },
  { trait_type: "Seat", value: 1 + ((a >>> 8) % 30), display_type: "number" },
];

/** The columns of fixtures/sales.csv: what the shop knows beside what is sent. */
const saleWithMetadata = (luck: Luck): Row => ({
  ...sale(luck),
  booking: luck.code,
  seat_label: `Block ${String.fromCharCode(65 + (luck.a % 20))}, Row ${1 + (luck.b % 40)}`,
  channel: pick(CHANNELS, luck.b >>> 5),
  name: (luck.a >>> 3) % 3 === 0 ? pick(SHOWS, luck.event) : "",
  imageUrl: (luck.b >>> 3) % 4 === 0 ? link(luck) : "",
  to: luck.a % 16 === 0 ? wallet(luck.b) : "",
  metadataAttributes: traits(luck),
});

const withoutEmpty = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ""));

/** What the columns of a sale mean to the service. */
const saleData = (luck: Luck): Row => {
  const { booking: _, seat_label: __, channel: ___, ...data } = saleWithMetadata(luck);
  return withoutEmpty(data);
};

const iso = (seconds: number, offset: string): string => {
  const hours = offset === "Z" ? 0 : Number(`${offset.slice(0, 3)}`) + (offset.endsWith("30") ? 0.5 : 0);
  return `${new Date((seconds + hours * 3600) * 1000).toISOString().slice(0, 19)}${offset}`;
};

const set =
  (column: string, value: unknown): Change =>
  (row) => ({ ...row, [column]: value });
const inBlanks =
  (column: string): Change =>
  (row) => ({ ...row, [column]: `  ${row[column]} ` });
const accented: Change = (row) => ({ ...row, userId: `gäst-${row.userId}` });
const TIME = set("orderTime", "2025-05-01T20:00:00+02:00");
const WALLET = set("to", "0x52908400098527886E0F7030069857D2E4169EE7");
const IDN = set("imageUrl", "http://müller.example/ä.png");
const DATELESS = set("orderTime", "yesterday");

const UNUSUAL_SALE = [inBlanks("userId"), accented, TIME] as const;
const INVALID_SALE = [set("price", "12,50"), set("ticketId", ""), DATELESS] as const;
const UNUSUAL_JSON = [accented, TIME, WALLET, IDN] as const;
const INVALID_JSON = [...INVALID_SALE, set("to", "0x12")] as const;

/** Templates, a constant, a table of values, a time with its zone, a decimal comma, attributes and two conditions. */
const SHOP_CONFIG = `sources:
  shop:
    match: "orders*.csv"
    csv: {delimiter: ";"}
    zone: Europe/Berlin
    fields:
      eventId: "season-26-{Event}"
      ticketId: "{Bestellung}-{Position}"
      userId: "{Kunde}"
      price: {from: "{Preis}", decimal: ",", thousands: "."}
      orderTime: {from: "{Bezahlt am}", format: "dd.MM.yyyy HH:mm"}
      name: {from: "{Kategorie}", map: {A: Parkett, B: Rang, S: Stehplatz, L: "Loge – Süd"}}
      description: Season ticket of 2026
      metadataAttributes: {Reihe: "{Reihe}", Platz: {from: "{Platz}", display: number}}
    skip: {Status: [offen]}
    actions:
      - soldTicket: {when: {Status: [bezahlt]}}
      - invalidatedTicket: {when: {Erstattet: ["ja"]}}
`;

/** One row of 100 is not paid, and one of 50 was refunded. */
const shopRow = ({ n, a, b, code, event }: Luck): Row => ({
  Bestellung: `F${code}`,
  Position: 1 + (a % 4),
  Event: two(event % 99),
  Kunde: `guest-${b % 700_001}`,
  Preis: `${a % 50 === 7 ? "1." : ""}${100 + (a % 900)},${two((a >>> 7) % 100)}`,
  Kategorie: "ABSL".charAt((a >>> 9) % 4),
  "Bezahlt am": `${two(1 + ((a >>> 5) % 28))}.${two(1 + ((a >>> 3) % 12))}.2025 ${two(4 + (a % 20))}:${two((a >>> 11) % 60)}`,
  Reihe: `Reihe ${1 + (a % 40)}`,
  Platz: n % 5 === 0 ? "" : 1 + (b % 30),
  Status: b % 100 === 0 ? "offen" : "bezahlt",
  Erstattet: (b >>> 4) % 50 === 0 ? "ja" : "",
  Notiz: (a >>> 6) % 5 === 0 ? "bezahlt über Gutschein" : "",
});

export const KINDS = {
  plain: {
    title: "plain sales",
    file: "sales.csv",
    row: (luck) => ({ ...sale(luck), booking: luck.code, channel: pick(CHANNELS, luck.b >>> 5) }),
    unusual: UNUSUAL_SALE,
    invalid: INVALID_SALE,
  },
  metadata: {
    title: "sales, texts and numbers in metadata",
    file: "sales.csv",
    row: saleWithMetadata,
    unusual: [...UNUSUAL_SALE, WALLET, IDN],
    invalid: [...INVALID_SALE, set("to", "0x12"), set("metadataAttributes", "Row 4")],
  },
  names: {
    title: "names in seven scripts, quotes, line breaks",
    file: "sales.csv",
    row: (luck) => ({ ...sale(luck), name: `${pick(NAMES, luck.a >>> 3)} ${1 + (luck.b % 40)}`, booking: luck.code }),
    unusual: [...UNUSUAL_SALE, set("name", "e\u0301 👩‍👩‍👧 &amp; co.")],
    invalid: [...INVALID_SALE, set("name", "é".repeat(129))],
  },
  times: {
    title: "times in ISO with zones",
    file: "sales.csv",
    row: (luck) => ({ ...sale(luck), orderTime: iso(FIRST_ORDER + luck.n, pick(OFFSETS, luck.a >>> 3)) }),
    unusual: [...UNUSUAL_SALE, set("orderTime", "2025-05-01T20:00:00.250+02:00")],
    invalid: [...INVALID_SALE, set("orderTime", "2025-02-30T20:00:00Z")],
  },
  updates: {
    title: "updates with metadata",
    file: "updates.csv",
    row: (luck) => ({
      ticketId: ticketId(luck),
      imageUrl: luck.b % 2 === 0 ? link(luck) : "",
      mediaUrl: "",
      metadataAttributes: traits(luck),
      changed_by: pick(CHANNELS, luck.b >>> 5),
    }),
    unusual: [inBlanks("ticketId"), IDN, set("mediaUrl", "\\clear")],
    invalid: [set("ticketId", ""), set("imageUrl", "media.example.com"), set("metadataAttributes", "Row 4")],
  },
  scans: {
    title: "scans by nftId",
    file: "scans.csv",
    row: ({ n, a, b }) => ({
      nftId: `MATIC-${1 + (a % EVENTS)}-${n}`,
      orderTime: FIRST_ORDER + n,
      gate: pick(CHANNELS, a >>> 5),
      device: `scanner-${b % 40}`,
    }),
    unusual: [inBlanks("nftId"), TIME],
    invalid: [set("nftId", "MATIC-7"), DATELESS],
  },
  shop: {
    title: "a German shop, declared",
    file: "orders.csv",
    delimiter: ";",
    config: SHOP_CONFIG,
    row: shopRow,
    unusual: [inBlanks("Kunde"), set("Kunde", "Käufer"), set("Preis", "12"), set("Reihe", 'Reihe; "7"')],
    invalid: [
      set("Preis", "12.50"),
      set("Bezahlt am", "30.02.2025 20:00"),
      set("Kategorie", "X"),
      set("Bestellung", ""),
    ],
  },
  flat: {
    title: "NDJSON, flat",
    file: "sales.ndjson",
    row: (luck) => withoutEmpty(saleWithMetadata(luck)),
    unusual: UNUSUAL_JSON,
    invalid: INVALID_JSON,
  },
  actions: {
    title: "NDJSON, {action, data}",
    file: "actions.ndjson",
    row: saleData,
    wrap: (data) => ({ action: "soldTicket", data }),
    unusual: [accented, WALLET, IDN, set("description", "")],
    invalid: INVALID_JSON,
  },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as readonly KindName[]; // its own keys

/** A permutation of the 32-bit numbers that mixes well (the last rounds of MurmurHash3). */
function mix(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function luckOf(seed: number, n: number, events: number): Luck {
  const ticket = mix(n ^ Math.imul(seed, 0x9e3779b9));
  const a = mix(ticket ^ 0x51ed270b);
  const b = mix(a ^ 0x2545f491);
  // The smaller of two: some events sell more than others, as they do.
  const event = Math.min(a % events, b % events);
  return { n, a, b, code: ticket.toString(36).toUpperCase().padStart(7, "0"), event };
}

/** Some rows of a kind. */
export interface Sample {
  readonly kind: KindName;
  readonly seed: number;
  readonly rows: number;
  /** The first row, counted from 0. */
  readonly first?: number;
  readonly events?: number;
  /** One row of 20 is unusual, or one of 100 invalid. */
  readonly odd?: "unusual" | "invalid";
}

const EVERY = { unusual: 20, invalid: 100 } as const;

/** The lines of a sample's file, with their ends. */
export function* linesOf({ kind, seed, rows, first = 0, events = EVENTS, odd }: Sample): Generator<string> {
  const { row, wrap = (plain: Row) => plain, delimiter = ",", file, unusual, invalid }: Kind = KINDS[kind];
  const changes = { unusual, invalid };
  const isTable = file.endsWith(".csv");
  if (isTable) yield `${Object.keys(row(luckOf(seed, 0, events))).join(delimiter)}\n`;
  for (let n = first; n < first + rows; n += 1) {
    const usual = row(luckOf(seed, n, events));
    const isOdd = odd !== undefined && n % EVERY[odd] === EVERY[odd] - 1;
    const made = isOdd ? pick(changes[odd], Math.floor(n / EVERY[odd]))(usual) : usual;
    yield isTable ? csvLine(made, delimiter) : `${JSON.stringify(wrap(made))}\n`;
  }
}

function csvLine(row: Row, delimiter: string): string {
  const cells = Object.values(row).map((value) => {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    return text.includes('"') || text.includes(delimiter) || text.includes("\n")
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  });
  return `${cells.join(delimiter)}\n`;
}

const newEvent = (event: number): Row => ({
  eventId: eventId(event),
  eventName: pick(SHOWS, event),
  currency: event % 5 === 0 ? "CHF" : "EUR",
});

export function* eventLines(): Generator<string> {
  yield `${Object.keys(newEvent(0)).join(",")}\n`;
  for (let event = 0; event < EVENTS; event += 1) yield csvLine(newEvent(event), ",");
}

type Season = Pick<Sample, "seed" | "rows">;

/** What the service is sent of the events and the sales with metadata, an action at a time. */
export function* actionsOf({ seed, rows }: Season): Generator<Row> {
  for (let event = 0; event < EVENTS; event += 1) yield { action: "newEvent", data: newEvent(event) };
  for (let n = 0; n < rows; n += 1) yield { action: "soldTicket", data: saleData(luckOf(seed, n, EVENTS)) };
}

/** The same, with changes of the events among their sales: each event is updated twice, while others go on. */
export function* seasonOf(season: Season): Generator<Row> {
  const every = Math.ceil(season.rows / (2 * EVENTS));
  let n = -EVENTS;
  for (const action of actionsOf(season)) {
    yield action;
    n += 1;
    if (n > 0 && n % every === 0) {
      const event = (n / every) % EVENTS;
      yield { action: "updateEvent", data: { eventId: eventId(event), eventName: `${pick(SHOWS, event)}, part ${n}` } };
    }
  }
}
