/** Items of the list of actions, and those that may follow a sale: the ticket is void, or was let in. */

import type { ActionName } from "../actions/actions.ts";
import type { ColumnProfile } from "./column-profile.ts";
import { statusWords } from "./conditions.ts";
import { type Comment, type Entry, flow, type Line, switchedOff, type Value } from "./config-text.ts";
import { tellsLoss } from "./header-words.ts";
import type { Deciding } from "./status-columns.ts";
import { isTime } from "./time-evidence.ts";
import { timeRule } from "./time-rules.ts";
import { ask, valuesTold } from "./words.ts";

/** Where the notes of actions begin, so that they stand below each other. */
const FIRST_NOTE = 33;
export const OTHER_NOTE = 35;

/** An item of the list of actions. */
export function actionItem(
  key: ActionName,
  note: string,
  when: readonly Line[],
  fields: readonly Line[],
  noteAt = FIRST_NOTE,
): Value {
  const block = [...when, ...(fields.length === 0 ? [] : [{ key: "fields", value: { block: fields } }])];
  return { block: [{ key, value: { block }, note, noteAt }] };
}

/**
 * Rows of sales that call a ticket void were sales before.
 *
 * @param ticket - the rules of its ticket, where the source has none for all actions.
 */
export function invalidationItems(
  { statuses, marks, rows }: Deciding,
  columns: readonly ColumnProfile[],
  ticket: readonly Entry[],
): readonly Value[] {
  const gone = statuses.map((column) => ({ column, values: statusWords(column).gone }));
  const isTold = (cells: readonly string[]): boolean =>
    gone.some(({ column, values }) => values.includes((cells[column.index] ?? "").trim()));
  const maps = [
    ...gone.flatMap(({ column: { name }, values }) => {
      if (values.length > 0) return [flow({ [name]: values })];
      const asked = "the value that says that a ticket is no longer valid; remove this where none does";
      return tellsLoss(name) ? [flow({ [name]: ask(asked) })] : [];
    }),
    ...marks
      .filter(({ index }) => !rows.every((cells) => (cells[index] ?? "").trim() === "" || isTold(cells)))
      .map((column) => {
        const says = isTime(column)
          ? "{empty: false} where a time here says"
          : "what says, such as {empty: false} or {not: 0.00},";
        return flow({ [column.name]: ask(`${says} that the ticket is no longer valid; else remove this`) });
      }),
  ];
  const [only, ...more] = maps;
  if (only === undefined) return [];
  const time = marks.find(isTime);
  const isGuess = gone.some(({ values }) => values.length > 0);
  return [
    actionItem(
      "invalidatedTicket",
      isGuess ? "guess: what these values mean" : "remove it where nothing says that a ticket is no longer valid",
      [{ key: "when", value: more.length === 0 ? only : { items: maps } }],
      [...ticket, ...(time === undefined ? [] : [timeRule(time, columns)])],
      OTHER_NOTE,
    ),
  ];
}

/** The file does not say whether an entry is a scan or the end of a ticket's life, so it becomes a comment. */
export function entryOffered(
  { statuses: [status], entries }: Deciding,
  columns: readonly ColumnProfile[],
  ticket: readonly Entry[],
): readonly Comment[] {
  const { in: values } = statusWords(status);
  const time = entries.find(isTime);
  const flag = entries.find((column) => !isTime(column));
  const when =
    status !== undefined && values.length > 0
      ? flow({ [status.name]: values })
      : flag !== undefined
        ? flow({ [flag.name]: WHATEVER })
        : time === undefined
          ? undefined
          : flow({ [time.name]: flow({ empty: "false" }) });
  if (when === undefined) return [];
  const fields = [...ticket, ...(time === undefined ? [] : [timeRule(time, columns)])];
  const item = {
    key: "checkedInTicket",
    value: {
      block: [
        { key: "when", value: when },
        ...(fields.length === 0 ? [] : [{ key: "fields", value: { block: fields } }]),
      ],
    },
  };
  return [
    { comment: "# Optional: checkedInTicket ends a ticket's life, scannedTicket is for tickets that may come again." },
    ...(flag === undefined ? [] : [valuesTold(flag)]),
    ...switchedOff({ items: [{ block: [item] }] }),
  ];
}

/** Stands for a value in a comment. */
export const WHATEVER: Value = { plain: "…" };
