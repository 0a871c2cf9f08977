/** What the first lines say of a file: its rows and columns, and by example what of all becomes public. What later runs leave out of them: test/e2e/first-lines.test.ts. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeContext, verbs } from "../../support/context.ts";
import { openFolder } from "../../support/folder.ts";

async function firstLines(
  name: string,
  text: string,
  command = verbs.validate,
  config?: string,
): Promise<readonly string[]> {
  const cwd = openFolder();
  await writeFile(join(cwd, name), text);
  if (config !== undefined) await writeFile(join(cwd, "tickets.config.yaml"), config);
  const { context, said } = makeContext(cwd, {});
  await command({ files: [name], json: false, flags: {} }, context);
  return said().split("\n").slice(0, 2);
}

describe("the first lines", () => {
  const sales = 'ticketId,eventId,userId,price,name,seat\nT-1,E,u-1,1,,\nT-2,E,u-2,1,"Anna\tSchmidt",4\n';

  test.each([
    ["validate", verbs.validate],
    ["plan", verbs.plan],
  ])("show rows and columns, and the first value of each public text, in %s", async (_name, command) => {
    expect(await firstLines("sales.csv", sales, command)).toEqual([
      "sales.csv → soldTicket by file name, 2 rows, 5 of 6 columns used, not used: seat",
      'Public: ticketId (hashed), price, name ("Anna Schmidt")',
    ]);
  });

  test("show what {action, data} items make public, which have no header", async () => {
    const item = (data: object) => `${JSON.stringify({ action: "updateTicket", data })}\n`;
    const text =
      item({ ticketId: "T-1", userId: "u-1", imageUrl: null }) +
      item({ ticketId: "T-2", metadataAttributes: [{ trait_type: "Holder", value: "Anna Schmidt" }] }) +
      item({
        ticketId: "T-3",
        metadataAttributes: [
          { trait_type: "Holder", value: "Bo" },
          { trait_type: "Row", value: 7 },
        ],
      });
    expect(await firstLines("p.ndjson", text)).toEqual([
      "p.ndjson → {action, data} items, 3 rows",
      'Public: ticketId (hashed), metadataAttributes (Holder "Anna Schmidt", Row "7")',
    ]);
  });

  test("show what the rules of a source make public, constants too", async () => {
    const config = `sources:
  all:
    match: "x.csv"
    actions:
      - newEvent: {fields: {eventId: "{E}", currency: EUR, eventName: "Gala of {Host}"}}
      - soldTicket: {fields: {eventId: "{E}", ticketId: "{T}", userId: u, price: "1", metadataAttributes: {Guest: "{Host}"}}}
`;
    expect(await firstLines("x.csv", "E,T,Host\nE-1,T-1,Anna\n", verbs.validate, config)).toEqual([
      "x.csv → source all, 1 row, 3 of 3 columns used",
      'Public: eventName ("Gala of Anna"), currency, ticketId (hashed), price, metadataAttributes (Guest "Anna")',
    ]);
  });
});
