/**
 * What a person reads at the end of a night that went wrong, for every exit code and every stop: what, where, and what to
 * do. The compiler asks for the words of a new one. `internal` is pinned where the program is made to fail
 * (test/e2e/security.test.ts).
 */

import { expect, test } from "vitest";
import { EXIT_CODES, type FailureCode } from "../../src/failure.ts";
import { type Asked, type Done, type Field, openField, type Stop } from "../support/context.ts";
import { until } from "../support/until.ts";

interface Story {
  /** What only a config can set. */
  readonly config?: string;
  readonly happens: (field: Field) => Promise<Done>;
  /** Lines in their order, others between them. FOLDER, URL, HOST, RUN, PID and TIME stand for what differs from run to run. */
  readonly said: readonly string[];
}

const EVENT = '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}';
const sale = (ticketId: string, price = "1"): string =>
  JSON.stringify({
    action: "soldTicket",
    data: { eventId: "E", ticketId, userId: "u", price, orderTime: 1781280000 },
  });

type Stream = Parameters<Field["stream"]>;

async function send(field: Field, options?: Stream[1], more?: Stream[2]): Promise<Done> {
  await field.write("sales.ndjson", `${[EVENT, sale("T-1"), sale("T-2")].join("\n")}\n`);
  return field.stream(["sales.ndjson"], options, more);
}

/** The first request meets the fault. */
const sendInto =
  (fault: object) =>
  (field: Field): Promise<Done> => {
    field.setFaults({ on: { request: 1 }, ...fault });
    return send(field);
  };

const CODES: Readonly<Record<Exclude<FailureCode, "internal">, Story>> = {
  usage: {
    happens: (field) => field.stream(["sales.csv"]),
    said: ["There is no file sales.csv.", "A relative path begins in the folder that the command runs in."],
  },
  "input-invalid": {
    happens: async (field) => {
      await field.write("sales.ndjson", `${EVENT}\n${sale("T-1", "12,50")}\n`);
      return field.stream(["sales.ndjson"]);
    },
    said: [
      'price-invalid: sales.ndjson:2 price: "12,50" price is not a decimal number such as 12.50. A decimal comma must be declared in the mapping: decimal: ",".',
      "2 rows: 1 mapped, 1 invalid. Nothing was sent. Fix the rows, or send the valid ones with --max-invalid 1.",
    ],
  },
  "finished-with-rejects": {
    happens: sendInto({ fault: "failure-items", items: [1] }),
    said: [
      'sales.ndjson:2 soldTicket T-1 rejected by the service: status "error"; its answer is in the promises file.',
      "Rejects: sales.rejects.ndjson",
      "Fix the rows in the rejects, then run: tickets stream sales.rejects.ndjson --env local",
      'If rows are right and the service will never take them, leave only those in the file and record them: tickets stream sales.rejects.ndjson --env local --adopt --reason "…"',
    ],
  },
  "authentication-failed": {
    happens: (field) => send(field, {}, { env: { TICKETS_LOCAL_API_KEY: "" } }),
    said: [
      "No key for local: environment variable TICKETS_LOCAL_API_KEY is empty.",
      "Set TICKETS_LOCAL_API_KEY to the key that you were given for local.",
    ],
  },
  "in-doubt": {
    happens: async (field) => {
      await sendInto({ fault: "drop", when: "after" })(field);
      return send(field);
    },
    said: [
      "Finishing interrupted run RUN first.",
      "Stopped: chunk 1 (3 actions) is in doubt: UND_ERR_SOCKET: other side closed. Nothing after its request was sent.",
      "Look, then decide: tickets settle RUN --env local",
      "sales.ndjson was not read.",
    ],
  },
  "stopped-early": {
    happens: (field) => send(field, { maxDuration: 1 }),
    said: [
      "Stopped: --max-duration reached. Nothing that this command sent is in doubt.",
      "3 actions: 3 not sent.",
      "Continue: tickets resume RUN --env local",
    ],
  },
  busy: {
    happens: async (field) => {
      // Of another process, while its request is on its way.
      field.setFaults({ on: { request: 1 }, fault: "hang", processed: "none" });
      let other: Asked | undefined;
      const ended = send(field, {}, { asked: (asked) => (other = asked) });
      await until(() => (other?.requests() ?? 0) > 0);
      const refused = await send(field);
      other?.abort();
      await ended;
      return refused;
    },
    said: [
      "Another run holds the ledger of local (process PID, since TIME: tickets stream sales.ndjson). Nothing was sent.",
      "Run the command again later, or let it wait with --wait-lock 10m.",
    ],
  },
  refused: {
    config: "maxRejected: 0",
    happens: async (field) => {
      field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
      await send(field, { flags: { chunkSize: 1 } });
      return send(field);
    },
    said: [
      "Run RUN stopped because the service rejected too many of its actions, and comes first. Nothing was sent.",
      "Look at its rejects, then go on: tickets resume RUN --env local",
    ],
  },
  storage: {
    happens: async (field) => {
      await field.write("state/local/ledger.db", "no database");
      return send(field);
    },
    said: [
      "The ledger FOLDER/state/local/ledger.db is damaged: file is not a database. Nothing more was sent.",
      "Restore it from a backup; or move it away and fill a new one from the promises files: tickets results --import FILES",
    ],
  },
};

