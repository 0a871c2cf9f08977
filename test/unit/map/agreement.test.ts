/** Client and sandbox, CSV and NDJSON: whatever way an action goes, it stays the same action, or is refused for the same rule. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { Action } from "../../../src/actions/actions.ts";
import { FIELD_NAMES } from "../../../src/actions/fields.ts";
import { parseJson } from "../../../src/actions/json.ts";
import type { InputFormat } from "../../../src/read/file-names.ts";
import { openInput } from "../../../src/read/input.ts";
import type { ActionRule } from "../../../src/rules.ts";
import { openEngine } from "../../../src/sandbox/engine.ts";
import { startSandbox } from "../../../src/sandbox/server.ts";
import { actionArbitrary, historyArbitrary, type Mutant, mutate, mutatedRules } from "../../support/arbitraries.ts";
import { openFolder } from "../../support/folder.ts";
import { send } from "../../support/requests.ts";
import { validateFiles } from "../../support/validating.ts";
import { createMapper } from "./shown.ts";

let folder: string;

beforeEach(() => {
  folder = openFolder();
});

/** What the reader and the mapper make of a file without any config. */
async function readActions(name: string, format: InputFormat, text: string): Promise<readonly Action[]> {
  const path = join(folder, name);
  writeFileSync(path, text);
  await using input = await openInput({ path, name, format, compression: "none" });
  const mapper = createMapper({ fileName: name, ...(input.header !== undefined && { header: input.header }) });
  const actions: Action[] = [];
  for await (const batch of input.batches()) {
    for (const row of batch) {
      const mapped = mapper.map(row);
      if (mapped.kind !== "actions") throw new Error(`line ${row.line} is ${JSON.stringify(mapped)}`);
      actions.push(...mapped.actions);
    }
  }
  return actions;
}

/** The action as text, fields by name; metadataAttributes as a list, which its JSON text may stand for. */
function normal({ action, data }: Action): string {
  const fields = Object.entries(data)
    .map(
      ([name, value]) =>
        [name, name === "metadataAttributes" && typeof value === "string" ? parseJson(value) : value] as const,
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ action, data: Object.fromEntries(fields) });
}

const cellOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** How a program may write CSV. */
const DIALECT = fc.record({
  delimiter: fc.constantFrom(",", ";", "\t", "|"),
  lineEnd: fc.constantFrom("\n", "\r\n"),
  quoted: fc.boolean(),
  mark: fc.constantFrom("", "\ufeff"),
  columns: fc.shuffledSubarray([...FIELD_NAMES], { minLength: FIELD_NAMES.length }),
});

type Dialect = typeof DIALECT extends fc.Arbitrary<infer T> ? T : never;

function toCsv(actions: readonly Action[], { delimiter, lineEnd, quoted, mark, columns }: Dialect): string {
  const rows = actions.map(({ action, data }) => [action, ...columns.map((name) => cellOf(data[name]))]);
  return mark + stringify([["action", ...columns], ...rows], { delimiter, quoted, record_delimiter: lineEnd });
}

