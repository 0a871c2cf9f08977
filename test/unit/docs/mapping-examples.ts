/** The examples of docs/mapping.md and docs/recipes/: found by their fences, run as a user would run them. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../src/failure.ts";
import { makeContext, verbs } from "../../support/context.ts";
import { type Block, blocksOf } from "../../support/docs/blocks.ts";
import { openFolder } from "../../support/folder.ts";
import { checkItem } from "../check/check-item.ts";
import { mapText } from "../map/samples.ts";
import type { Mapped } from "../map/shown.ts";

/** A config, its files, and what `tickets plan` answers for the first of them. */
export interface WholeExample {
  readonly line: number;
  readonly config: string;
  readonly files: readonly Block[];
  readonly expected: Block;
}

/** One rule, and comments that say what it gives: `# Column = text | Column = text → value`. */
export interface RuleExample {
  readonly line: number;
  readonly rule: string;
  readonly cells: readonly (readonly [string, string])[];
  readonly gives: string;
}

/** Every block belongs to one example; what is left over throws. Files stand before their config or behind it. */
export function examplesOf(markdown: string): {
  readonly whole: readonly WholeExample[];
  readonly rules: readonly RuleExample[];
} {
  const whole: WholeExample[] = [];
  const rules: RuleExample[] = [];
  const blocks = [...blocksOf(markdown)];
  const takeFiles = (): readonly Block[] => {
    const end = blocks.findIndex(({ language }) => !["csv", "json"].includes(language));
    return blocks.splice(0, end === -1 ? blocks.length : end);
  };
  while (blocks.length > 0) {
    const above = takeFiles();
    const config = blocks.shift();
    if (config?.language !== "yaml") throw new Error(`line ${config?.line ?? "last"}: a block that no example uses`);
    if (!/^sources:/m.test(config.text)) {
      if (above.length > 0) throw new Error(`line ${config.line}: files of a rule`);
      rules.push(...rulesOf(config));
      continue;
    }
    const files = [...above, ...takeFiles()];
    const expected = blocks.shift();
    if (files.length === 0 || expected === undefined || !["ndjson", "text"].includes(expected.language))
      throw new Error(`line ${config.line}: an example needs files, and then what they give`);
    whole.push({ line: config.line, config: config.text, files, expected });
  }
  return { whole, rules };
}

function rulesOf({ line, text }: Block): readonly RuleExample[] {
  const lines = text.trimEnd().split("\n");
  const reported = lines.filter((each) => each.startsWith("# "));
  if (reported.length === 0) throw new Error(`line ${line}: the rule does not say what it gives`);
  const rule = lines.filter((each) => !each.startsWith("# ")).join("\n");
  return reported.map((each) => {
    const [, cells = "", gives = ""] = /^# (.*?) ?→ (.*)$/.exec(each) ?? [];
    return { line, rule, gives, cells: cells === "" ? [] : cells.split(" | ").map(cellOf) };
  });
}

function cellOf(text: string): readonly [string, string] {
  const [, name = "", value = ""] = /^(.*?) =(?: (.*))?$/.exec(text) ?? [];
  return [name, value];
}

/** What a rule gives for one row, as the docs write it. */
export function runRule({ rule, cells }: RuleExample): string {
  const field = /^(\w+):/.exec(rule)?.[1] ?? "";
  const header = [...cells.map(([name]) => name), "Other"];
  const values = [...cells.map(([, value]) => value), "x"];
  const quoted = (texts: readonly string[]): string => texts.map((each) => `"${each.replaceAll('"', '""')}"`).join(",");
  const csv = `${quoted(header)}\n${quoted(values)}\n`;
  const [mapped] = mapText(field === "when" ? whenSource(rule) : fieldSource(field, rule), csv).mapped;
  if (mapped === undefined) throw new Error("no row");
  return field === "when" ? whenText(mapped) : fieldText(mapped, field);
}

/** After every time of the page. */
const LATER = 1_800_000_000;

const whenSource = (rule: string): string => `actions:
  - scannedTicket:
      ${rule.replaceAll("\n", "\n      ")}
      fields: {ticketId: t}
`;

function fieldSource(field: string, rule: string): string {
  const constants = ["eventId: e", "ticketId: t", "userId: u", 'price: "1"'];
  const others = constants.filter((each) => !each.startsWith(`${field}:`));
  return `actions:
  - soldTicket:
      fields:
        ${[...others, rule.replaceAll("\n", "\n        ")].join("\n        ")}
`;
}

function whenText(mapped: Mapped): string {
  return mapped.kind === "skipped" ? `skipped: ${mapped.reason}` : mapped.kind === "actions" ? "an action" : "invalid";
}

function fieldText(mapped: Mapped, field: string): string {
  if (mapped.kind === "skipped") return `skipped: ${mapped.reason}`;
  if (mapped.kind === "invalid") return mapped.problems.map(({ rule }) => rule).join(" ");
  const value: unknown = Reflect.get(mapped.actions[0]?.data ?? {}, field);
  // What nothing was declared for is checked by the next step.
  const fault = mapped.actions.flatMap((action) => checkItem(action, LATER)).find((each) => each.field === field);
  if (value !== undefined && fault !== undefined) return fault.rule;
  return value === undefined ? "(nothing)" : typeof value === "string" ? value : JSON.stringify(value);
}

/** What `tickets plan` writes for the first file of an example, in a folder of its own, and what it says is wrong. */
export async function runWhole({
  config,
  files,
}: {
  readonly config: string;
  readonly files: readonly { readonly name: string; readonly text: string | Buffer }[];
}): Promise<{ readonly out: string; readonly said: readonly string[] }> {
  const folder = openFolder();
  writeFileSync(join(folder, "tickets.config.yaml"), config);
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  const { context, said, out } = makeContext(folder, {});
  const nothing = (): void => {};
  const quiet = { info: nothing, warn: nothing, warnAgain: nothing };
  const { error } = context.reporter;
  const reporter = { ...context.reporter, ...quiet, notice: nothing, detail: nothing, found: { ...quiet, error } };
  const command = { files: [files[0]?.name ?? ""], order: "input" } as const;
  await verbs.plan(command, { ...context, reporter }).catch((cause: unknown) => {
    if (!(cause instanceof Failure)) throw cause;
    error(cause.message);
    if (cause.hint !== undefined) error(cause.hint);
  });
  return { out: out(), said: said() === "" ? [] : said().split("\n") };
}