const STOPS: Readonly<Record<Stop["kind"] | "finished", Story & { readonly exitCode: number }>> = {
  finished: {
    exitCode: 0,
    happens: (field) => send(field),
    said: ["Promises: promises.local.ndjson"],
  },
  "in doubt": {
    exitCode: 6,
    happens: sendInto({ fault: "drop", when: "after" }),
    said: [
      "Stopped: chunk 1 (3 actions) is in doubt: UND_ERR_SOCKET: other side closed. Nothing after its request was sent.",
      "3 actions: 3 in doubt.",
      "Look, then decide: tickets settle RUN --env local",
    ],
  },
  refused: {
    exitCode: 9,
    happens: sendInto({ fault: "status", status: 422 }),
    said: [
      "Stopped: the service refused chunk 1: HTTP 422. Part of it may have been taken.",
      'The service said: {"message":"Unprocessable Entity"}',
      "3 actions: 3 in doubt.",
      "Look, then decide: tickets settle RUN --env local",
    ],
  },
  "authentication failed": {
    exitCode: 5,
    happens: (field) => send(field, {}, { env: { TICKETS_LOCAL_API_KEY: "another" } }),
    said: [
      "Authentication failed (HTTP 403): local did not accept the key from environment variable TICKETS_LOCAL_API_KEY. Nothing of chunk 1 or after it was sent.",
      "3 actions: 3 not sent.",
      "Fix that, then: tickets resume RUN --env local",
    ],
  },
  "not reachable": {
    exitCode: 7,
    happens: async (field) => {
      await field.sandbox[Symbol.asyncDispose]();
      return send(field);
    },
    said: [
      "Could not reach URL after 1 attempt (ECONNREFUSED: connect ECONNREFUSED HOST). Nothing of chunk 1 or after it was sent.",
      "3 actions: 3 not sent.",
      "Later: tickets resume RUN --env local",
    ],
  },
  "too many rejections": {
    exitCode: 9,
    config: "maxRejected: 0",
    happens: (field) => {
      field.setFaults({ on: { request: 1 }, fault: "failure-items", items: [0] });
      return send(field, { flags: { chunkSize: 1 } });
    },
    said: [
      "Stopped: 1 action rejected, more than maxRejected (0).",
      'sales.ndjson:1 newEvent E rejected by the service: status "error"; its answer is in the promises file.',
      "Rejects: sales.rejects.ndjson",
      "Look at the rejects, then: tickets resume RUN --env local",
    ],
  },
  stopped: {
    exitCode: 130,
    happens: (field) => {
      let asked: Asked | undefined;
      return send(
        field,
        {},
        {
          asked: (given) => {
            asked = given;
          },
          onProgress: ({ doing }) => {
            if (doing === "sending") asked?.stop("SIGINT");
          },
        },
      );
    },
    said: [
      "Stopped by SIGINT. Nothing that this command sent is in doubt.",
      "3 actions: 3 not sent.",
      "Continue: tickets resume RUN --env local",
    ],
  },
};

async function expectSaid({ config, happens, said: lines }: Story, exitCode: number): Promise<void> {
  const field = await openField(config);
  const done = await happens(field);
  const said = done.said
    .replaceAll(field.folder, "FOLDER")
    .replaceAll(field.sandbox.url, "URL")
    .replaceAll(/\b127\.0\.0\.1:\d+/g, "HOST")
    .replaceAll(/\bprocess \d+(?: on \S+)?, since [^ ]+:/g, "process PID, since TIME:")
    .replaceAll(/\b[0-9a-f]{8}\b/g, "RUN")
    .split("\n");
  expect(done.exitCode, done.said).toBe(exitCode);
  expect(
    said.filter((line) => lines.includes(line)),
    done.said,
  ).toEqual(lines);
}

test.each(Object.entries(CODES))("the last words of a run that ends with %s", (code, story) =>
  expectSaid(story, EXIT_CODES[code as keyof typeof CODES]),
);

test.each(Object.entries(STOPS))("the last words of a run that is %s", (_, story) => expectSaid(story, story.exitCode));
