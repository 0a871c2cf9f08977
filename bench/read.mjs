// Reads a file into objects, and nothing else: `node read.mjs <file> [delimiter]`. Tables by csv-parse, JSON lines by JSON.parse.

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parse } from "csv-parse";

const [path, delimiter = ","] = process.argv.slice(2);
const file = createReadStream(path);

let fields = 0;
if (path.endsWith(".ndjson"))
  for await (const line of createInterface({ input: file })) fields += Object.keys(JSON.parse(line)).length;
else for await (const row of file.pipe(parse({ columns: true, bom: true, delimiter }))) fields += row === null ? 0 : 1;
process.stderr.write(`${fields}\n`);
