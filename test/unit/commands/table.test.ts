import { expect, it } from "vitest";
import { layOut } from "../../../src/commands/table.ts";

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
