/** What `plan` says of a mapping: values that no action takes, and files that no rule fits. As a process: test/e2e/mapping.test.ts. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT_CODES, Failure } from "../../../src/failure.ts";
import { makeContext, openField, verbs } from "../../support/context.ts";
import { openFolder } from "../../support/folder.ts";

const SIMPLE = `sources:
  guests:
    match: guests.csv
    fields: {eventId: e, ticketId: "{ID}"}
    skip: {Status: Deleted}
    actions:
      - newEvent: {fields: {currency: EUR}}
      - soldTicket: {when: {Status: [paid, Refunded]}, fields: {userId: u, price: "1", orderTime: "1772356522"}}
      - invalidatedTicket: {when: {Status: Refunded}}
`;

/** How the command ends, and what it says, of a file beside a config. */
async function reported(file: string, text: string, config?: string) {
  const cwd = openFolder();
  await writeFile(join(cwd, file), text);
  if (config !== undefined) await writeFile(join(cwd, "tickets.config.yaml"), config);
  const { context, ...asked } = makeContext(cwd, {});
  const said = (): string => `${asked.said()}\n${asked.out()}`;
  const ended = verbs.plan({ files: [file], json: false, flags: {} }, context);
  return ended.then(
    (exitCode) => ({ exitCode, said: said() }),
    (cause: unknown) => {
      if (!(cause instanceof Failure)) throw cause;
      return { exitCode: EXIT_CODES[cause.code], said: `${said()}\n${cause.message}\n${cause.hint ?? ""}\n` };
    },
  );
}

const preview = async (text: string): Promise<string> => {
  const cwd = openFolder();
  await writeFile(join(cwd, "sales.csv"), `action,eventId,currency,ticketId,userId,price\n${text}`);
  const { context, out } = makeContext(cwd, {});
  await verbs.plan({ files: ["sales.csv"], json: false, flags: {}, preview: 1 }, context);
  return /^Actions\n( .*\n)*/m.exec(out())?.[0] ?? "";
};
const SALES = "newEvent,E,EUR,,,\nsoldTicket,E,,T1,ann,1\nsoldTicket,E,,T2,bob,2\n";

test.each([
  ["all rows are good", ""],
  ["one is invalid beside another", "soldTicket,E,,T1,cem,3\n"],
  ["one is held for another", "soldTicket,E,,T3,cem,-1\nscannedTicket,E,,T3,,\n"],
])("the counts of a preview are those of the plan by action where %s", async (_name, more) => {
  expect(await preview(SALES + more)).toBe("Actions\n        1  newEvent\n        2  soldTicket\n");
});

describe("values that no action takes", () => {
  const run = (rows: readonly string[], config = SIMPLE) =>
    reported("guests.csv", `ID,Status\n${rows.map((status, at) => `t${at},${status}\n`).join("")}`, config);

  test("a file that the mapping fits nowhere is refused, with its values", async () => {
    const { exitCode, said } = await run(["bezahlt", "bezahlt", "storniert"]);
    expect(exitCode).toBe(3);
    expect(said).toContain("nothing-mapped");
    expect(said).toMatch(/None of the 3 rows gives an action.*"bezahlt" \(2\), "storniert" \(1\)/);
  });

  test("a night of rows that are known to give nothing is quiet, with its reasons", async () => {
    const { exitCode, said } = await run(["Deleted", "Deleted"]);
    expect(exitCode).toBe(0);
    expect(said).toContain("2 rows skipped: Status = Deleted (2).");
  });

  test("what skip does not name is reported, also of the row that gives the event", async () => {
    const { exitCode, said } = await run(["open", "paid", "open"]);
    expect(exitCode).toBe(0);
    expect(said).toContain('No when, skip or expect names "open" (2 times, first in line 2).');
  });

  test("times that are missing are counted by kind of action", async () => {
    const { said } = await run(["paid", "Refunded", "Refunded"], SIMPLE.replace(', orderTime: "1772356522"', ""));
    expect(said).toContain("order-time-missing (5 times: 3 soldTicket, 2 invalidatedTicket)");
  });
});

