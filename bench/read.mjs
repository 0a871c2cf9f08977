// csv-parse reading a file into objects, and nothing else: `node read.mjs <file> [delimiter]`.

import { createReadStream } from "node:fs";
import { parse } from "csv-parse";

let rows = 0;
for await (const row of createReadStream(process.argv[2]).pipe(
  parse({ columns: true, bom: true, delimiter: process.argv[3] ?? "," }),
)) {
  if (row.ticketId !== "") rows += 1;
}
process.stderr.write(`${rows}\n`);
