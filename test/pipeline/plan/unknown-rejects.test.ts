import { join } from "node:path";
import { expect, test } from "vitest";
import { openSold } from "../../support/context.ts";

test.each([
  ["a ticket", "updateTicket", "ticketId,imageUrl", "T1,https://img.example/"],
  ["an event", "updateEvent", "eventId,eventName", "E,name of "],
] as const)(
  "an update of %s in the rejects of another environment is not sent behind what this one accepted",
  async (_, action, columns, text) => {
    const field = await openSold();
    const row = (name: string): string => `${text}${name}\n`;
    const withoutId = row("1").slice(text.indexOf(","));
    await field.write("updates.csv", `${columns}\n${withoutId}${row("2")}`);
    const options = { action, maxInvalid: { rows: 9 }, output: "else.ndjson" };
    const elsewhere = { TICKETS_STATE_DIR: join(field.folder, "elsewhere") };
    expect((await field.stream(["updates.csv"], options, { env: elsewhere })).exitCode).toBe(4);
    await field.write("updates.csv", `${columns}\n${row("2")}`);
    expect((await field.stream(["updates.csv"], { action })).exitCode).toBe(0);
    await field.edit("updates.rejects.csv", `\n${withoutId.trim()}`, `\n${row("1").trim()}`);
    const { exitCode, said, summary } = await field.stream(["updates.rejects.csv"], { action });
    expect([exitCode, summary?.actions], said).toMatchObject([4, { accepted: 0, unclear: 1 }]);
  },
);
