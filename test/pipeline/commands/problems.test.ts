/** Where a rule lets a row go without sending it, a warning names every such row: a fold would hide what is not sent. */

import { expect, test } from "vitest";
import { openField } from "../../support/context.ts";

/** More than a block shows of other rules. */
const LAST = ["T1", "T2", "T3", "T4", "T5"];

const table = (header: string, row: (ticket: string) => string): string => [header, ...LAST.map(row), ""].join("\n");
const sales = (price: string): string => table("eventId,ticketId,userId,price", (ticket) => `E,${ticket},u,${price}`);
const updates = (image: string): string =>
  table("ticketId,imageUrl", (ticket) => `${ticket},https://a.example/${image}.png`);
const resales = (time: number): string =>
  table("ticketId,userId,price,orderTime", (ticket) => `${ticket},u${time},1,${time}`);

test.each([
  ["changed", "sales.csv", [], sales("2")],
  ["unclear", "updates.csv", [updates("A"), updates("B")], updates("A")],
  ["late", "resales.csv", [resales(1780000060)], resales(1780000000)],
])("%s", async (rule, name, nights, last) => {
  const field = await openField();
  await field.write("events.csv", "eventId,currency\nE,EUR\n");
  await field.write("sales.csv", sales("1"));
  expect((await field.stream(["events.csv", "sales.csv"])).exitCode).toBe(0);
  for (const night of nights) {
    await field.write(name, night);
    expect((await field.stream([name])).exitCode).toBe(0);
  }
  await field.write(name, last);
  const { exitCode, said } = await field.stream([name]);
  expect(exitCode, said).toBe(4);
  expect(said).toContain(`${rule} (${LAST.length} times`);
  for (const [at] of LAST.entries()) expect(said).toContain(`${name}:${at + 2}`);
});

test("a slip of the config is one block, with the place that makes it", async () => {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `sources:
  guests:
    match: "guests.csv"
    fields: {ticketId: "{ID}", userId: u}
    actions:
      - soldTicket:
          fields:
            eventId: E
            price: "{Paid}"
      - resoldTicket:
          when: {Paid: never}
          fields: {price: "2"}
`,
  );
  await field.write("guests.csv", `ID,Paid\n${LAST.map((ticket) => `${ticket},"1,50"\n`).join("")}`);
  const { exitCode, out } = await field.ask("validate", { files: ["guests.csv"] });
  expect(exitCode, out).toBe(3);
  expect(out).toContain(
    [
      "price-invalid (5 times): price is not a decimal number such as 12.50.",
      ...[2, 3, 4].map((line) => `    guests.csv:${line} price: "1,50"`),
      "    and 2 more",
      '  A decimal comma must be declared in the mapping: decimal: ",".',
      "  Set at tickets.config.yaml:9.",
    ].join("\n"),
  );
  await field.write("guests.csv", 'ID,Paid\nT1,"1,50"\n');
  expect((await field.ask("validate", { files: ["guests.csv"] })).out).toContain(
    'price-invalid: guests.csv:2 price: "1,50" price is not a decimal number such as 12.50. A decimal comma must be declared in the mapping: decimal: ",". Set at tickets.config.yaml:9.',
  );
});

test("of a field that is missing, the place is in the action that lacks it", async () => {
  const field = await openField();
  await field.write(
    "tickets.config.yaml",
    `sources:
  guests:
    match: "guests.csv"
    fields: {eventId: E, ticketId: "{ID}", price: "1"}
    actions:
      - soldTicket:
          when: {Type: sale}
          fields: {userId: "{Buyer}"}
      - resoldTicket:
          when: {Type: resale}
          fields: {userId: "{New}"}
`,
  );
  await field.write("guests.csv", "ID,Type,Buyer,New\nT1,sale,u1,\nT1,resale,u1,\n");
  const { out } = await field.ask("validate", { files: ["guests.csv"] });
  expect(out).toMatch(/^field-required: guests\.csv:3 .* Set at tickets\.config\.yaml:11\.$/m);
  // A value may be of any action that takes the field.
  await field.write("guests.csv", "ID,Type,Buyer,New\nT1,sale,u1,\nT1,resale,u1,NULL\u0001\n");
  const { out: ofValue } = await field.ask("validate", { files: ["guests.csv"] });
  expect(ofValue).toMatch(/guests\.csv:3 userId: .* Set at tickets\.config\.yaml:8, tickets\.config\.yaml:11\.$/m);
});

test("an event that nothing registers is one problem, whatever number of rows name it", async () => {
  const field = await openField();
  const source = `sources:
  guests:
    match: "sales.csv"
    fields: {eventId: "{eventId}", ticketId: "{ticketId}", userId: "{userId}", price: "{price}"}
    actions: [{soldTicket: {}}]
`;
  for (const config of ["", source]) {
    await field.write("tickets.config.yaml", config);
    await field.write("sales.csv", sales("1"));
    const { exitCode, out } = await field.ask("validate", { files: ["sales.csv"], env: "sandbox", json: true });
    expect(exitCode, out).toBe(3);
    const { problems, counts } = JSON.parse(out);
    const how = config === "" ? "in a row or a file of its own." : "newEvent: {fields: {currency: EUR}} as the first";
    const errors = problems.filter(({ severity }: { severity: string }) => severity === "error");
    expect(errors).toMatchObject([{ rule: "event-not-registered", line: 2, hint: expect.stringContaining(how) }]);
    expect(counts).toMatchObject({ rows: { invalid: LAST.length }, errors: 1 });
  }
});
