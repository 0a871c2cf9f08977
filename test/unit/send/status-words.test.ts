import { expect, it } from "vitest";
import { isRefusal, saysTaken, TAKEN_WORDS, TURNING_WORDS } from "../../../src/send/status-words.ts";

it.each([...TAKEN_WORDS])("%s may mean that the service has it, and with a not before it is a refusal", (word) => {
  expect(saysTaken(word)).toBe(true);
  expect([saysTaken(`not ${word}`), isRefusal(`not ${word}`)]).toEqual([false, true]);
});

it.each([...TURNING_WORDS])("%s turns such a word", (word) => {
  expect(saysTaken(`accepted ${word}`)).toBe(false);
});

it.each(["failing", "rejecting", "refusing", "declining", "unsuccessful", "denied", "error", "errors", "errored"])(
  "%s says in itself that it was refused",
  (word) => {
    expect([saysTaken(`accepted ${word}`), isRefusal(word)]).toEqual([false, true]);
  },
);
