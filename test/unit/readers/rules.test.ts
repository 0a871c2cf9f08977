import { expect, test } from "vitest";
import { csvParser } from "../../../src/readers/csv.ts";
import { JsonArrayParser } from "../../../src/readers/json-array.ts";
import { ndjsonParser } from "../../../src/readers/ndjson.ts";
import { MAX_ROW_BYTES } from "../../../src/readers/row-parser.ts";
import { READER_RULES } from "../../../src/readers/rules.ts";
import { feed } from "./feed.ts";

const BREAKERS = {
  "cell-count": () => feed(csvParser(), "price,currency\n12,50,EUR\n"),
  "header-repeated": () => feed(csvParser(), "ticketId,userId\nUser ID,Ticket ID\nu-1,t-1\n"),
  "lone-carriage-return": () => feed(csvParser(), "ticketId\nt-1\rt-2\n"),
  "rows-in-cell": () => feed(csvParser(), 'a,b,c\n1,2,"x\n3,4,y"\n'),
  "csv-quotes": () => feed(csvParser(), 'ticketId,name,currency\nt-1,5" single,EUR\n'),
  "row-too-long": () => feed(csvParser(), `a\n${"x".repeat(MAX_ROW_BYTES + 1)}\n`),
  "json-invalid": () => feed(ndjsonParser(), '{"action": newEvent}'),
  "json-duplicate-key": () => feed(ndjsonParser(), '{"price":"1","price":"2"}'),
  "json-not-object": () => feed(ndjsonParser(), '["newEvent", "wave-26"]'),
  "json-not-array": () => feed(new JsonArrayParser(), '{"action":"newEvent","data":{}}'),
} satisfies Record<keyof typeof READER_RULES, () => unknown>;

test.each(Object.entries(BREAKERS))("%s is found", (rule, breakIt) => {
  const rows = breakIt();
  const kind = rule === "rows-in-cell" ? "cells" : "malformed";
  expect(rows).toMatchObject([{ kind, findings: [{ rule }] }]);
});

test.each(Object.entries(READER_RULES))("%s has what docs/rules.md prints", (_id, rule) => {
  expect(rule.severity).toBe("error");
  for (const text of [rule.reason, rule.source, rule.example]) expect(text).not.toBe("");
});
