/** Lines of a log, judged by the schema that is published. */

import { expect } from "vitest";
import { LOG_EVENTS, LOG_FIELDS, type LogEventName } from "../../src/commands/log-events.ts";

export type Line = Readonly<Record<string, unknown>> & { readonly event: LogEventName };

const isEvent = (name: unknown): name is LogEventName => typeof name === "string" && Object.hasOwn(LOG_EVENTS, name);

/** Each line a JSON object with the fields of its event and no others; throws otherwise. */
export function linesOf(log: string): readonly Line[] {
  return log
    .replace(/\n$/, "")
    .split("\n")
    .map((text) => {
      const line = JSON.parse(text) as Readonly<Record<string, unknown>>; // judged below
      const { event } = line;
      if (!isEvent(event)) throw new Error(`an event that is not in the table: ${text}`);
      const own: readonly string[] = LOG_EVENTS[event].fields;
      const known = ["time", "event", "level", "message", "environment", "run", ...own];
      expect(Object.keys(line).filter((field) => !known.includes(field))).toEqual([]);
      for (const field of ["time", "level", "message"]) expect(line[field]).toEqual(expect.any(String));
      for (const field of own) {
        const { type } = LOG_FIELDS[field as keyof typeof LOG_FIELDS]; // the table names only such
        const wanted = { string: String, integer: Number, boolean: Boolean, counts: Object }[type];
        if (line[field] !== undefined) expect(line[field]).toEqual(expect.any(wanted));
      }
      return { ...line, event };
    });
}
