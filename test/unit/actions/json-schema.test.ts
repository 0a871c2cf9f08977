import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { payloadJsonSchema, promisesJsonSchema } from "../../../scripts/schemas.ts";
import { ACTION_NAMES, type ActionName, acceptedFields, isActionName } from "../../../src/actions/actions.ts";
import { ExactNumber, isJsonObject } from "../../../src/actions/exact-number.ts";
import { parseJson } from "../../../src/actions/json.ts";
import { actionSchemas, type JsonSchema } from "../../../src/actions/schemas.ts";
import { validateItem } from "../../../src/actions/validate.ts";
import { ACTION_RULES, type ActionRule } from "../../../src/rules.ts";
import { actionArbitrary, mutate } from "../../support/arbitraries.ts";

/** As a reader of the schema and of the JSON gets them. */
const written = (value: unknown): unknown => parseJson(JSON.stringify(value));

const TYPES: Record<string, (value: unknown) => boolean> = {
  object: isJsonObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number" || value instanceof ExactNumber,
  integer: (value) => Number.isInteger(value) || (value instanceof ExactNumber && value.isWhole),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

const comparable = (number: unknown): number | bigint =>
  number instanceof ExactNumber && /^\d+$/.test(number.text) ? BigInt(number.text) : Number(number);

type Keyword = (argument: never, value: unknown, schema: JsonSchema) => boolean;

/** As much of draft 2020-12 as the schemas use. A keyword that is not here fails the test that uses it. */
function createValidator(root: JsonSchema): (value: unknown) => boolean {
  const all = (schemas: readonly JsonSchema[], value: unknown): boolean[] =>
    schemas.map((each) => isValid(each, value));
  const properties = (schema: JsonSchema): Record<string, JsonSchema> =>
    (schema.properties ?? {}) as Record<string, JsonSchema>;
  const annotation: Keyword = () => true;
  const KEYWORDS: Record<string, Keyword> = {
    $schema: annotation,
    $defs: annotation,
    title: annotation,
    description: annotation,
    format: annotation,
    contentMediaType: annotation,
    contentSchema: annotation,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: annotation,
    $ref: (ref: string, value) =>
      isValid((root.$defs as Record<string, JsonSchema>)[ref.replace("#/$defs/", "")] ?? { missing: ref }, value),
    type: (types: string | string[], value) => [types].flat().some((type) => TYPES[type]?.(value) === true),
    enum: (values: unknown[], value) => values.includes(value),
    const: (expected, value) => expected === value,
    not: (schema: JsonSchema, value) => !isValid(schema, value),
    allOf: (schemas: JsonSchema[], value) => all(schemas, value).every(Boolean),
    anyOf: (schemas: JsonSchema[], value) => all(schemas, value).some(Boolean),
    oneOf: (schemas: JsonSchema[], value) => all(schemas, value).filter(Boolean).length === 1,
    if: (schema: JsonSchema, value, { then }) => !isValid(schema, value) || isValid(then as JsonSchema, value),
    required: (names: string[], value) => !isJsonObject(value) || names.every((name) => Object.hasOwn(value, name)),
    properties: (schemas: Record<string, JsonSchema>, value) =>
      !isJsonObject(value) ||
      Object.entries(schemas).every(([name, schema]) => !Object.hasOwn(value, name) || isValid(schema, value[name])),
    additionalProperties: (_, value, schema) =>
      !isJsonObject(value) || Object.keys(value).every((name) => Object.hasOwn(properties(schema), name)),
    items: (schema: JsonSchema, value) => !Array.isArray(value) || value.every((item) => isValid(schema, item)),
    maxItems: (most: number, value) => !Array.isArray(value) || value.length <= most,
    minimum: (least: number, value) => TYPES.number?.(value) !== true || comparable(value) >= least,
    maximum: (most: unknown, value) => TYPES.number?.(value) !== true || comparable(value) <= comparable(most),
    minLength: (least: number, value) => typeof value !== "string" || Array.from(value).length >= least,
    maxLength: (most: number, value) => typeof value !== "string" || Array.from(value).length <= most,
    pattern: (source: string, value) => typeof value !== "string" || new RegExp(source, "u").test(value),
  };
  const isValid = (schema: JsonSchema, value: unknown): boolean =>
    Object.entries(schema).every(([keyword, argument]) => {
      const check = KEYWORDS[keyword];
      if (check === undefined) throw new Error(`unknown keyword ${keyword}`);
      return check(argument as never, value, schema);
    });
  return (value) => isValid(root, value);
}

const isAction = (item: unknown): item is { readonly action: ActionName; readonly data: unknown } =>
  isJsonObject(item) && typeof item.action === "string" && isActionName(item.action);

const errorsOf = (item: unknown): readonly string[] =>
  validateItem(item)
    .map(({ rule }) => rule)
    .filter((rule) => ACTION_RULES[rule].severity === "error");

/** A checksum, and JSON in a text: no schema can say all of these. */
const BEYOND_A_SCHEMA: ReadonlySet<ActionRule> = new Set(["wallet-invalid", "metadata-invalid"]);

describe("the schema of a payload", () => {
  const schema = written(payloadJsonSchema()) as JsonSchema;
  const isValid = createValidator(schema);

  it("accepts every action that the tables allow, as the validation does", () => {
    fc.assert(
      fc.property(actionArbitrary(), (action) => {
        expect(isValid([written(action)])).toBe(true);
        expect(errorsOf(written(action))).toEqual([]);
      }),
    );
  });

  it("refuses what breaks one rule, as the validation does", () => {
    fc.assert(
      fc.property(
        actionArbitrary().chain((action) => mutate(action)),
        ({ item, rule }) => {
          expect(new Set(errorsOf(written(item)))).toEqual(new Set([rule]));
          if (!BEYOND_A_SCHEMA.has(rule)) expect(isValid([written(item)])).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([{ to: "0x12" }, { metadataAttributes: [{ trait_type: "Row" }] }, { metadataAttributes: "" }])(
    "refuses a sale with %j",
    (wrong) => {
      const sale = { eventId: "e-1", ticketId: "t-1", userId: "u-1", price: "12.50" };
      expect(isValid([{ action: "soldTicket", data: sale }])).toBe(true);
      expect(isValid([{ action: "soldTicket", data: { ...sale, ...wrong } }])).toBe(false);
    },
  );

  it("is of a list of at most 5000 items", () => {
    const item = { action: "scannedTicket", data: { ticketId: "T-1" } };
    expect(isValid([])).toBe(true);
    expect(isValid(Array(5000).fill(item))).toBe(true);
    expect(isValid(Array(5001).fill(item))).toBe(false);
    expect(isValid(item)).toBe(false);
  });

  it("defines every field that an action takes and every action, with the fields of the table", () => {
    const defs = schema.$defs as Record<string, { readonly properties?: object }>;
    for (const name of ACTION_NAMES.flatMap(acceptedFields)) expect(defs[name]).toBeDefined();
    for (const action of ACTION_NAMES)
      expect(Object.keys(defs[action]?.properties ?? {})).toEqual([...acceptedFields(action)]);
  });

  it("is written with the greatest time exact", () => {
    expect(JSON.stringify(payloadJsonSchema(), null, 2)).toContain('"maximum": 18446744073709551615');
  });
});

describe("the schema of one action's data", () => {
  const schemas = written(actionSchemas()) as ReturnType<typeof actionSchemas>;

  it("stands by itself, and takes what that of the payload takes of the data", () => {
    const ofPayload = createValidator(written(payloadJsonSchema()) as JsonSchema);
    fc.assert(
      fc.property(
        actionArbitrary(),
        actionArbitrary().chain((action) => mutate(action)),
        (action, { item }) => {
          for (const each of [action, item].filter(isAction)) {
            const { data } = written(each) as typeof each;
            expect(createValidator(schemas[each.action])(data)).toBe(ofPayload([{ action: each.action, data }]));
          }
        },
      ),
    );
  });
});

describe("the schema of a promises line", () => {
  const isValid = createValidator(written(promisesJsonSchema()) as JsonSchema);
  const line = {
    source: "sales.csv",
    line: 2,
    action: "soldTicket",
    eventId: "e",
    ticketId: "t",
    status: "success",
    actionPromise: "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    environment: "sandbox",
    run: "7f3a",
    seq: 0,
    chunk: 0,
    at: "2026-01-01T00:00:00.000Z",
  };
  const { actionPromise: _, ...unpromised } = line;

  it.each([
    ["an accepted action", line],
    ["one settled by hand", { ...unpromised, status: "settled-by-hand" }],
    ["a rejected one", { ...unpromised, status: "error", response: { status: "error", reason: "event_not_found" } }],
  ])("accepts %s", (_, value) => expect(isValid(value)).toBe(true));

  it.each([
    ["an accepted action without a promise", unpromised],
    ["an unknown action", { ...line, action: "sellTicket" }],
    ["line 0", { ...line, line: 0 }],
    ["no run", { ...line, run: undefined }],
  ])("refuses %s", (_, value) => expect(isValid(written(value))).toBe(false));
});
