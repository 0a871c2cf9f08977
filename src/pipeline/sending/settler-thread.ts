/** The thread of `openSettler`: a connection of its own to the ledger, and one chunk after the other. */

import { parentPort, workerData } from "node:worker_threads";
import { Failure } from "../../failure.ts";
import { joinLedger } from "../ledger/ledger.ts";
import type { ItemOutcome } from "./answer.ts";
import type { SettlerResult, SettlerStart, SettlerTask } from "./settler.ts";
import { settleInLedger } from "./settling.ts";

const port = parentPort;
if (port === null) throw new Error("this is a thread, not a program");
const { ledgerPath, run, style } = workerData as SettlerStart; // what openSettler passes
const ledger = joinLedger(ledgerPath);

port.on("message", (task: SettlerTask) => {
  const { body, places } = task.facts.actions;
  const { buffer, byteOffset, byteLength } = task.facts.index; // a Buffer arrives as a plain array of bytes
  const facts = { ...task.facts, actions: { body, places }, index: Buffer.from(buffer, byteOffset, byteLength) };
  let result: SettlerResult;
  try {
    const text = settleInLedger(ledger, run, facts, itemsOf(task), task.at, style);
    result = { isExhausted: ledger.isExhausted, lines: new TextEncoder().encode(text) };
  } catch (cause) {
    result =
      cause instanceof Failure
        ? { isExhausted: ledger.isExhausted, failure: { code: cause.code, message: cause.message, hint: cause.hint } }
        : { isExhausted: ledger.isExhausted, fault: cause instanceof Error ? cause : new Error(String(cause)) };
  }
  port.postMessage(result, "lines" in result ? [result.lines.buffer as ArrayBuffer] : []); // made just now, and not shared
});

function itemsOf({ promises, others }: SettlerTask): readonly ItemOutcome[] {
  const items: ItemOutcome[] = promises.map((actionPromise) => ({
    outcome: "accepted",
    status: "success",
    actionPromise,
  }));
  for (const [at, item] of others) items[at] = item;
  return items;
}
