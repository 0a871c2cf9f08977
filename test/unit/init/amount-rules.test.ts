/** Prices: which column, how its amounts are written, and what they are divided by. */

import { describe, expect, test } from "vitest";
import { guessConfig } from "../../../src/init/guess.ts";
import { actionsOf, tableOf } from "../map/samples.ts";
import { bodyOf, mapWith, ruleOf } from "./configs.ts";

describe("of several amounts", () => {
  const priceLinesOf = (fileName: string, csv: string, delimiter = ","): readonly string[] =>
    bodyOf(fileName, csv, delimiter)
      .map((line) => line.trim())
      .filter((line) => /^#?price: /.test(line));
  const asked =
    'price: "<FILL IN: one of the next lines, without its #: what one ticket cost>"   # a price is public for good; remove this line';

  test.each([
    ["Price incl. VAT", "Price excl. VAT"],
    ["Gross", "Net"],
  ])("of which one may be an order's or before a fee, it is asked: %s, %s", (one, other) => {
    for (const header of [`${one},${other}`, `${other},${one}`]) {
      const csv = `Order No,Ticket Reference,Event ID,E-Mail,${header}\n1,T-1,e,a@example.com,25.00,50.00\n1,T-2,e,a@example.com,25.00,50.00\n`;
      const [first = "", ...choices] = priceLinesOf("sales.csv", csv);
      expect(first).toBe(asked);
      expect(choices.map((line) => /^#price: "\{(.*)\}"/.exec(line)?.[1]).sort()).toEqual([one, other].sort());
    }
  });

  test("a fee, a tax and a number of tickets are none of them", () => {
    const csv =
      "Barcode,Event ID,E-Mail,Price,Total fees,VAT amount,Total tickets\n1,e,a@example.com,25.00,2.00,1.00,1\n2,e,a@example.com,25.00,2.00,1.00,1\n";
    expect(priceLinesOf("sales.csv", csv)).toEqual(['price: "{Price}"']);
  });

  test("of an order only what may be its total is divided by its tickets", () => {
    const of = (...names: readonly string[]) =>
      priceLinesOf(
        "orders.csv",
        `Booking Ref,Qty,Event ID,E-Mail,${names.join(",")}\nB1,2,e,a@example.com${",20.00".repeat(names.length)}\nB2,1,e,b@example.com${",10.00".repeat(names.length)}\n`,
      ).map((line) => line.replace(/ {3}# .*/, ""));
    const divided = (name: string) => `price: {from: "{${name}}", divide: "{Qty}", places: 2}`;
    expect(of("Total")).toEqual([divided("Total")]);
    expect(of("Unit price")).toEqual(['price: "{Unit price}"']);
    const question = asked.replace(/ {3}# .*/, "");
    expect(of("Price")).toEqual([question, '#price: "{Price}"', `#${divided("Price")}`]);
    expect(of("Unit price", "Total")).toEqual(['price: "{Unit price}"']);
  });
});

describe("an amount in hundredths", () => {
  test.each(["Amount in cents", "priceCents", "Betrag in Cent", "Montant (centimes)", "Price in pence", "Pris i øre"])(
    "is divided: %s",
    (name) => {
      // biome-ignore format: a table of names
      for (const fileName of ["sales.csv", "export.csv"]) {
      const lines = bodyOf(fileName, `Event ID,Ticket ID,User ID,${name}\ne,t1,u,2500\ne,t2,u,3050\n`);
      expect(ruleOf(lines, "price")).toBe(
        `price: {from: "{${name}}", divide: 100, places: 2}   # guess: "2500" is 25.00; counts hundredths`,
      );
    }
    },
  );

  test("or in what the currency has, which is asked", () => {
    const csv = "eventId,ticketId,userId,amount_minor,currency\ne,t1,u,2500,JPY\ne,t2,u,3050,JPY\n";
    expect(ruleOf(bodyOf("sales.csv", csv), "price")).toContain("<FILL IN: one of the next lines");
  });

  test("of an order is divided by its tickets, too, and exactly", () => {
    const csv = "Booking Ref,Qty,Total cents,Show ID,Mail\nB1,2,2500,S,u@example.com\nB2,1,1000,S,v@example.com\n";
    const guessed = guessConfig({ fileName: "orders.csv", isWhole: true, ...tableOf(csv) }).yaml;
    const yaml = guessed.replace(/"<FILL IN: the currency[^"]*"/, "EUR");
    expect(yaml).toContain('price: {from: "{Total cents}", divide: "{Qty}00", places: 2}');
    const mapped = mapWith(yaml, "orders", csv, ",");
    expect(actionsOf(mapped).slice(1)).toMatchObject([
      { data: { price: "12.50" } },
      { data: { price: "12.50" } },
      { data: { price: "10.00" } },
    ]);
    const uneven = csv.replace("2500", "2501");
    expect(mapWith(yaml, "orders", uneven, ",")[0]).toMatchObject({ kind: "invalid" });
  });

  test("is no per cent", () => {
    expect(ruleOf(bodyOf("x.csv", "Barcode,Price,Discount percent\nt1,25,5\nt2,30,5\n"), "price")).toContain(
      '"{Price}"',
    );
  });
});
