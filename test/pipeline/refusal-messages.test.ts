/** What a person reads whose command is refused before anything is sent: what is wrong, with what, and what to do. */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Failure } from "../../src/failure.ts";
import { type Asked, type Field, makeContext, openField, verbs } from "../support/context.ts";

type Attempt = (context: Asked["context"], field: Field) => Promise<unknown>;

const ROW = "ticketId,orderTime\nT-1,1781280000\n";
const STATUS = { json: false, flags: {}, run: undefined } as const;
const SERVE = { reset: false, flags: {} } as const;

const check =
  (file: string, text: string, options: object = {}): Attempt =>
  async (context, field) => {
    await field.write(file, text);
    return verbs.validate({ files: [file], json: false, flags: {}, ...options }, context);
  };

/** @returns the id of its run. */
async function sendEvent(field: Field): Promise<string> {
  await field.write("e.ndjson", '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}\n');
  const { summary } = await field.stream(["e.ndjson"]);
  return summary?.run ?? "";
}

const sendTo =
  (output: string, options: object = {}): Attempt =>
  async (context, field) => {
    await field.write("scans.csv", ROW);
    return verbs.stream({ files: ["scans.csv"], output, flags: { retries: 0 }, ...options }, context);
  };

const importOf =
  (text: string): Attempt =>
  async (context, field) => {
    await field.write("x.ndjson", text);
    return verbs.importResults({ files: ["x.ndjson"], waitLock: 0, flags: {} }, context);
  };
const AS_WRITTEN = "Name a promises file exactly as tickets wrote it.";
/** A line of a promises file, but for its promise. */
const PROMISE = {
  ...{ source: "s.csv", line: 2, action: "soldTicket", eventId: "E", ticketId: "T", status: "success" },
  ...{ environment: "local", run: "0badcafe", seq: 1, chunk: 1, at: "2026-12-01T00:00:00.000Z", mark: "", content: "" },
};

/** Sends where this stands in the place of a file of the ledger's folder. */
const withState =
  (name: string, content: string | ((path: string) => Promise<unknown>)): Attempt =>
  async (context, field) => {
    const path = join(field.folder, "state", "local", name);
    await (typeof content === "string" ? writeFile(path, content) : content(path));
    return sendTo("promises.ndjson")(context, field);
  };

