import { expect, it } from "vitest";
import { inOrder } from "../../../src/outputs/rejects-order.ts";

const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");
/** `xa3`: a row x of the history a, number 3 of the present input. `!` behind it: only a later run has found it open. */
function row(word: string) {
  const [, name = "", histories = "", number = "", behind] = /^([a-z])([a-z]*)(\d*)(!?)$/.exec(word) ?? [];
  return {
    name,
    histories: new Set(histories),
    number: number === "" ? undefined : Number(number),
    isBehind: behind === "!",
  };
}
const fresh = (word: string) => ({ ...row(word), number: row(word).number ?? 0 });

it.each<[string, string, string, string]>([
  ["nothing stands there", "", "a1 b2", "a b"],
  ["nothing is new", "a b", "", "a b"],
  ["between those of the input", "a1 c3", "b2", "a b c"],
  ["behind those of earlier runs", "x y", "a1 b2", "x y a b"],
  ["before those of later runs", "x!", "a1", "a x"],
  ["between both", "x a2 y!", "b1 c3", "x b a c y"],
  ["before those of a later run that the input has too", "x! b5", "a1 c6", "a x b c"],
  ["by what stands of its history, whatever equal rows of others say", "xz2 bt", "at1", "x b a"],
  ["also where those stand the other way round", "xz4 at2", "bt3", "x a b"],
  ["before what the input has behind it of its history", "xz bt2", "at1", "x a b"],
  ["several of a history keep their order", "xz4 at2", "bt3 ct5", "x a b c"],
  ["also beside a row of two histories", "xz4 at2", "bt3 dtz5", "x a b d"],
])("%s: %s and %s", (_name, standing, found, expected) => {
  const ordered = inOrder(words(standing).map(row), words(found).map(fresh));
  expect(ordered.map(({ name }) => name).join(" ")).toBe(expected);
});
