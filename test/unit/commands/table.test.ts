import { expect, it } from "vitest";
import { layOut, layOutSentences } from "../../../src/commands/table.ts";

const row = (...texts: readonly (string | number)[]) =>
  texts.map((each) => ({ text: String(each), isNumber: typeof each === "number" }));
const rows = [row("T-1", 12), row("票", 3)];

it.each([
  ["a table where it fits, numbers on the right", 10, "ticket   n\n──────  ──\n", "T-1     12\n票       3\n"],
  ["a line for each value where it does not", 9, "", "ticket  T-1\nn       12\n\nticket  票\nn       3\n"],
])("%s", (_, columns, head, lines) => {
  const layout = layOut(["ticket", "n"], rows, columns);
  expect({ head: layout.head, lines: layout.lines(rows) }).toEqual({ head, lines });
});

it("widens for rows that come later", () => {
  const { lines } = layOut(["a", "b"], [row("x", "y")], 80);
  expect(lines([row("longer", "y")])).toBe("longer  y\n");
});

const sentences = [row("7f3a", "1,000 accepted, 12 rejected"), row("80c1", "3 accepted")];

it.each([
  [
    "stands in one line where it has room",
    Number.POSITIVE_INFINITY,
    "run   actions\n────  ───────────────────────────\n7f3a  1,000 accepted, 12 rejected\n80c1  3 accepted\n",
  ],
  [
    "goes on below itself where it has little",
    26,
    "run   actions\n────  ──────────────────\n7f3a  1,000 accepted, 12\n      rejected\n80c1  3 accepted\n",
  ],
  [
    "stands beside its name where it has none",
    17,
    "run      7f3a\nactions  1,000\n         accepted,\n         12\n         rejected\n\nrun      80c1\nactions  3\n         accepted\n",
  ],
])("a sentence in the last column %s", (_, columns, told) => {
  expect(layOutSentences(["run", "actions"], sentences, columns)).toBe(told);
});
