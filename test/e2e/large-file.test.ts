/** A file so large that a thread of its own reads it. */

import { expect, test } from "vitest";
import { openWorkplace } from "../support/bin.ts";
import { LONG } from "../support/walks.ts";

const HEADER = "eventId,ticketId,userId,price,orderTime,note\n";
const NOTE = "x".repeat(2000);
const sale = (at: number, price = "10.50"): string =>
  `E-${at % 3},T-${at},user-${at % 7},${price},${1_700_000_000 + at},${NOTE}\n`;
const sales = (count: number): string => Array.from({ length: count }, (_, at) => sale(at)).join("");
/** Above 16 MiB, with a bad row, one that repeats a ticket, and one that waits for the bad one. */
const LARGE = `${HEADER}${sales(8500)}${sale(9000, "12.x")}${sale(17)}${sale(9000)}`;

test("gives the plan that its rows give on standard input", async () => {
  const place = openWorkplace();
  place.write("sales.csv", LARGE);
  const flags = ["--json", "--action", "soldTicket"];
  const [file, pipe] = [
    await place.tickets(["validate", "sales.csv", ...flags]),
    await place.tickets(["validate", "-", "--format", "csv", ...flags], { stdin: LARGE }),
  ];
  const unnamed = (text: string): string => text.replaceAll(/sales\.csv|(?<=")-(?=")|-(?=:\d)/g, "");
  expect(file.exitCode).toBe(3);
  expect(file.stdout).toContain('"price-invalid"');
  expect(file.stdout).toContain('"ticket-sold-twice"');
  expect(unnamed(file.stdout)).toBe(unnamed(pipe.stdout));
});

test("is refused in the words of any other file where it can't be read on", LONG, async () => {
  const place = openWorkplace();
  const bytes = Buffer.concat([Buffer.from(`${HEADER}${sales(8500)}`), Buffer.from([0xff, 0xfe, 0x0a])]);
  place.write("sales.csv", bytes);
  const { exitCode, stderr } = await place.tickets(["validate", "sales.csv", "--action", "soldTicket"]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^error: sales\.csv.*UTF-8/m);
  expect(stderr).not.toContain("    at ");
});

test("is read no further once the command is stopped", LONG, async () => {
  const place = openWorkplace();
  place.write("sales.csv", `${HEADER}${sales(8500)}`);
  const stop = "setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300)";
  const nodeArgs = ["--import", `data:text/javascript,${stop}`];
  const { exitCode } = await place.tickets(["validate", "sales.csv", "--action", "soldTicket"], { nodeArgs });
  expect(exitCode).toBe(143);
});

test("is read whatever flags Node is given", LONG, async () => {
  const place = openWorkplace();
  place.write("sales.csv", `${HEADER}${sales(8500)}`);
  const nodeArgs = ["--max-old-space-size=2000", "--expose-gc"];
  const { exitCode, stderr } = await place.tickets(["validate", "sales.csv", "--action", "soldTicket"], { nodeArgs });
  expect(stderr).not.toContain("a fault in tickets itself");
  expect(exitCode).toBe(0);
});

/** Runs before the program: whenever it begins a thread, `act` comes first. */
const beforeThread = (act: string): readonly string[] => [
  "--import",
  `data:text/javascript,${encodeURIComponent(`
    import fs from "node:fs";
    import threads from "node:worker_threads";
    import { syncBuiltinESMExports } from "node:module";
    const { Worker } = threads;
    threads.Worker = class extends Worker {
      constructor(...args) {
        ${act}
      }
    };
    syncBuiltinESMExports();
  `)}`,
];

test("is not used when it was replaced between its header and its rows", async () => {
  const place = openWorkplace();
  place.write("sales.csv", `${HEADER}${sales(8500)}`);
  place.write("other.csv", `${HEADER}${sales(8600)}`);
  const nodeArgs = beforeThread('fs.renameSync("other.csv", "sales.csv"); super(...args);');
  const { exitCode, stderr } = await place.tickets(["validate", "sales.csv", "--action", "soldTicket"], { nodeArgs });
  expect(stderr).toMatch(/^error: sales\.csv is still being written: it was replaced while it was read/m);
  expect(exitCode).toBe(2);
});

test("does not keep the command waiting when its thread ends without a word", async () => {
  const place = openWorkplace();
  place.write("sales.csv", `${HEADER}${sales(8500)}`);
  const nodeArgs = beforeThread("super(...args); void this.terminate();");
  const { exitCode, stderr } = await place.tickets(["validate", "sales.csv", "--action", "soldTicket"], { nodeArgs });
  expect(stderr).toContain("A thread ended before its file did.");
  expect(exitCode).toBe(1);
});
