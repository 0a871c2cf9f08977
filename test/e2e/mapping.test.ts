// @module-tag long

/** Real exports through the built bin: a starter config, the preview, and no silent wrong reading. */

import { cpSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fixture, openWorkplace } from "../support/bin.ts";

const EVENTBRITE = fixture("exports/eventbrite/attendees.csv");

describe("tickets init", () => {
  test("never overwrites: the file is named, --move-aside sets it aside, -o - writes none", async () => {
    const place = openWorkplace();
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

  test("refuses beside a config of another name, which would stop every command; without an export writes one that can be read", async () => {
    const place = openWorkplace();
    place.write(".ticketsrc.yaml", "env: mine\n");
    const refused = await place.tickets(["init"]);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(".ticketsrc.yaml already exists")]);
    rmSync(place.path(".ticketsrc.yaml"));
    for (const command of ["init", "env"]) expect((await place.tickets([command])).exitCode).toBe(0);
  });
});

// What it shows: docs/tutorial.md, whose commands are typed (docs.test.ts), and test/pipeline/commands/plan.test.ts.
test("tickets plan --preview --json gives the same as one document; -o FILE writes the actions beside it", async () => {
  const place = openWorkplace();
  cpSync(fixture("exports/hievents"), place.folder, { recursive: true });
  const { stdout } = await place.tickets(["plan", "attendees.csv", "--preview", "--json", "-o", "actions.ndjson"]);
  const { preview, byAction } = JSON.parse(stdout);
  expect(preview.rows).toHaveLength(5);
  expect(preview.rows[2]).toMatchObject({ line: 5, actions: [], skipped: "Status = AWAITING_PAYMENT" });
  expect(byAction).toMatchObject({ soldTicket: 4 });
  expect(place.read("actions.ndjson").trimEnd().split("\n")).toHaveLength(9);
});
