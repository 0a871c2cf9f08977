/**
 * `--order time` on a large shuffled file: how long it takes, and the most memory it holds.
 *
 *     node bench/order.ts [actions]      default 3,000,000; exit 1 above 400 MiB or when the order is wrong
 *
 * The whole of `tickets plan` runs in a process of its own, once as read and once in time's order, so that the difference
 * is what ordering costs.
 */

import { spawnSync } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createFile } from "../src/pipeline/plan/files.ts";

const MOST_MIB = 400;
const EVENTS = 1000;
/** Odd and not a multiple of 5, so that it shuffles any round number of actions. */
const STRIDE = 1_618_033;

const actions = Number(process.argv[2] ?? 3_000_000);
const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

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

/** Runs the command and gives its seconds and the most memory it held, in MiB. */
function measure(folder: string, order: string): { readonly seconds: number; readonly mib: number } {
  const report = `data:text/javascript,process.on("exit",()=>process.stderr.write("\\nmaxRSS "+process.resourceUsage().maxRSS))`;
  const args = ["--import", report, main, "plan", "season.ndjson", "--order", order, "-o", `${order}.ndjson`];
  const from = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`exit ${status}\n${stderr.slice(-2000)}`);
  return { seconds: (performance.now() - from) / 1000, mib: Number(/maxRSS (\d+)/.exec(stderr)?.[1]) / 1024 };
}

/** The number of actions that stand before one of an earlier time. */
async function disorder(path: string): Promise<number> {
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

const folder = mkdtempSync(join(tmpdir(), "tickets-bench-"));
try {
  {
    await using file = await createFile(join(folder, "season.ndjson"));
    for (let at = 0; at < actions; at += 1) await file.text(action((at * STRIDE) % actions));
    await file.sync();
    console.log(`${actions.toLocaleString("en")} actions, shuffled, ${Math.round(file.length / 2 ** 20)} MiB`);
  }
  const read = measure(folder, "input");
  console.log(`--order input: ${read.seconds.toFixed(1)} s, ${Math.round(read.mib)} MiB`);
  const sorted = measure(folder, "time");
  console.log(`--order time:  ${sorted.seconds.toFixed(1)} s, ${Math.round(sorted.mib)} MiB`);
  const wrong = await disorder(join(folder, "time.ndjson"));
  console.log(`out of order: ${wrong}`);
  if (wrong !== 0 || sorted.mib > MOST_MIB) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
