import { expect, test } from "vitest";
import { ENDINGS } from "../../../src/mapping/rejects-names.ts";
import { FORMATS } from "../../../src/readers/formats.ts";

test("promises and rejects are called after inputs of every format", () => {
  expect(ENDINGS.toSorted()).toEqual(
    Object.values(FORMATS)
      .flatMap(({ extensions }) => extensions)
      .toSorted(),
  );
});
