// JSON.parse of every line of a file, and nothing else: `node parse.mjs <file>`.

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

let rows = 0;
for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  if (JSON.parse(line).ticketId !== "") rows += 1;
}
process.stderr.write(`${rows}\n`);
