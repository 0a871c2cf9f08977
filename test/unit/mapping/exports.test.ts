import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { actionsIn, actionsOf, mapFile } from "./samples.ts";

const fixtures = fileURLToPath(new URL("../../../fixtures/exports/", import.meta.url));

/** System, source, delimiter, and how many rows of the sample are skipped. */
const SAMPLES = [
  ["pretix", "pretix-positions", ",", { rows: 22, skipped: 2, actions: 23 }],
  ["alfio", "alfio-tickets", ",", { rows: 24, skipped: 4, actions: 28 }],
  ["hievents", "hievents-attendees", ";", { rows: 26, skipped: 2, actions: 44 }],
  ["hievents", "hievents-events", ",", { rows: 20, skipped: 4, actions: 16 }],
  ["eventbrite", "eventbrite-attendees", ",", { rows: 28, skipped: 3, actions: 40 }],
  ["openevent", "openevent-orders", ",", { rows: 22, skipped: 8, actions: 27 }],
] as const;

describe.each(SAMPLES)("the export of %s, source %s,", (system, source, delimiter, counts) => {
  const folder = join(fixtures, system);

  test("gives exactly the expected actions of the sample", () => {
    const mapped = mapFile(join(folder, "tickets.config.yaml"), source, join(folder, `${source}.csv`), delimiter);
    expect(mapped.filter(({ kind }) => kind === "invalid")).toEqual([]);
    expect(actionsOf(mapped)).toEqual(actionsIn(join(folder, `${source}.expected.ndjson`)));
    expect({
      rows: mapped.length,
      skipped: mapped.filter(({ kind }) => kind === "skipped").length,
      actions: actionsOf(mapped).length,
    }).toEqual(counts);
  });
});

const OWN = [
  ["pretix", "pretix-positions", "positions", ","],
  ["alfio", "alfio-tickets", "tickets", ","],
  ["hievents", "hievents-attendees", "attendees", ";"],
  ["hievents", "hievents-events", "events", ","],
  ["eventbrite", "eventbrite-attendees", "attendees", ","],
  ["openevent", "openevent-orders", "orders", ","],
  ["openevent", "openevent-attendees", "attendees", ","],
] as const;

test.each(OWN)(
  "fixtures/exports/%s, source %s, gives exactly %s.expected.ndjson",
  (system, source, stem, delimiter) => {
    const folder = join(fixtures, system);
    const mapped = mapFile(join(folder, "tickets.config.yaml"), source, join(folder, `${stem}.csv`), delimiter);
    expect(mapped.filter(({ kind }) => kind === "invalid")).toEqual([]);
    expect(actionsOf(mapped)).toEqual(actionsIn(join(folder, `${stem}.expected.ndjson`)));
  },
);
