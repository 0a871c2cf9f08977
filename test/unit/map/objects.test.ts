import { describe, expect, test } from "vitest";
import { ExactNumber } from "../../../src/actions/exact-number.ts";
import { json } from "./rows.ts";
import type { Mapper } from "./shown.ts";
import { createMapper } from "./shown.ts";

const mapperOf = (fileName: string): Mapper => createMapper({ fileName });

describe("{action, data} items", () => {
  test("keep their action whatever the file is called and --action says", () => {
    const line = json('{"action":"scannedTicket","data":{"ticketId":"t"}}');
    const expected = { actions: [{ action: "scannedTicket" }] };
    expect(mapperOf("sales.ndjson").map(line)).toMatchObject(expected);
    expect(createMapper({ fileName: "x.ndjson", action: "soldTicket" }).map(line)).toMatchObject(expected);
  });

  test("hold back what depends on a damaged one", () => {
    const mapped = mapperOf("p.json").map(json('{"action":"sellTicket","data":{"ticketId":"t","eventId":"e"}}'));
    expect(mapped).toMatchObject({ attempted: [{ action: "soldTicket", data: { ticketId: "t", eventId: "e" } }] });
  });
});

describe("flat JSON rows", () => {
  test("are mapped by their keys", () => {
    const mapper = mapperOf("sales.ndjson");
    const text =
      '{"Event ID":"e","ticketId":184415834230,"userId":" u ","price":12.50,"orderTime":18446744073709551615,"to":null,"imageUrl":"","x":true}';
    expect(mapper.map(json(text))).toEqual({
      kind: "actions",
      eventId: "e",
      actions: [
        {
          action: "soldTicket",
          data: {
            eventId: "e",
            ticketId: "184415834230",
            userId: "u",
            price: "12.50",
            orderTime: new ExactNumber("18446744073709551615"),
          },
        },
      ],
    });
    expect(mapper.understanding).toMatchObject({ how: "file name", action: "soldTicket", unused: ["x"] });
  });

  test.each([
    ["12.0", "12.0"],
    ["1e2", "1e2"],
    ["123456789012.345678901234", "123456789012.345678901234"],
    ['"12.50"', "12.50"],
  ])("keep the digits of a price %s", (written, price) => {
    const mapped = mapperOf("sales.ndjson").map(json(`{"ticketId":"t","nested":{"price":1.1},"price":${written}}`));
    expect(mapped).toMatchObject({ actions: [{ data: { price } }] });
  });

  test.each([
    ['{"ticketId":true}', "ticketId"],
    ['{"ticketId":{"a":1}}', "ticketId"],
    ['{"ticketId":"t","orderTime":[1]}', "orderTime"],
    ['{"ticketId":"t","orderTime":false}', "orderTime"],
  ])("with something else than text or a number are a problem: %s", (text, field) => {
    expect(mapperOf("scans.ndjson").map(json(text))).toMatchObject({ problems: [{ rule: "field-type", field }] });
  });

  test("of which nothing says the action are a problem that says how to name it", () => {
    expect(mapperOf("x.ndjson").map(json('{"ticketId":"t"}'))).toMatchObject({
      kind: "invalid",
      problems: [{ rule: "action-unknown", hint: expect.stringContaining("--action") }],
      attempted: [{ data: { ticketId: "t" } }],
    });
  });

  test("that differ in their keys are each understood", () => {
    const mapper = mapperOf("scans.ndjson");
    mapper.map(json('{"ticketId":"t"}'));
    mapper.map(json('{"nftId":"A-1-2","gate":"north"}'));
    expect(mapper.understanding).toMatchObject({ used: ["ticketId", "nftId"], unused: ["gate"] });
  });
});

describe("a flat row whose id is a number", () => {
  const reported = (text: string) => {
    const mapped = mapperOf("scans.ndjson").map(json(text));
    return mapped.kind === "skipped" ? [] : (mapped.likely ?? []).map(({ message }) => message);
  };

  test.each(["1.5e3", "15E2", "1500.0", "0.5", "-0", "1e400"])(
    "is reported where it may be written otherwise: %s",
    (number) => {
      const mapped = mapperOf("scans.ndjson").map(json(`{"ticketId":${number},"orderTime":1}`));
      expect(mapped).toMatchObject({
        actions: [{ data: { ticketId: number } }],
        likely: [{ rule: "id-number-spelling", field: "ticketId", value: number }],
      });
    },
  );

  test("is reported of each of its ids, and of nothing else", () => {
    const sale = '"eventId":1.5,"ticketId":2.5,"userId":3.5,"price":4.5,"orderTime":5';
    const mapped = mapperOf("sales.ndjson").map(json(`{${sale}}`));
    expect(mapped.kind === "actions" && mapped.likely?.map(({ field }) => field)).toEqual([
      ...["eventId", "ticketId", "userId"],
    ]);
  });

  test.each([
    '{"ticketId":1500,"orderTime":1.0}',
    '{"ticketId":"1.5e3","orderTime":1.0}',
    '{"ticketId":12345678901234567890}',
  ])("is taken by its digits, or as text: %s", (text) => expect(reported(text)).toEqual([]));
});
