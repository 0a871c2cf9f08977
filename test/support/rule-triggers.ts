/** An input for every rule that breaks it, and a field in which a command reads it. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type Field, openField } from "./context.ts";

const BAD = fileURLToPath(new URL("../../fixtures/bad/", import.meta.url));

/** An input that breaks a rule. */
interface Trigger {
  /** Texts by file name, all of them read in this order. */
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** The `sources` of the config, as YAML of one source called `s`. */
  readonly source?: string;
  /** Other files that the source looks into. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Done before, while the rule is as it is by default. */
  readonly before?: (field: Field, names: readonly string[]) => Promise<void>;
  /** It may have been accepted: nothing of it is sent, whatever the config makes of the rule, and all of it is counted so. */
  readonly held?: Readonly<Record<"alreadySent" | "changed" | "late" | "unclear", number>>;
}

const scans = 'actions: [scannedTicket: {fields: {ticketId: "{T}", orderTime: "{At}"}}]';
const table = (source: string, csv: string): Trigger => ({ source: `match: "x*"\n${source}`, files: { "x.csv": csv } });
const rows = (source: string, ndjson: string): Trigger => ({
  source: `match: "x*"\n${source}`,
  files: { "x.ndjson": ndjson },
});
const SCAN = '{"action":"scannedTicket","data":{"ticketId":"T","orderTime":1781280000}}';
const NEW_EVENT = '{"action":"newEvent","data":{"eventId":"E","currency":"EUR"}}';
const SOLD =
  '{"action":"soldTicket","data":{"eventId":"E","ticketId":"T-1","userId":"u","price":"1","orderTime":1781280000}}';

export const TRIGGERS: Readonly<Record<string, Trigger>> = {
  "payload-too-long": { files: { "p.json": `[${new Array(5001).fill(SCAN).join(",\n")}]\n` } },
  "row-too-long": { files: { "scans.ndjson": `{"ticketId":"${"x".repeat(1_100_000)}"}\n` } },
  "input-empty": { files: { "scans.csv": "" } },
  "input-no-rows": { files: { "scans.csv": "ticketId,orderTime\n" } },
  "looks-like-utf8": table(`csv: {encoding: latin1}\n${scans}`, "T,At\nGärten,1781280000\n"),
  "last-line-unended": { files: { "scans.csv": "ticketId,orderTime\nT,1781280000" } },
  "rows-uneven": { files: { "scans.csv": "ticketId,orderTime\nT-1,1781280000,\nT-2,1781280001,\n" } },
  "action-conflict": table("action: scannedTicket", "action,ticketId,orderTime\nsoldTicket,T-1,1781280000\n"),
  "time-skipped": table(`zone: Europe/Berlin\n${scans}`, "T,At\nT-1,2026-03-29T02:30:00\n"),
  "value-looks-constant": table(
    "actions: [checkedInTicket: {fields: {ticketId: T}}]",
    "T,At\nT-1,1781280000\nT-2,1781280001\nT-3,1781280002\n",
  ),
  "value-unknown": table(
    'actions: [scannedTicket: {fields: {ticketId: {from: "{T}", map: {a: b}}}}]',
    "T,At\nT-1,1781280000\n",
  ),
  "value-unexpected": table(`expect: {Currency: EUR}\n${scans}`, "T,At,Currency\nT-1,1781280000,USD\n"),
  "amount-not-divisible": table(
    'actions: [resoldTicket: {fields: {ticketId: "{T}", userId: u, price: {from: "{P}", divide: "{Q}"}}}]',
    "T,P,Q\nT-1,10.00,3\n",
  ),
  "fill-down-empty": table(`fillDown: [At]\n${scans}`, "T,At\nT-1,\nT-2,1781280000\n"),
  "each-unreadable": table(`each: {count: "{Q}"}\n${scans}`, "T,At,Q\nT-1,1781280000,two\n"),
  "each-empty": rows(
    'actions: [scannedTicket: {when: {s: in}, each: {path: codes}, fields: {ticketId: "{item}"}}]',
    '{"s":"in","codes":["T-1"]}\n{"s":"in","codes":[]}\n',
  ),
  "list-missing": rows(
    'each: {path: codes}\nactions: [scannedTicket: {fields: {ticketId: "{item.id}"}}]',
    '{"codes":[{"id":"T-1"}]}\n{"id":1}\n',
  ),
  "key-missing": rows(scans, '{"T":"T-1"}\n'),
  "lookup-missing": {
    ...table(
      'lookup: {o: {file: orders.csv, where: {Ref: "{R}"}}}\nactions: [scannedTicket: {fields: {ticketId: "{o.T}"}}]',
      "R\n2\n",
    ),
    beside: { "orders.csv": "Ref,T\n1,T-1\n" },
  },
  "lookup-ambiguous": {
    ...table(
      'lookup: {o: {file: orders.csv, where: {Ref: "{R}"}}}\nactions: [scannedTicket: {fields: {ticketId: "{o.T}"}}]',
      "R\n1\n",
    ),
    beside: { "orders.csv": "Ref,T\n1,T-1\n1,T-2\n" },
  },
  "value-not-named": table(
    'actions: [checkedInTicket: {when: {In: "yes"}, fields: {ticketId: "{T}"}}]',
    "T,In\nT-1,yes\nT-2,ja\n",
  ),
  "event-described-differently": table(
    'actions: [newEvent: {fields: {eventId: "{E}", currency: EUR, eventName: "{N}"}}]',
    "E,N\ne,Gala\ne,Gala 2026\n",
  ),
  "column-by-position": table(
    'columns: {ticket: 1}\nactions: [scannedTicket: {fields: {ticketId: "{ticket}", orderTime: "{At}"}}]',
    "T,At\nT-1,1781280000\n",
  ),
  "nothing-mapped": table(
    'actions: [checkedInTicket: {when: {In: "yes"}, fields: {ticketId: "{T}"}}]',
    "T,In\nT-1,oui\n",
  ),
  "key-empty": table(`key: "{K}"\n${scans}`, "T,At,K\nT-1,1781280000,\n"),
  changed: {
    files: { "sales.ndjson": `${SOLD.replace('"price":"1"', '"price":"2"')}\n` },
    before: (field) => accept(field, NEW_EVENT, SOLD),
    held: { alreadySent: 0, changed: 1, late: 0, unclear: 0 },
  },
  late: {
    files: { "updates.ndjson": `${update("a")}\n${update("b")}\n${update("c")}\n` },
    before: (field) => accept(field, NEW_EVENT, SOLD, update("a"), update("c")),
    held: { alreadySent: 2, changed: 0, late: 1, unclear: 0 },
  },
  unclear: {
    files: { "updates.ndjson": `${update("a")}\n` },
    before: (field) => accept(field, NEW_EVENT, SOLD, update("a"), update("b")),
    held: { alreadySent: 0, changed: 0, late: 0, unclear: 1 },
  },
  "mapping-changed": {
    ...table('actions: [newEvent: {fields: {eventId: "{E}-{T}", currency: EUR}}]', "E,T\nE,1\n"),
    before: async (field, names) => {
      await field.edit("tickets.config.yaml", "{E}-{T}", "{E}");
      expect((await field.stream(names)).summary?.actions).toMatchObject({ accepted: 1 });
    },
  },
  "nothing-recognised": {
    ...table('actions: [newEvent: {fields: {eventId: "{E}", currency: EUR}}]', nightOf("B")),
    before: async (field) => {
      await field.write("x-before.csv", nightOf("A"));
      const nights = [await field.stream(["x-before.csv"]), await field.stream(["x-before.csv"])];
      nights.push(await field.stream(["x-before.csv"]));
      expect(nights.map(({ summary }) => summary?.actions.alreadySent)).toEqual([0, 50, 50]);
    },
  },
};