describe("a file that no rule fits", () => {
  test("names the patterns that there are, and without a config of tickets init", async () => {
    const text = "A,B\n1,2\n";
    expect((await reported("Report.csv", text)).said).toContain("To write a first source: tickets init Report.csv\n");
    expect((await reported("Report.csv", text, SIMPLE)).said).toContain(
      'No source matches Report.csv (guests: "guests.csv"). Give --source NAME, or widen match.',
    );
  });

  test("that two sources match is reported with the place of the second", async () => {
    const config = `${SIMPLE}  more: {match: "*.csv", action: soldTicket}\n`;
    expect((await reported("guests.csv", "ID,Status\nt1,paid\n", config)).said).toMatch(
      /tickets\.config\.yaml:10:\d+ sources\.more\.match: guests\.csv matches two sources, guests and more/,
    );
  });
});

test("kinds are counted of what would be sent, and not of what was sent before", async () => {
  const field = await openField();
  const line = (eventId: string): string => `{"action":"newEvent","data":{"eventId":"${eventId}","currency":"EUR"}}\n`;
  await field.write("events.ndjson", line("E-1"));
  await field.stream(["events.ndjson"]);
  const planned = async (): Promise<string> => {
    const { context, said } = makeContext(field.folder, field.env);
    expect(await verbs.plan({ files: ["events.ndjson"], json: false, flags: {} }, context)).toBe(0);
    return said();
  };
  expect(await planned()).toContain("→ 0 actions; left out: 1 already sent.");
  await field.write("events.ndjson", line("E-1") + line("E-2"));
  expect(await planned()).toContain("→ 1 action (1 newEvent); left out: 1 already sent.");
});

describe("what names a person is masked", () => {
  const CONFIG = `sources:
  guests:
    match: guests.csv
    columns: {family: [Surname, "Last name"], phone: 5}
    lookup: {member: {file: members.csv, where: {Card: "{Card no}"}}}
    expect: {Surname: [Meier-Schulze, Oberhuber]}
    fields: {eventId: e, ticketId: "{ID}"}
    actions:
      - newEvent: {fields: {currency: EUR}}
      - soldTicket:
          when: {Card no: {not: "555"}}
          fields: {userId: ["{First}.{family}", "{phone}", "{member.Account}"], price: "1", orderTime: "1772356522"}
`;
  const shown = async (verbose: boolean): Promise<string> => {
    const cwd = openFolder();
    await writeFile(join(cwd, "tickets.config.yaml"), CONFIG);
    await writeFile(join(cwd, "members.csv"), "Card,Account\n4711,account-of-a-member\n");
    const header = "ID,First,Surname,Card no,Mobile,Section\n";
    const rows =
      "T-100001,Annemarie,Meier-Schulze,4711,+49 171 4448888,Parkett\nT-100002,Bo,Untermoser,4711,+49 171 1,Rang\n";
    await writeFile(join(cwd, "guests.csv"), header + rows);
    const { context, said, out } = makeContext(cwd, {});
    await verbs.plan({ files: ["guests.csv"], json: false, flags: {}, preview: 5 }, { ...context, verbose });
    return `${said()}\n${out()}`;
  };
  const PERSONS = ["Annemarie", "4711", "+49 171 4448888", "Untermoser"];

  test("also in columns of which a userId is made, by a template, another name or a lookup; short ids wholly", async () => {
    const text = await shown(false);
    for (const person of PERSONS) expect(text).not.toContain(person);
    expect(text).toMatch(/First +An…ie/);
    expect(text).toMatch(/Surname +Me…ze/);
    expect(text).toMatch(/Card no +…\n/);
    expect(text).toMatch(/Mobile +\+4…88/);
    expect(text).toMatch(/First +…\n/);
    expect(text).toContain('guests.csv:3 Surname: "Un…er"');
    expect(text).toContain("T-100001");
  });

  test("but for --verbose", async () => {
    const text = await shown(true);
    for (const person of PERSONS) expect(text).toContain(person);
  });
});
