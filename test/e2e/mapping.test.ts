/** Real exports through the built bin: a starter config, the preview, and no silent wrong reading. */

import { cpSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fixture, openWorkplace, type Workplace } from "../support/bin.ts";

const EVENTBRITE = fixture("exports/eventbrite/attendees.csv");

describe("tickets init", () => {
  test("writes a config that only needs what no export says, and the plan is then the expected one", {
    tags: ["long"],
  }, async () => {
    const place = openWorkplace({ isWarm: true });
    cpSync(EVENTBRITE, place.path("attendees.csv"));
    const first = await place.tickets(["init", "attendees.csv"]);
    expect(first.exitCode).toBe(0);
    expect(first.stdout).toBe("");
    expect(first.stderr).toContain("Next: tickets plan attendees.csv --preview");

    const reported = [...first.stderr.matchAll(/tickets\.config\.yaml:(\d+) {2}(\w+):/g)].map(([, line, key]) => [
      Number(line),
      key,
    ]);
    const lines = place.read("tickets.config.yaml").split("\n");
    expect(reported.map(([, key]) => key)).toEqual(["zone", "eventId", "eventName"]);
    for (const [line, key] of reported) expect(lines[Number(line) - 1]).toMatch(new RegExp(`^ +${key}: "<FILL IN: `));
    expect(place.read("tickets.config.yaml")).toContain('match: "attendees.csv"');

    const refused = await place.tickets(["plan", "attendees.csv"]);
    expect(refused.exitCode).toBe(2);
    for (const [line, key] of reported)
      expect(refused.stderr).toMatch(
        new RegExp(`tickets\\.config\\.yaml:${line}:\\d+ .*${key}: is still to be filled in`),
      );

    const answers: Readonly<Record<string, string>> = {
      zone: "America/Los_Angeles",
      eventId: "eb-900100200",
      eventName: "Café Ünïcode Live",
    };
    place.write(
      "tickets.config.yaml",
      lines.join("\n").replace(/(\w+): "<FILL IN: [^>]*>"/g, (_asked, key: string) => `${key}: ${answers[key]}`),
    );
    const planned = await place.tickets(["plan", "attendees.csv"]);
    expect(planned.exitCode).toBe(0);
    const parse = (text: string): unknown[] =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    expect(parse(planned.stdout)).toEqual(parse(readFileSync(EVENTBRITE.replace(".csv", ".expected.ndjson"), "utf8")));
  });

  test("never overwrites: the file is named, --move-aside sets it aside, -o - writes none", {
    tags: ["long"],
  }, async () => {
    const place = openWorkplace({ isWarm: true });
    cpSync(EVENTBRITE, place.path("attendees.csv"));
    place.write("tickets.config.yaml", "env: mine\n");
    const refused = await place.tickets(["init", "attendees.csv"]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("tickets.config.yaml already exists");
    expect(place.read("tickets.config.yaml")).toBe("env: mine\n");

    const shown = await place.tickets(["init", "attendees.csv", "-o", "-"]);
    expect(shown.exitCode).toBe(0);
    expect(shown.stdout).toContain("eventbrite-attendees:");

    const forced = await place.tickets(["init", "attendees.csv", "--move-aside"]);
    expect(forced.exitCode).toBe(0);
    const aside = place.files().find((name) => name.endsWith(".aside"));
    expect(forced.stderr).toContain(`The old config was set aside as ${aside}`);
    expect(place.read(aside ?? "")).toBe("env: mine\n");
    expect(place.read("tickets.config.yaml")).toBe(shown.stdout);
  });

  test("refuses beside a config of another name, which would stop every command", { tags: ["long"] }, async () => {
    const place = openWorkplace({ isWarm: true });
    place.write(".ticketsrc.yaml", "env: mine\n");
    const refused = await place.tickets(["init"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(".ticketsrc.yaml already exists");
  });

  test("without an export writes an example that can be read; standard input works too", {
    tags: ["long"],
  }, async () => {
    const place = openWorkplace({ isWarm: true });
    expect((await place.tickets(["init"])).exitCode).toBe(0);
    expect((await place.tickets(["env"])).exitCode).toBe(0);
    const { stdout, exitCode } = await place.tickets(["init", "-", "-o", "-"], { stdin: readFileSync(EVENTBRITE) });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("eventbrite-attendees:");
  });
});

describe("tickets plan --preview", () => {
  const open = (): Workplace => {
    const place = openWorkplace({ isWarm: true });
    cpSync(fixture("exports/hievents"), place.folder, { recursive: true });
    return place;
  };

  test("shows rows beside their actions, in 80 columns, and counts all of them", { tags: ["long"] }, async () => {
    const place = open();
    const { exitCode, stdout } = await place.tickets(["plan", "attendees.csv", "events.csv", "--preview", "2"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^attendees\.csv:2$/m);
    expect(stdout).toMatch(/^Public ID {6}A-7000001 +│ {3}orderTime 1801476000 2027-02-01 10:00Z$/m);
    expect(stdout).not.toContain("@example.com");
    // Only what is found is not wrapped in a pipe: the lines that `validate` prints.
    const found = (await place.tickets(["validate", "attendees.csv", "events.csv"])).stdout.split("\n");
    const preview = stdout.split("\n").filter((line) => !found.includes(line));
    expect(preview.length).toBeGreaterThan(20);
    for (const line of preview) expect([...line].length).toBeLessThanOrEqual(80);
  });

  test("--json gives the same as one document; -o FILE writes the actions beside it", { tags: ["long"] }, async () => {
    const place = open();
    const { stdout } = await place.tickets(["plan", "attendees.csv", "--preview", "--json", "-o", "actions.ndjson"]);
    const { preview, byAction } = JSON.parse(stdout);
    expect(preview.rows).toHaveLength(5);
    expect(preview.rows[2]).toMatchObject({ line: 5, actions: [], skipped: "Status = AWAITING_PAYMENT" });
    expect(byAction).toMatchObject({ soldTicket: 4 });
    expect(place.read("actions.ndjson").trimEnd().split("\n")).toHaveLength(9);
    expect((await place.tickets(["plan", "attendees.csv", "--preview", "-o", "-"])).exitCode).toBe(2);
  });

  test("shows rows that are wrong, too", { tags: ["long"] }, async () => {
    const place = open();
    place.write("attendees.csv", place.read("attendees.csv").replace("2027-02-01 10:00:00", "01.02.2027 10:00"));
    const { exitCode, stdout } = await place.tickets(["plan", "attendees.csv", "--preview", "1"]);
    expect(exitCode).toBe(3);
    expect(stdout.replaceAll(/\s+│?\s*/g, " ")).toContain('error: "01.02.2027 10:00"');
  });
});

const SOURCE = `sources:
  sold:
    match: "sold*.csv"
    zone: Europe/Berlin
    expect: {Currency: EUR}
    actions:
      - newEvent: {fields: {eventId: e, currency: EUR}}
      - soldTicket:
          when: {Status: paid}
          fields:
            eventId: e
            ticketId: "{ID}"
            userId: "{User}"
            price: {from: "{Price}", decimal: ","}
            orderTime: {from: "{At}", format: "d.M.yyyy H:mm"}
            name: {from: "{Kind}", map: {a: A}}
`;
const HEADER = "ID;Status;User;Price;At;Kind;Currency";
const GOOD = "t1;paid;u;1,00;1.2.2026 8:00;a;EUR";

describe("never a silent wrong reading", () => {
  /** What stops at once, with the place in the config. */
  test.each<[string, string, string, string, readonly string[]]>([
    [
      "a header that occurs twice",
      SOURCE,
      `${HEADER};User`,
      '13:21 sources.sold.actions[1].soldTicket.fields.userId: sold.csv has 2 columns called "User"',
      ["Say which: User#1 or User#2."],
    ],
    [
      "a delimiter that leaves one column",
      SOURCE.replace("    zone", '    csv: {delimiter: "|"}\n    zone'),
      HEADER,
      '13:23 sources.sold.actions[1].soldTicket.fields.ticketId: sold.csv has no column "ID"',
      ["Its only column is"],
    ],
    [
      "day and month in both orders",
      SOURCE.replace('"d.M.yyyy H:mm"', "[d/M/yy, M/d/yy]"),
      HEADER,
      "15:47 sources.sold.actions[1].soldTicket.fields.orderTime.format: d/M/yy and M/d/yy read 4/3/11 differently",
      ["never guessed"],
    ],
  ])("%s stops before anything is read", { tags: ["long"] }, async (_what, config, header, at, more) => {
    const place = openWorkplace({ isWarm: true });
    place.write("tickets.config.yaml", config);
    place.write("sold.csv", `${header}\n${GOOD}\n`);
    // One fault is reported as it is; several under a line that counts them.
    for (const command of ["validate", "plan", "stream"]) {
      const { exitCode, stdout, stderr } = await place.tickets([command, "sold.csv"]);
      expect(exitCode).toBe(2);
      expect(stdout).toBe("");
      expect(stderr).toMatch(/^error: (?:tickets\.config|\d+ problems in the config:\n)/m);
      expect(stderr).toContain(` tickets.config.yaml:${at}`);
      for (const text of more) expect(stderr).toContain(text);
    }
  });
});
