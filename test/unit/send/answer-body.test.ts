import { describe, expect, it } from "vitest";
import { openAnswerBody } from "../../../src/send/answer-body.ts";

const MOST = 1000;

describe("the body of an answer", () => {
  it.each([
    ["of which the length is known", "9", ["abc", "def", "ghi"]],
    ["of which it is not", undefined, ["abc", "def", "ghi"]],
    ["that is shorter than it said, since it was cut", "12", ["abc", "def", "ghi"]],
    ["that is longer than it said", "4", ["abc", "def", "ghi"]],
    ["that says it is longer than is read", String(MOST + 1), ["abc", "def", "ghi"]],
    ["that says no number", "9, 9", ["abc", "def", "ghi"]],
    ["in one piece", "9", ["abcdefghi"]],
  ])("%s is what came, in order", (_, said, pieces) => {
    const body = openAnswerBody(said, MOST);
    for (const piece of pieces) body.add(Buffer.from(piece));
    expect(body.taken().toString()).toBe("abcdefghi");
  });

  it("is empty where nothing came", () => {
    for (const said of ["0", "9", undefined]) expect(openAnswerBody(said, MOST).taken().toString()).toBe("");
  });

  it("does not share the memory of its pieces", () => {
    const body = openAnswerBody("3", MOST);
    const piece = Buffer.from("abc");
    body.add(piece);
    piece.fill("x");
    expect(body.taken().toString()).toBe("abc");
  });
});
