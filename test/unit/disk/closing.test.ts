import { expect, test } from "vitest";
import { Opened } from "../../../src/disk/closing.ts";

test("what was opened is closed last first, whatever fails, and the first failure is reported", async () => {
  const closed: string[] = [];
  const close = (name: string, failure?: Error) => () => {
    closed.push(name);
    if (failure !== undefined) throw failure;
  };
  const opened = new Opened();
  opened.use({ [Symbol.asyncDispose]: async () => close("ledger")() });
  opened.use({ [Symbol.dispose]: close("lock", new Error("the lock")) });
  opened.defer(close("folder", new Error("the folder")));
  await expect(opened[Symbol.asyncDispose]()).rejects.toThrow("the folder");
  expect(closed).toEqual(["folder", "lock", "ledger"]);
});

test("what has a new owner is closed by that one alone, once", async () => {
  let closed = 0;
  const opened = new Opened();
  opened.defer(() => {
    closed += 1;
  });
  const moved = opened.move();
  await opened[Symbol.asyncDispose]();
  expect(closed).toBe(0);
  await moved[Symbol.asyncDispose]();
  await moved[Symbol.asyncDispose]();
  expect(closed).toBe(1);
});
