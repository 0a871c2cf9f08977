/** Rejects of which the ledger knows nothing: it was lost or put back since, or they are another environment's. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ActionName } from "../../../src/actions/actions.ts";
import { acceptedBy, type Done, type Field, type Options, openField } from "../../support/context.ts";
import { LONG } from "../../support/walks.ts";

/** Built by `npm test`. */
const BIN = fileURLToPath(new URL("../../../bin/tickets.js", import.meta.url));

const SOLD = `action,eventId,ticketId,userId,price,orderTime,currency
newEvent,E,,,,,EUR
soldTicket,E,T,u1,10.00,100,
soldTicket,E,T2,u1,10.00,100,
`;
const RESALES = "action,ticketId,userId,price,orderTime\n";
const resale = (userId: string, ticketId = "T", orderTime = ""): string =>
  `resoldTicket,${ticketId},${userId},10.00,${orderTime}\n`;
/** Puts a cell right in a rejects file. */
async function correct(field: Field, name: string, bad: string, good: string): Promise<void> {
  const rejects = await field.read(name);
  expect(rejects).toContain(bad);
  await field.write(name, rejects.replace(bad, good));
}

/** What comes too late, or may do so, is reported and not sent. */
function isLeft({ exitCode, said, summary }: Done, verdict: "late" | "unclear"): void {
  expect(exitCode, said).toBe(4);
  expect(summary?.actions, said).toMatchObject({ accepted: 0, [verdict]: 1 });
}

const OUTPUT = { output: "o.ndjson" } as const;
const BEARING = { ...OUTPUT, maxInvalid: { rows: 9 } } as const;

/** What the service has accepted of a kind, in order. */
const acceptedOf = ({ sandbox }: Field, kind: ActionName = "resoldTicket", name = "userId"): string =>
  acceptedBy(sandbox)
    .filter(({ action }) => action === kind)
    .map(({ data }) => data[name])
    .join(" ");

/** As `field.stream`, with the time of the machine: what came when is compared. */
const streamed = (
  field: Field,
  files: readonly string[],
  options: Partial<Options<"stream">>,
  env: NodeJS.ProcessEnv = {},
): Promise<Done> =>
  field.stream(files, options, { env, asked: ({ context }) => Object.assign(context, { now: () => new Date() }) });

async function openSold(config = "", more = ""): Promise<Field> {
  const field = await openField();
  if (config !== "") await field.write("tickets.config.yaml", config);
  await field.write("sold.csv", SOLD + more);
  expect((await streamed(field, ["sold.csv"], OUTPUT)).exitCode).toBe(0);
  return field;
}

test.each<[string, ActionName, string, string]>([
  ["an update of a ticket", "updateTicket", "ticketId,imageUrl", "T,https://img.example/"],
  ["an update of an event", "updateEvent", "eventId,eventName", "E,name of "],
])(
  "%s in the rejects of another environment is not sent behind what this one accepted",
  async (_, action, columns, text) => {
    const field = await openSold();
    const elsewhere = { TICKETS_STATE_DIR: join(field.folder, "elsewhere") };
    const row = (name: string): string => `${action},${text}${name}\n`;
    await field.write("updates.csv", `action,${columns}\n${row("1").replace(/,[TE],/, ",,")}${row("2")}`);
    expect((await streamed(field, ["updates.csv"], { ...BEARING, output: "else.ndjson" }, elsewhere)).exitCode).toBe(4);
    await field.write("updates.csv", `action,${columns}\n${row("2")}`);
    expect((await streamed(field, ["updates.csv"], OUTPUT)).exitCode).toBe(0);
    await correct(field, "updates.rejects.csv", `${action},,`, `${action},${text.slice(0, 2)}`);
    isLeft(await streamed(field, ["updates.rejects.csv"], OUTPUT), "unclear");
  },
);

test(
  "a row whose rejects were written by a command that was killed before it entered its run is sent in its place",
  LONG,
  async () => {
    const field = await openSold();
    await field.write("resales.csv", `${RESALES}${resale("u2", "")}${resale("u3")}`);
    const args = ["stream", "resales.csv", "--output", OUTPUT.output, "--max-invalid", "9"];
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: field.folder,
      env: { ...process.env, ...field.env, TICKETS_TEST_CRASH_AT: "rejects placed" },
      stdio: "ignore",
    });
    expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
    await correct(field, "resales.rejects.csv", "resoldTicket,,", "resoldTicket,T,");
    const first = await streamed(field, ["resales.rejects.csv"], OUTPUT);
    expect(first.summary?.actions, first.said).toMatchObject({ accepted: 1 });
    const night = await streamed(field, ["resales.csv"], OUTPUT);
    expect(night.summary?.actions, night.said).toMatchObject({ accepted: 1, alreadySent: 1 });
    expect(acceptedOf(field)).toBe("u2 u3");
  },
);
