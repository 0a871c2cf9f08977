import type { OutputText } from "../../src/outputs/output-file.ts";

/** What an output file gets, as text. */
export function outputText(given: OutputText | undefined): string | undefined {
  return given === undefined || typeof given === "string" ? given : Buffer.from(given.bytes).toString("utf8");
}