/** What is tried that can't be done (exit code 2), what is wrong, and what to do; of files that can't be read, see test/e2e/golden-plans/ too. FOLDER, RUN and TIME stand for what differs from run to run. */
const REFUSED: readonly (readonly [Attempt, string, string])[] = [
  [
    check("sales.report", ROW),
    "The name of sales.report doesn't show its format.",
    'Save a workbook as "CSV UTF-8". Else name the format with --format (csv, tsv, ndjson, json), or end the name in .csv, .tsv, .ndjson, .jsonl, .json.',
  ],
  [
    async (context, field) => {
      await sendEvent(field);
      return verbs.validate({ files: ["promises.local.ndjson"], json: false, flags: {} }, context);
    },
    "promises.local.ndjson is a promises file that tickets wrote, not an input.",
    "Name the file it was made from.",
  ],
  [
    check("scans.csv", ROW, { encoding: "cp850" }),
    'Files in the encoding "cp850" can\'t be read.',
    "Known are utf-8, windows-1252, latin1, utf-16le and all others that browsers know. Convert the file first, such as by iconv -f CP850 -t UTF-8.",
  ],
  [
    check("scans.csv", "x,y\n1,2\n"),
    "scans.csv has no column for ticketId or nftId, which scannedTicket needs.",
    'Its columns are "x", "y". Rename or add the column, or describe the file under sources in the config.\nTo write a first source: tickets init scans.csv',
  ],
  [
    check("sales.csv", "ticketId\n1\n"),
    "sales.csv has no column for eventId, price, which soldTicket needs.",
    'Its columns are "ticketId". Rename or add the column, or describe the file under sources in the config.\nTo write a first source: tickets init sales.csv',
  ],
  [check("scans.csv", ROW, { source: "nope" }), "There is no source nope.", "The config has no sources."],
  [
    (context) => verbs.status({ ...STATUS, env: "nope" }, context),
    'No environment "nope" (flag --env) is configured. There are: local, sandbox.',
    "Set TICKETS_NOPE_BASE_URL and TICKETS_NOPE_API_KEY, or declare it under environments in tickets.config.yaml.",
  ],
  [
    async (context, field) => {
      await sendEvent(field);
      return verbs.status({ ...STATUS, run: "abcdef12" }, context);
    },
    "The ledger of local has no run RUN.",
    "See its runs: tickets status --env local",
  ],
  [
    async (context, field) => {
      const run = await sendEvent(field);
      return verbs.status({ ...STATUS, run, chunk: 7 }, context);
    },
    "Run RUN has no chunk 7.",
    "See which it has: tickets status RUN --env local",
  ],
  [
    (context) => verbs.find({ id: " ", json: false, flags: {} }, context),
    "The id is empty.",
    "Give a ticketId, an eventId, an nftId or an actionPromise.",
  ],
  [
    (context) => verbs.settle({ run: "abc", decision: "sent", json: true, first: 1 }, context),
    "--first counts the actions of one chunk that you decide about. Nothing was settled.",
    "Add --chunk N, and --sent or --not-sent.",
  ],
  [
    (context) => verbs.plan({ files: ["scans.csv"], json: false, flags: {}, preview: 5, output: "-" }, context),
    "--preview writes to standard output, and so does -o -.",
    "Give the actions a file, or leave one of the two out.",
  ],
  [
    async (context, field) => {
      await field.write("scans.ndjson", '{"ticketId":"T"}\n');
      return verbs.plan({ files: ["scans.ndjson"], json: false, flags: {}, output: "scans.ndjson" }, context);
    },
    "scans.ndjson already exists and is not overwritten.",
    "Name another file, or move this one away.",
  ],
  [
    sendTo("state/local/promises.ndjson"),
    "state/local/promises.ndjson would lie in the folder of the ledger, which is kept by tickets alone. Nothing was sent.",
    "Name another file with --output.",
  ],
  [
    sendTo("-", { json: true }),
    "--json and --output - would both write to standard output. Nothing was sent.",
    "Name a file for the promises.",
  ],
  [
    sendTo("scans.csv"),
    "scans.csv is not appended to: tickets did not write it for this environment. Nothing was sent.",
    "If it holds what local was sent, import it first: tickets results --import scans.csv --env local\nElse name another file with --output, or set this one aside with --move-aside (it is renamed, never deleted).",
  ],
  [
    (context) => verbs.importResults({ files: ["none.ndjson"], waitLock: 0, flags: {} }, context),
    "There is no file none.ndjson. Nothing was imported.",
    "A relative path begins in the folder that the command runs in. A pipe is no file: each is read twice.",
  ],
  [importOf("hello\n"), "x.ndjson:1 is not a line of a promises file.", AS_WRITTEN],
  [importOf(""), "x.ndjson holds no promises.", AS_WRITTEN],
  ...[undefined, ""].map((actionPromise): [Attempt, string, string] => [
    importOf(`${JSON.stringify({ ...PROMISE, actionPromise })}\n`),
    "x.ndjson:1 is not a line of a promises file: success without an actionPromise.",
    AS_WRITTEN,
  ]),
  [
    (context) => verbs.init({ files: [], output: "x.json", moveAside: false }, context),
    "x.json does not end in .yaml; the config is written as YAML.",
    "Name a file that ends in .yaml.",
  ],
  [
    async (context, field) => {
      await field.write("tickets.config.yaml", "rules: {}\n");
      return verbs.init({ files: [], moveAside: false }, context);
    },
    "tickets.config.yaml already exists and is not overwritten.",
    "Write to standard output with -o - and copy what you need, name another file with -o, or set the old one aside with --move-aside (it is renamed, never deleted).",
  ],
  [
    (context) => verbs.sandbox({ ...SERVE, faults: "none.json" }, context),
    "Could not read the fault script none.json.",
    "A relative path begins in the folder that the command runs in.",
  ],
  [
    async (context, field) => {
      const run = await sendEvent(field);
      return verbs.results({ run, output: "e.ndjson", flags: {} }, context);
    },
    "e.ndjson already exists and is not overwritten.",
    "Name another file, or move this one away.",
  ],
  [
    async (context, field) => {
      await field.write("scans.csv", ROW);
      const { summary } = await field.stream(["scans.csv"], { maxDuration: 1 });
      const run = summary?.run ?? "";
      await verbs.settle({ run, decision: "abandon", json: true }, context);
      return verbs.resume({ run, json: false, waitLock: 0, flags: {} }, context);
    },
    "Run RUN was closed; it can't be resumed. Nothing was sent.",
    "See its outcome: tickets status RUN --env local",
  ],
];

