/** What is said of an input as a whole: that it holds nothing, or that its last line may be cut off. */

import type { Finding } from "../../actions/problem.ts";
import type { Input } from "./input.ts";
import type { InputRule } from "./rules.ts";

export type ContentFinding = Finding & { readonly rule: InputRule; readonly line: number };

/**
 * @param input read to its end.
 * @param rows how many rows it gave.
 * @param allowEmpty whether a file of 0 bytes may be a table or a payload without rows.
 */
export function findingsOfContent(input: Input, rows: number, allowEmpty: boolean): readonly ContentFinding[] {
  const { file, format, bytesRead } = input;
  // Nothing to pack gives more than nothing.
  const isPackedNothing = file.compression !== "none" && bytesRead === 0;
  const isQuiet = file.path === "-" || (format === "ndjson" && !isPackedNothing);
  if (input.isEmpty && !isQuiet && !allowEmpty) {
    const message = bytesRead === 0 ? "The file is empty: 0 bytes." : "The file is empty: it holds nothing but blanks.";
    const hint = `${format === "json" ? "A payload without actions is []." : "A table without rows has its header."} Did the export fail? If an empty file is right, say --allow-empty.`;
    return [{ rule: "input-empty", line: 1, message, hint }];
  }
  if (rows === 0)
    return [{ rule: "input-no-rows", line: 1, message: "The input has no rows: there is nothing to send." }];
  return findingsOfEnd(input);
}

export function findingsOfEnd({ unendedLine }: Input): readonly ContentFinding[] {
  if (unendedLine === undefined) return [];
  const message = "The last line has no line end, so it may be cut off.";
  const hint = "Compare it with the system that wrote it. A whole export ends its last line too.";
  return [{ rule: "last-line-unended", line: unendedLine, message, hint }];
}
