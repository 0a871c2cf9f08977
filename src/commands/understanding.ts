/** How an input is read, in one line: what it becomes, what is left out and what will be public. */

import { isFieldName } from "../actions/fields.ts";
import { cleanText, quoted } from "../actions/text.ts";
import { publicName } from "../mapping/columns.ts";
import type { PublicValues } from "../plan/public-values.ts";
import type { UnderstoodInput } from "../run/progress.ts";
/** `sales.csv → soldTicket by file name, 12 columns, 9 used, not used: seat, public: name ("Row A, seat 12"), price` */
export function describeUnderstanding({ file, understanding, input, values }: UnderstoodInput): readonly string[] {
  const { action, how, columns, used, unused, publicFields, notes } = understanding;
  const parts = [
    `${file.path === "-" ? "standard input" : cleanText(file.name, 200)} → ${action === undefined ? "actions" : action} ${how.startsWith("--") ? `by ${how}` : how}`,
  ];
  if (input.header !== undefined) {
    parts.push(`${columns} columns, ${used.length} used`);
    const { headerLine = 1 } = input;
    if (headerLine > 1) parts.push(`header in line ${headerLine}`);
    if (input.delimiter !== undefined && input.delimiter !== "," && input.format === "csv")
      parts.push(`delimiter ${input.delimiter === "\t" ? "TAB" : input.delimiter}`);
  } else if (input.bytesRead === 0) parts.push("empty");
  if (input.encoding !== "utf-8") parts.push(`encoding ${input.encoding}`);
  if (unused.length > 0) parts.push(`not used: ${listOf(unused)}`);
  const ofItems = [...values.fields].flatMap((field) => publicName(field) ?? []);
  const published = [...new Set([...publicFields, ...ofItems])];
  if (published.length > 0)
    parts.push(`public: ${published.map((name) => `${name}${exampleOf(name, values)}`).join(", ")}`);
  return [parts.join(", "), ...notes.map((note) => `  ${note}.`)];
}

/** ` ("Anna Schmidt")`: what a person would not have sent is seen by its first value. */
function exampleOf(name: string, { texts, traits }: PublicValues): string {
  if (name === "metadataAttributes" && traits.size > 0)
    return ` (${[...traits].map(([trait, text]) => `${cleanText(trait, 40)} ${quoted(text)}`).join(", ")})`;
  const text = isFieldName(name) ? texts.get(name) : undefined;
  return text === undefined ? "" : ` (${quoted(text)})`;
}

function listOf(names: readonly string[]): string {
  const clean = names.slice(0, 12).map((name) => cleanText(name, 40));
  return clean.join(" · ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
}
