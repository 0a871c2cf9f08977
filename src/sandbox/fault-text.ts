/** Fault scripts as files. */

import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { Failure } from "../failure.ts";
import { badScript, type FaultScript, parseFaultScript } from "./faults.ts";

/**
 * Reads a fault script from YAML or JSON text.
 *
 * @param place The file's name, for the error.
 * @throws Failure `usage` with every fault of the script, each with its line and column.
 */
export function parseFaultText(text: string, place: string): FaultScript {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number | undefined): string => {
    const { line, col } = lines.linePos(offset ?? 0);
    return `${line}:${col} `;
  };
  if (document.errors.length > 0)
    throw badScript(
      place,
      document.errors.map((error) => `${at(error.pos[0])}${error.message}`),
    );
  const whereOf = (path: readonly PropertyKey[]): string => {
    for (let length = path.length; length > 0; length -= 1) {
      const node: unknown = document.getIn(path.slice(0, length), true);
      if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range))
        return at(node.range[0]);
    }
    return "1:1 ";
  };
  return parseFaultScript(document.toJS({ maxAliasCount: 100 }), place, whereOf);
}

/** @throws Failure `usage` for a file that can't be read, or is no fault script. */
export function readFaultFile(file: string): FaultScript {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new Failure("usage", `Could not read the fault script ${file}.`, {
      hint: "A relative path begins in the folder that the command runs in.",
      cause,
    });
  }
  return parseFaultText(text, file);
}
