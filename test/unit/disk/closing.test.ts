import { expect, test } from "vitest";
import { orClosed } from "../../../src/disk/closing.ts";

function openFile(closing: () => void = () => undefined) {
  const file = {
    closed: 0,
    async close() {
      file.closed += 1;
      closing();
    },
  };
  return file;
}

test("a file is closed where what is made of it fails, and stays open where that does not", async () => {
  const file = openFile();
  expect(await orClosed(file, async () => "made")).toBe("made");
  expect(file.closed).toBe(0);
  const failing = async (): Promise<never> => {
    throw new Error("no room");
  };
  await expect(orClosed(file, failing)).rejects.toThrow("no room");
  expect(file.closed).toBe(1);
  const unclosable = openFile(() => {
    throw new Error("not that");
  });
  await expect(orClosed(unclosable, failing)).rejects.toThrow("no room");
});
