import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRefusal, saysTaken, TAKEN_WORDS, TURNING_WORDS } from "../../../src/send/status-words.ts";

const GUARANTEES = readFileSync(join(import.meta.dirname, "../../../docs/guarantees.md"), "utf8");

/** The words in code quotes between these two. */
function wordsBetween(from: string, to: string): readonly string[] {
  const [, behind = ""] = GUARANTEES.split(from);
  const [within = ""] = behind.split(to);
  return [...within.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
}

it("docs/guarantees.md names every word by which a status may mean that the service has the action", () => {
  const told = wordsBetween(
    "- holds one of these words, or is one but for what is no letter and no digit (`O.K.`, `re-queued`):",
    ";\n",
  );
  expect(told).toEqual([...TAKEN_WORDS]);
  for (const word of told) {
    expect([word, saysTaken(word)]).toEqual([word, true]);
    expect([word, saysTaken(`not ${word}`), isRefusal(`not ${word}`)]).toEqual([word, false, true]);
  }
});

it("docs/guarantees.md names every word that turns such a status", () => {
  const told = wordsBetween("turns all of it, and it is a rejection:", "; one that begins");
  expect(told).toEqual([...TURNING_WORDS]);
  const beginnings = wordsBetween("; one that begins with", "; `denied`").map((beginning) => `${beginning}ing`);
  const whole = ["denied", ...wordsBetween("; `denied`,", "; one from")];
  for (const word of [...told, ...beginnings, ...whole])
    expect([word, saysTaken(`accepted ${word}`)]).toEqual([word, false]);
  for (const word of [...beginnings, ...whole]) expect([word, isRefusal(word)]).toEqual([word, true]);
});
