import { describe, expect, it, test } from "vitest";
import { parseJson } from "../../../src/actions/json.ts";
import { ENDINGS } from "../../../src/mapping/rejects-names.ts";
import { FORMATS, formatOf } from "../../../src/readers/formats.ts";
import { INPUT_FORMATS, type InputFormat } from "../../../src/readers/input-file.ts";

test("promises and rejects are called after inputs of every format", () => {
  expect(ENDINGS.toSorted()).toEqual(
    Object.values(FORMATS)
      .flatMap(({ extensions }) => extensions)
      .toSorted(),
  );
});

/** Two rows of two keys, with a number that JSON may spell in several ways; and what standard input of it is taken for. */
const SAMPLES: Readonly<Record<InputFormat, { readonly text: string; readonly taken: InputFormat }>> = {
  csv: { text: "Order,tickets:row\nA,1.50\nB,2\n", taken: "csv" },
  tsv: { text: "Order\ttickets:row\nA\t1.50\nB\t2\n", taken: "csv" },
  ndjson: { text: '{"Order":"A","tickets:row":1.50}\n{"Order":"B","tickets:row":2}\n', taken: "ndjson" },
  json: { text: '[{"Order":"A","tickets:row":1.50},\n{"Order":"B","tickets:row":2}]', taken: "json" },
};

describe.each(INPUT_FORMATS)("the format %s", (format) => {
  const { text, taken } = SAMPLES[format];

  it("gives rows whose text is the JSON of their value, unless they are cells", () => {
    const parser = FORMATS[format].parser({});
    const rows = [...parser.take(Buffer.from(text)), ...parser.end()];
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      expect(row.kind).not.toBe("malformed");
      if (row.kind === "object") expect(parseJson(row.text)).toEqual(row.value);
    }
  });

  it("is known on standard input by its beginning", () => {
    expect(formatOf(Buffer.from(` \n${text}`))).toBe(taken);
  });

  it("shows in its first line the keys by which rejects are known", () => {
    const [first = ""] = text.replace(/^\[/, "").split("\n");
    expect(FORMATS[format].firstKeys(first)).toEqual(["Order", "tickets:row"]);
  });
});