const toNdjson = (items: readonly unknown[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join("");
const toPayload = (items: readonly unknown[]): string =>
  `[\n${items.map((item) => JSON.stringify(item)).join(",\n")}\n]`;

/** Places as tables hold them: in plain decimals, which few numbers of a random exponent are. */
function inDecimals({ action, data }: Action): Action {
  const rounded = (["latitude", "longitude"] as const).flatMap((name) => {
    const degrees = data[name];
    return typeof degrees === "number" ? [[name, Number(degrees.toFixed(6)) || 0] as const] : [];
  });
  return { action, data: { ...data, ...Object.fromEntries(rounded) } };
}

const ACTIONS_OF_CELLS = fc.array(actionArbitrary({ forCells: true }).map(inDecimals), {
  minLength: 1,
  maxLength: 12,
});
const ACTIONS = fc.array(actionArbitrary(), { minLength: 1, maxLength: 12 });

describe("random actions from the tables come back as they went out", () => {
  test("through CSV, however it is written", async () => {
    await fc.assert(
      fc.asyncProperty(ACTIONS_OF_CELLS, DIALECT, async (actions, dialect) => {
        const read = await readActions("actions.csv", "csv", toCsv(actions, dialect));
        expect(read.map(normal)).toEqual(actions.map(normal));
      }),
      { numRuns: 100 },
    );
  });

  test("through NDJSON of {action, data}, to the last digit and the order of keys", { tags: ["long"] }, async () => {
    await fc.assert(
      fc.asyncProperty(ACTIONS, async (actions) => {
        const text = toNdjson(actions);
        expect(toNdjson(await readActions("actions.ndjson", "ndjson", text))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  test("through NDJSON of flat rows", async () => {
    await fc.assert(
      fc.asyncProperty(ACTIONS_OF_CELLS, async (actions) => {
        const rows = actions.map(({ action, data }) => ({ action, ...data }));
        const read = await readActions("rows.ndjson", "ndjson", toNdjson(rows));
        expect(read.map(normal)).toEqual(actions.map(normal));
      }),
      { numRuns: 200 },
    );
  });
});

async function openSandbox() {
  const engine = openEngine({ path: ":memory:" });
  const sandbox = await startSandbox({ engine });
  return {
    engine,
    post: async (body: string) => {
      const headers = { "X-Api-Key": sandbox.apiKey, "Content-Type": "application/json" };
      const answer = await send(`${sandbox.url}/stream`, { method: "POST", headers, body });
      expect(answer.status).toBe(200);
      return JSON.parse(answer.text).data as readonly { status: string; error?: { rule?: string } }[]; // as docs/reference.md#the-sandbox says
    },
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      engine.close();
    },
  };
}

test("a history through CSV, through NDJSON and over the wire is one history to the sandbox", {
  tags: ["long"],
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      historyArbitrary({ forCells: true, byNftId: true, maxLength: 30 }).map((history) => history.map(inDecimals)),
      DIALECT,
      async (history, dialect) => {
        const fromCsv = await readActions("history.csv", "csv", toCsv(history, dialect));
        const fromNdjson = await readActions("history.ndjson", "ndjson", toNdjson(history));
        const records: (readonly string[])[] = [];
        for (const actions of [history, fromCsv, fromNdjson]) {
          await using sandbox = await openSandbox();
          const results = await sandbox.post(toPayload(actions));
          expect(results.filter(({ status }) => status !== "success")).toEqual([]);
          records.push(
            [...sandbox.engine.processed()].map(
              ({ action, data }) => normal({ action, data: parseJson(data) } as Action), // as it was sent
            ),
          );
        }
        expect(records).toEqual(Array(3).fill(history.map(normal)));
      },
    ),
    { numRuns: 40 },
  );
});

/** An item of a list that is no object is no row, so the client's reader refuses it before there is an item to check. */
const ruleInFile = ({ item, rule }: Mutant): string =>
  typeof item !== "object" || item === null || Array.isArray(item) ? "json-not-object" : rule;

test("a mutated action is refused by validate, in NDJSON and in a request body, and by the sandbox, for the same rule", {
  tags: ["long"],
}, async () => {
  await using sandbox = await openSandbox();
  const seen = new Set<ActionRule>();
  const mutants = fc.array(
    actionArbitrary().chain((action) => mutate(action)),
    { minLength: 30, maxLength: 60, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(mutants, async (broken) => {
      const items = broken.map(({ item }) => item);
      const refused = await sandbox.post(toPayload(items));
      expect(refused.map(({ status, error }) => `${status} ${error?.rule}`)).toEqual(
        broken.map(({ rule }) => `error ${rule}`),
      );
      writeFileSync(join(folder, "broken.ndjson"), toNdjson(items));
      writeFileSync(join(folder, "broken.json"), toPayload(items));
      for (const [name, first] of [
        ["broken.ndjson", 1],
        ["broken.json", 0],
      ] as const) {
        const { exitCode, rows, problems } = await validateFiles([name], { cwd: folder });
        expect(exitCode).toBe(3);
        expect(rows).toEqual({ read: items.length, mapped: 0, skipped: 0, invalid: items.length, held: 0 });
        for (const [at, mutant] of broken.entries()) {
          const errors = problems.filter(({ line, severity }) => line === first + at && severity === "error");
          const rules = new Set(errors.map(({ rule }) => rule));
          // A row may also depend on one of the broken rows before it.
          rules.delete("depends-on-invalid");
          expect([...rules], JSON.stringify(mutant.item)).toEqual([ruleInFile(mutant)]);
        }
      }
      for (const { rule } of broken) seen.add(rule);
    }),
    { numRuns: 40, endOnFailure: true },
  );
  expect(mutatedRules().filter((rule) => !seen.has(rule))).toEqual([]);
  expect(sandbox.engine.counts()).toMatchObject({ events: 0, tickets: 0, accepted: 0 });
});
