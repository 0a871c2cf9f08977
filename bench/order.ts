/**
 * Ordering by time, of a large shuffled file: how long it takes, and the most memory it holds. The whole of the plan
 * runs, once as read and once in time's order.
 */

import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type AllFigures, type Bench, inNewFolder, tool } from "./bench.ts";
import { made } from "./generate.ts";
import { type Measured, measure } from "./measure.ts";

const EVENTS = 1000;
/** Odd and not a multiple of 5, so that it shuffles any round number of actions. */
const STRIDE = 1_618_033;

/** The nth action of the season, n from 0: sales and, one behind each, what happens to the ticket. */
function action(n: number): string {
  const ticket = n >> 1;
  const ticketId = `T-${String(ticket).padStart(9, "0")}`;
  const orderTime = 1_700_000_000 + n;
  const item =
    n % 2 === 0
      ? {
          action: "soldTicket",
          data: {
            eventId: `event-${ticket % EVENTS}`,
            ticketId,
            userId: `user-${ticket % 700_001}`,
            price: "49.50",
            orderTime,
            metadataAttributes: [
              { trait_type: "Section", value: `Block ${ticket % 40}` },
              { trait_type: "Seat", value: String(ticket % 30) },
            ],
          },
        }
      : ticket % 3 === 0
        ? { action: "resoldTicket", data: { ticketId, userId: `second-${ticket % 9973}`, price: "55.00", orderTime } }
        : { action: "scannedTicket", data: { ticketId, orderTime } };
  return `${JSON.stringify(item)}\n`;
}

/** The number of actions that stand before one of an earlier time; NaN when some are missing. */
async function disorder(path: string, actions: number): Promise<number> {
  let before = 0;
  let wrong = 0;
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const time = Number(/"orderTime":(\d+)/.exec(line)?.[1]);
    if (time < before) wrong += 1;
    before = time;
    count += 1;
  }
  return count === actions ? wrong : Number.NaN;
}

/** @param actions a number that shares no factor with the stride; every round number does not. */
export async function measureOrder(
  bench: Bench,
  actions: number,
): Promise<{ readonly contenders: AllFigures; readonly wrong: number }> {
  const season = made(bench.folder, `season-${actions}.ndjson`, (put) => {
    for (let at = 0; at < actions; at += 1) put(action((at * STRIDE) % actions));
  });
  return inNewFolder(bench, async (work) => {
    const planned = async (order: string): Promise<Measured> => {
      const measured = await measure(
        tool(bench, work, ["plan", season, "--order", order, "-o", `${order}.ndjson`, "-q"]),
      );
      console.error(`  in the order of ${order}: ${measured.seconds.toFixed(1)} s`);
      return measured;
    };
    const contenders: AllFigures = {
      "as read": listed(await planned("input")),
      "by time": listed(await planned("time")),
    };
    return { contenders, wrong: await disorder(join(work, "time.ndjson"), actions) };
  });
}

const listed = ({ seconds, cpuSeconds, peakMib }: Measured): AllFigures[string] => ({
  seconds: [seconds],
  cpuSeconds: cpuSeconds === undefined ? [] : [cpuSeconds],
  peakMib: peakMib === undefined ? [] : [peakMib],
});
