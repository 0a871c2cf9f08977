/** What the first lines of a run leave out, since earlier runs have shown it. What they say at first: test/pipeline/commands/input-words.test.ts. */

import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";

/** The lines about the file, and about what becomes public. */
function openNights() {
  const place = openWorkplace();
  return async (header: string, row: string, ...flags: readonly string[]): Promise<readonly string[]> => {
    place.write("events.csv", `${header}\n${row}\n`);
    const { stderr } = await place.tickets(["stream", "events.csv", ...flags]);
    return stderr.split("\n").filter((line) => /^(events\.csv →|Public)/.test(line));
  };
}

const COLUMNS = "eventId,currency,Ort";
const WHOLE = ["events.csv → newEvent by file name, 1 row, 2 of 3 columns used, not used: Ort", "Public: currency"];

test("a later run names only new columns, and all that is public as soon as that changes", async () => {
  const night = openNights();
  expect(await night(COLUMNS, "E,EUR,Ulm")).toEqual(WHOLE);
  expect(await night(COLUMNS, "E,EUR,Ulm")).toEqual([
    "events.csv → newEvent by file name, 1 row",
    "Public: 1 field, as before (--verbose lists it)",
  ]);
  expect(await night(COLUMNS, "E,EUR,Ulm", "--verbose")).toEqual(WHOLE);
  expect(await night(`${COLUMNS},Saal`, "E2,EUR,Ulm,3")).toEqual([
    "events.csv → newEvent by file name, 1 row, new columns: Saal (not used)",
    "Public: 1 field, as before (--verbose lists it)",
  ]);
  expect(await night(`${COLUMNS},Saal,eventName`, "E3,EUR,Ulm,3,Gala")).toEqual([
    "events.csv → newEvent by file name, 1 row, new columns: eventName",
    'Public: currency, eventName ("Gala")',
  ]);
});

test("what a dry run or a refused input has shown is shown again", async () => {
  const night = openNights();
  expect(await night(COLUMNS, "E,EUR,Ulm", "--dry-run")).toEqual(WHOLE);
  expect(await night(COLUMNS, "E,EURO,Ulm")).toEqual(WHOLE);
  expect(await night(COLUMNS, "E,EUR,Ulm")).toEqual(WHOLE);
  expect(await night(COLUMNS, "E2,EUR,Ulm")).not.toEqual(WHOLE);
});
