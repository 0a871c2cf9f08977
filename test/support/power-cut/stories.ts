/** Small runs whose every call is traced, and what must have become of them in the end. */

import { readTable } from "../tables.ts";
import type { ServiceRules } from "./service.ts";

interface Step {
  /** `RUN` stands for the run before. */
  readonly args: readonly string[];
  readonly exitCode: number;
}

/** A row whose action is to be sent. */
export interface PlannedRow {
  /** `sales.csv:2` */
  readonly place: string;
  readonly action: string;
  readonly eventId: string;
}

export interface Story {
  readonly name: string;
  readonly rules: ServiceRules;
  readonly output: string;
  readonly lanes: number;
  /** What was carried out on an earlier day, and is on the disk. */
  readonly before: readonly Step[];
  /** What is traced. The power is cut in one of these. */
  readonly steps: readonly Step[];
}

const REFUSED = "T-no";
const HEADER = "eventId,ticketId,userId,price,orderTime";
const sale = (eventId: string, ticketId: string, price = "10.50"): string =>
  `${eventId},${ticketId},user-1,${price},1767225600`;

/** Some rows are invalid, and one is refused wherever it is sent. */
export const FILES: Readonly<Record<string, string>> = {
  "events.csv": "eventId,currency\nE-1,EUR\nE-2,EUR\n",
  "sales.csv": `${[
    HEADER,
    ...[sale("E-1", "T-1"), sale("E-2", "T-2"), sale("E-1", "T-bad", "none"), sale("E-1", "T-3"), sale("E-2", "T-4")],
    // The last of its chunk, however they are cut: what is in doubt was taken from the first on.
    ...[sale("E-2", "T-6"), sale("E-1", REFUSED)],
  ].join("\n")}\n`,
  "sales-more.csv": `${[
    HEADER,
    ...[
      sale("E-1", "T-11"),
      sale("E-2", "T-12"),
      sale("E-1", "T-13"),
      sale("E-2", "T-14"),
      sale("E-1", "T-worse", "?"),
    ],
  ].join("\n")}\n`,
};

/** The rows of a file that stay open, as its rejects hold them. */
export const OPEN_ROWS: Readonly<Record<string, readonly string[]>> = {
  "sales.csv": ["T-bad", REFUSED],
  "sales-more.csv": ["T-worse"],
};

/** The valid rows of some files, in order. */
export function plannedRows(names: readonly string[]): readonly PlannedRow[] {
  return names.flatMap((name) =>
    readTable(FILES[name] ?? "").flatMap(({ eventId = "", ticketId, price = "0.00" }, at) => {
      const action = ticketId === undefined ? `newEvent ${eventId}` : `soldTicket ${ticketId}`;
      return Number.isNaN(Number(price)) ? [] : [{ place: `${name}:${at + 2}`, action, eventId }];
    }),
  );
}

/** Some rows are in the rejects. */
const DONE = 4;
const IN_DOUBT = 6;

const stream = (output: string, files: string, chunkSize: number, more = "", exitCode = DONE): Step => ({
  args: `stream ${files} --env playground -o ${output} TICKETS_CHUNK_SIZE=${chunkSize} --max-invalid 1 --json ${more}`
    .trim()
    .split(" "),
  exitCode,
});
const FIRST = "events.csv sales.csv";

export const STORIES: readonly Story[] = [
  {
    name: "a first night and a second one, in two lanes",
    rules: { refusedTicket: REFUSED },
    output: "out.ndjson",
    lanes: 2,
    before: [],
    steps: [stream("out.ndjson", FIRST, 2, "--lanes 2"), stream("out.ndjson", "sales-more.csv", 1, "--lanes 2")],
  },
  {
    name: "a table that grows, of requests that are too large",
    rules: { refusedTicket: REFUSED, mostActions: 2 },
    output: "out.csv",
    lanes: 1,
    before: [stream("out.csv", FIRST, 2)],
    steps: [stream("out.csv", "sales-more.csv", 4)],
  },
  {
    name: "an answer that is lost, and settled",
    rules: { refusedTicket: REFUSED, lostTicket: "T-4" },
    output: "out.ndjson",
    lanes: 1,
    before: [],
    steps: [
      stream("out.ndjson", FIRST, 2, "", IN_DOUBT),
      { args: "settle RUN --sent --env playground --reason looked".split(" "), exitCode: 0 },
      stream("out.ndjson", FIRST, 2),
    ],
  },
  {
    name: "bodies that are removed before the next night",
    rules: { refusedTicket: REFUSED },
    output: "out.ndjson",
    lanes: 1,
    before: [stream("out.ndjson", FIRST, 3)],
    steps: [
      { args: "prune --older-than 0s --env playground".split(" "), exitCode: 0 },
      stream("out.ndjson", "sales-more.csv", 2),
    ],
  },
];