/** Where there is no config yet. */
const ALONE: typeof REFUSED = [
  [
    (context) => verbs.status({ ...STATUS, run: "abcdef12" }, context),
    "There is no ledger of local at state/local/ledger.db.",
    "Nothing was sent from here yet, or the ledger is elsewhere: name its folder with TICKETS_STATE_DIR.",
  ],
  [
    (context, field) => sendTo("p.ndjson")({ ...context, env: { ...context.env, TICKETS_LOCAL_BASE_URL: "" } }, field),
    'No environment "local" (TICKETS_ENV) is configured. There are: sandbox.',
    "Set TICKETS_LOCAL_BASE_URL and TICKETS_LOCAL_API_KEY, or declare it under environments in tickets.config.yaml.",
  ],
  [
    async (context, field) => {
      await field.write("a.csv", "");
      return verbs.init({ files: ["a.csv"], moveAside: false }, context);
    },
    "a.csv is empty: there is nothing to guess from.",
    "Give an export that has its header and some rows.",
  ],
  [
    async (context, field) => {
      await field.write("a.ndjson", '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}\n');
      return verbs.init({ files: ["a.ndjson"], moveAside: false }, context);
    },
    "a.ndjson holds actions already ({action, data}); they need no config.",
    "Check it: tickets validate a.ndjson",
  ],
];

const OTHER_VERSIONS: typeof REFUSED = [
  [
    withState("ledger.db", async (path) => {
      using database = new DatabaseSync(path);
      database.exec("CREATE TABLE runs (run TEXT)");
    }),
    "The ledger FOLDER/state/local/ledger.db has the form of an earlier version, and this version of tickets takes only version 2. Nothing was sent.",
    "Finish its runs with the tickets that wrote it. Then move it aside, and fill a new one from the promises files: tickets results --import FILES",
  ],
  [
    withState("ledger.db", async (path) => {
      using database = new DatabaseSync(path);
      database.exec("CREATE TABLE meta (name TEXT, value TEXT); INSERT INTO meta VALUES ('schema', '1000')");
    }),
    "The ledger FOLDER/state/local/ledger.db has version 1000, and this version of tickets takes only version 2. Nothing was sent.",
    "Finish its runs with the tickets that wrote it. Then move it aside, and fill a new one from the promises files: tickets results --import FILES",
  ],
];

/** The same where what is kept on this machine can't be used (exit code 10). */
const BROKEN: typeof REFUSED = [
  [
    withState("ledger.db", ""),
    "The ledger FOLDER/state/local/ledger.db is damaged: it is empty. Nothing more was sent.",
    "Restore it from a backup; or move it away and fill a new one from the promises files: tickets results --import FILES",
  ],
  [
    withState("ledger.db", (path) => mkdir(path)),
    "FOLDER/state/local/ledger.db is a folder, where a file has to be.",
    "Look what is in it. If it is nothing of yours, move it away; if the file was there before, restore that from a backup.",
  ],
  [
    withState("environment.lock", "no database".repeat(10)),
    "The lock FOLDER/state/local/environment.lock is damaged. Nothing was sent.",
    "The file holds no data. If no other run is under way, delete it.",
  ],
];

const REPORTED = [
  ...[...REFUSED, ...ALONE, ...OTHER_VERSIONS].map((each) => ["usage", ...each] as const),
  ...BROKEN.map((each) => ["storage", ...each] as const),
].map(([code, attempt, message, todo]) => ({ code, attempt, message, todo }));

test.each(REPORTED)("$code: $message", async ({ code, attempt, message, todo }) => {
  const field = await openField();
  const { context } = makeContext(field.folder, field.env);
  const plain = (text: string | undefined) =>
    text
      ?.replaceAll(field.folder, "FOLDER")
      .replaceAll(/\b[0-9a-f]{8}\b/g, "RUN")
      .replaceAll(/\b\d{4}-[\d-]+T[\d:.]+Z/g, "TIME");
  const failure: unknown = await attempt(context, field).catch((cause: unknown) => cause);
  if (!(failure instanceof Failure)) throw failure;
  expect([failure.code, plain(failure.message), plain(failure.hint)]).toEqual([code, message, todo]);
});