function nightOf(series: string): string {
  return `E\n${Array.from({ length: 50 }, (_, at) => `${series}-${at}\n`).join("")}`;
}

function update(name: string): string {
  return JSON.stringify({
    action: "updateTicket",
    data: { ticketId: "T-1", imageUrl: `https://img.example.com/${name}.png` },
  });
}

/** What the service has accepted before. */
async function accept(field: Field, ...actions: readonly string[]): Promise<void> {
  await field.write("before.ndjson", `${actions.join("\n")}\n`);
  const { said, summary } = await field.stream(["before.ndjson"]);
  expect(summary?.actions, said).toMatchObject({ accepted: actions.length });
}

interface Bad {
  readonly file: string;
  readonly args?: readonly string[];
  readonly before?: readonly string[];
  readonly rule?: string;
}

/** What the bad files show: the first of each rule that needs no flag. */
export const SHOWN = new Map<string, Trigger>(
  (JSON.parse(readFileSync(join(BAD, "expected.json"), "utf8")) as readonly Bad[]) // a file of this repository
    .filter(({ args, rule }) => args === undefined && rule !== undefined)
    .toReversed()
    .map(({ file, before = [], rule = "" }) => [
      rule,
      { files: Object.fromEntries([...before, file].map((name) => [name, readFileSync(join(BAD, name))])) },
    ]),
);

/** Throws where nothing shows the rule. */
export function triggerOf(rule: string): Trigger {
  const trigger = TRIGGERS[rule] ?? SHOWN.get(rule);
  if (trigger === undefined) throw new Error(`nothing shows the rule ${rule}: add a bad file, or a trigger`);
  return trigger;
}

/** `config` comes behind the sources of the trigger. */
export async function fieldOf(
  trigger: Trigger,
  config: string,
): Promise<{ readonly field: Field; readonly names: string[] }> {
  const field = await openField();
  for (const [name, text] of Object.entries(trigger.files)) await field.write(name, text);
  for (const [name, text] of Object.entries(trigger.beside ?? {})) await field.write(name, text);
  const names = Object.keys(trigger.files);
  const source = trigger.source === undefined ? "" : `sources:\n  s:\n${trigger.source.replace(/^(?=.)/gm, "    ")}\n`;
  await field.write("tickets.config.yaml", source === "" ? "rules: {}\n" : source);
  await trigger.before?.(field, names);
  await field.write("tickets.config.yaml", `${source}${config}`);
  return { field, names };
}
