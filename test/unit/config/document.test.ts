import { describe, expect, test } from "vitest";
import { type ConfigDocument, positionAt } from "../../../src/config/document.ts";
import { parseConfigText } from "../../../src/config/parse-document.ts";

const parse = (text: string): ConfigDocument => {
  const document = parseConfigText("/t/tickets.config.yaml", text);
  if (document === undefined) throw new Error("no document");
  return document;
};
const places = (text: string) =>
  parse(text).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);

describe("scalars under sources", () => {
  test.each([
    ["0123", "0123"],
    ["1.10", "1.10"],
    ["yes", "yes"],
    ["0x1F", "0x1F"],
    ["-0", "-0"],
    ["2026-01-01", "2026-01-01"],
    ["12345678901234567890", "12345678901234567890"],
    ['"a\\tb"', "a\tb"],
  ])("%s is the text %j", (written, text) => {
    expect(parse(`sources: {a: {fields: {price: ${written}}}}`).value).toEqual({
      sources: { a: { fields: { price: text } } },
    });
  });

  test("the same in block style, in lists, through an alias and as keys", () => {
    const text = "sources:\n  a:\n    x: &p 0123\n    y: [1.10, *p]\n    010: 0x1\n    z: |-\n      1.0\n      2\n";
    expect(parse(text).value).toEqual({
      sources: { a: { x: "0123", y: ["1.10", "0123"], "010": "0x1", z: "1.0\n2" } },
    });
  });

  test("no value stays no value and is not the text null", () => {
    expect(parse("sources: {a: {x: , y: null, z: ~}}").value).toEqual({
      sources: { a: { x: null, y: null, z: null } },
    });
  });

  test("elsewhere numbers and booleans are such, and yes is text", () => {
    expect(parse("a: 5000\nb: true\nc: yes\nd: off").value).toEqual({ a: 5000, b: true, c: "yes", d: "off" });
  });
});

describe("what a document complains of", () => {
  test.each([
    ["a key that stands twice", "a: 1\nb:\n  c: 1\n  c: 2\n", "4:3 occurs twice, first in line 3"],
    ["an open quote", 'a: 1\nb: "x', "2:6 a closing quote or bracket, a comma or a colon is missing"],
    ["a colon in plain text", "a: b: c", '1:4 text with ": " inside needs quotes'],
    ["a reserved character", "a: 1\nb: @x", "2:4 text that starts with this character needs quotes"],
    [
      "a name that a # cuts",
      "when: {Attendee #: Checked In}\nb: 1\n",
      "1:17 a # after a blank begins a comment here and cuts the text; quote all of it, or put a blank after the #",
    ],
    ["what is to be filled in", "sources: {a: {b: '<FILL IN: the id>'}}\n", "1:18 is still to be filled in: the id"],
    ["a second document", "a: 1\n---\nb: 2", "2:1 a config is one document; a second one begins here"],
    ["a tag", "a: !secret x", "1:4 tags (!name) are not supported; put text in quotes"],
    ["an alias that holds itself", "a: &x [*x]", "1:8 an alias can't contain itself"],
    ["a merge key", "a: &x {b: 1}\nc:\n  <<: *x", "3:3 can't be used as a key"],
    [
      "a template without quotes",
      "sources:\n  a:\n    x: {Order}\n",
      '3:8 is a map as written; a template needs quotes: "{Order}"',
    ],
    ["what is not UTF-8", "a: b\ufffd", "1:5 this is not UTF-8"],
  ])("%s", (_name, text, expected) => {
    expect(places(text)).toContain(expected);
  });

  test("aliases of aliases end in a problem and not in the memory", () => {
    const layers = Array.from({ length: 12 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(9)}]`);
    expect(places(`l0: &l0 x\n${layers.join("\n")}`).join()).toContain("expands too far");
  });

  test("no message repeats what stands in the file", () => {
    for (const text of [
      'apiKey: "5EcReT',
      "apiKey: 5EcReT: x",
      "apiKey: @5EcReT",
      "apiKey: *5EcReT",
      "- a\n5EcReT",
      "apiKey: !5EcReT x",
    ]) {
      const document = parse(text);
      expect(document.problems.length).toBeGreaterThan(0);
      expect(JSON.stringify(document.problems)).not.toContain("5EcReT");
    }
  });
});

describe("positions", () => {
  test("are of values and keys, also after a BOM, in CRLF and with wide characters", () => {
    const document = parse('\ufeffa:\r\n  "ключ": [x,\r\n    y]\r\n');
    expect(positionAt(document, ["a", "ключ"], "key")).toMatchObject({ line: 2, column: 3 });
    expect(positionAt(document, ["a", "ключ", 1])).toMatchObject({ line: 3, column: 5 });
  });

  test("of what is missing is the place of what should hold it", () => {
    expect(positionAt(parse("a:\n  b: {c: 1}"), ["a", "b", "d"])).toMatchObject({ line: 2, column: 3 });
  });

  test("in package.json count from the top of the file", () => {
    const text = '{\n\t"name": "x",\n\t"tickets": {\n\t\t"env": "playground"\n\t}\n}\n';
    const document = parseConfigText("/t/package.json", text, "tickets");
    expect(document?.value).toEqual({ env: "playground" });
    expect(document && positionAt(document, ["env"])).toMatchObject({ line: 4, column: 10 });
  });
});
