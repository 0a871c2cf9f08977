/** A line of a log: one JSON object, without what would steer a terminal. */

import type { LogEvent } from "../commands/log-events.ts";
import { cleanLines, escapeUnseen } from "../text.ts";

export type LogLevel = "info" | "warn" | "error";

/** @param place where the command is by now: environment and run. */
export function logLine(
  level: LogLevel,
  message: string,
  { event, ...fields }: LogEvent,
  place: { readonly environment?: string | undefined; readonly run?: string | undefined } = {},
): string {
  // What to do has a field of its own.
  const hint = "hint" in fields && fields.hint !== undefined ? `\n${fields.hint}` : "";
  const text = cleanLines(message.endsWith(hint) ? message.slice(0, message.length - hint.length) : message);
  const line = { time: new Date().toISOString(), event, level, ...place, ...fields, message: text };
  return `${escapeUnseen(JSON.stringify(line))}\n`;
}
