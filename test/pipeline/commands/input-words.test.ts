/** What the first lines say of a file: its columns, and by example what of it becomes public. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeContext, verbs } from "../../support/context.ts";

async function firstLine(name: string, text: string, command = verbs.validate, config?: string): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "tickets-first-lines-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, name), text);
  if (config !== undefined) await writeFile(join(cwd, "tickets.config.yaml"), config);
  const { context, said } = makeContext(cwd, {});
  await command({ files: [name], json: false, flags: {} }, context);
  return said().split("\n")[0] ?? "";
}

describe("the first line of a file", () => {
  const sales = 'ticketId,eventId,userId,price,name,seat\nT-1,E,u-1,1,,\nT-2,E,u-2,1,"Anna\tSchmidt",4\n';

  test.each([
    ["validate", verbs.validate],
    ["plan", verbs.plan],
  ])("shows columns, and the first value of each public text, in %s", async (_name, command) => {
    expect(await firstLine("sales.csv", sales, command)).toBe(
      'sales.csv → soldTicket by file name, 6 columns, 5 used, not used: seat, public: ticketId (hashed), price, name ("Anna Schmidt")',
    );
  });

  test("shows what {action, data} items make public, which have no header", async () => {
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
    expect(await firstLine("p.ndjson", text)).toContain(
      'public: ticketId (hashed), metadataAttributes (Holder "Anna Schmidt", Row "7")',
    );
  });

  test("shows what the rules of a source make public, constants too", async () => {
    const config = `sources:
  all:
    match: "x.csv"
    actions:
      - newEvent: {fields: {eventId: "{E}", currency: EUR, eventName: "Gala of {Host}"}}
      - soldTicket: {fields: {eventId: "{E}", ticketId: "{T}", userId: u, price: "1", metadataAttributes: {Guest: "{Host}"}}}
`;
    expect(await firstLine("x.csv", "E,T,Host\nE-1,T-1,Anna\n", verbs.validate, config)).toContain(
      'public: eventName ("Gala of Anna"), currency, ticketId (hashed), price, metadataAttributes (Guest "Anna")',
    );
  });
});
