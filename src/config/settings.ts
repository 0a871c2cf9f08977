/** The table of an environment's settings, from which schema, values, `tickets env` and the docs derive; and the schema of a config. */

import * as z from "zod";
import { Failure } from "../failure.ts";
import { type DeepReadonly, needs, oneOf, sourceSchema, textValue } from "../map/source.ts";
import { SEVERITIES } from "../rules.ts";
import { parseBaseUrl, parseDuration } from "./values.ts";

export const ENVIRONMENT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const ENVIRONMENT_NAME_RULE = "needs a name of lower-case letters, digits, - and _, such as playground";

/** How an environment's name stands in variables: `pre-prod` → `PRE_PROD`. */
export const variablePart = (name: string): string => name.toUpperCase().replaceAll("-", "_");

const environmentName = () =>
  z.string({ error: needs("the name of an environment") }).regex(ENVIRONMENT_NAME, { error: ENVIRONMENT_NAME_RULE });

/** Upper case only: so a key pasted in place of a variable's name is nearly always noticed. */
const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]{0,127}$/;

/** PostgreSQL cuts off longer names, and reserves those that begin with pg_. */
export const LEDGER_SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;

const yesOrNo = () => z.boolean({ error: needs("true or false") });

function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const error = needs(`a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}`);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

const positiveNumber = () =>
  z.number({ error: needs("a number above zero") }).positive({ error: "needs a number above zero" });

/** A duration as written, read as milliseconds. */
const duration = () =>
  z.string({ error: needs("a duration such as 90s, 2m or 1h30m") }).transform((text, context) => {
    try {
      const ms = parseDuration(text);
      if (ms > 0) return ms;
      context.addIssue({ code: "custom", message: "needs a duration above zero" });
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      context.addIssue({ code: "custom", message: cause.message });
    }
    return z.NEVER;
  });

/** A path with a blank around it would be another folder, and another ledger. */
const stateFolder = () =>
  textValue("a path").refine((text) => text === text.trim(), { error: "begins or ends with a blank" });

/** A program and its arguments, run without a shell. */
const commandLine = () =>
  z
    .array(textValue("text; put it in quotes"), { error: needs("a list: the program, then its arguments") })
    .min(1, { error: "is empty" });

/** Where a secret is. `literal`: the problem of a config that holds the secret itself. */
function secretPlace<T extends z.ZodRawShape>(secret: string, more: T, form: string, literal = `needs ${form}`) {
  const env = z.string({ error: needs("the name of an environment variable") }).regex(VARIABLE_NAME, {
    error: `needs the name of an environment variable (A-Z, 0-9, _), not the ${secret} itself`,
  });
  const shape = { env: env.optional(), file: textValue("the path of a file").optional(), ...more };
  const names = Object.keys(shape);
  return z
    .strictObject(shape, {
      error: ({ input, code }) => (code === "invalid_type" && input != null ? literal : needs(form)({ input })),
    })
    .refine((source) => Object.keys(source).length === 1, {
      error: `needs exactly one of ${names.slice(0, -1).join(", ")} and ${names.at(-1)}`,
    })
    .meta({ minProperties: 1, maxProperties: 1 });
}

const ENV_OR_FILE = "{env: NAME} or {file: PATH}";
const isNeverWritten = (places: string): string =>
  `is never written into a config, which gets copied and committed. Name where it is: ${places}`;

const ledger = z.strictObject(
  {
    postgres: z.strictObject(
      {
        url: secretPlace("URL", {}, ENV_OR_FILE, `holds a password and ${isNeverWritten(ENV_OR_FILE)}`).describe(
          "Where the URL of the database is: postgres://USER:PASSWORD@HOST/DATABASE in a variable or a file.",
        ),
        schema: z
          .string({ error: needs("the name of a schema") })
          .regex(LEDGER_SCHEMA, {
            error: "needs a name of at most 63 lower-case letters, digits and _, such as tickets_production",
          })
          .optional()
          .describe("Schema of its tables (tickets_ and the environment's name)."),
      },
      { error: needs("a map with url and schema") },
    ),
  },
  { error: needs("{postgres: {url: {env: NAME}}}") },
);

/** 5xx and 408 leave a chunk in doubt unless listed; other statuses have a meaning of their own (docs/guarantees.md, What an answer means). */
const retryStatus = z
  .int({ error: needs("a status: 408 or 500 to 599") })
  .refine((status) => status === 408 || (status >= 500 && status <= 599), {
    error: "has no effect: only 408 and 500 to 599 can be retried by the list",
  });

export interface Setting {
  readonly schema: z.ZodType;
  /** What it means, with its default in brackets: for editors and the docs. */
  readonly about: string;
  /** Its value where neither flag, variable nor config says one. */
  readonly otherwise?: unknown;
  /** It may also come as text, from a variable (`TICKETS_CHUNK_SIZE`) or the caller (`--lanes`). */
  readonly isText?: "number" | "duration";
}

/** In the order in which `tickets env` shows them. */
export const SETTINGS = {
  chunkSize: {
    schema: wholeNumber(1, 5000), // specification, Limits
    about: "Actions per request (5000).",
    otherwise: 5000,
    isText: "number",
  },
  maxChunkBytes: {
    schema: wholeNumber(1024, 64 * 1024 * 1024),
    about: "Bytes per request (8 MiB).",
    otherwise: 8 * 1024 * 1024, // gateways of this kind take at most 10 MB
  },
  maxInputBytes: { schema: wholeNumber(1), about: "Bytes of one input file, after decompression (no limit)." },
  timeout: {
    schema: duration(),
    about: "Longest wait for an answer (120s).",
    otherwise: 120_000,
    isText: "duration",
  },
  retries: {
    schema: wholeNumber(0, 100),
    about: "Retries of requests that were certainly not taken (8).",
    otherwise: 8,
    isText: "number",
  },
  retryStatuses: {
    schema: z.array(retryStatus, { error: needs("a list of statuses, such as [503]") }),
    about: "Statuses after which this service has certainly not taken a chunk ([]).",
    otherwise: [],
  },
  rate: { schema: positiveNumber(), about: "Maximum actions per second (no limit).", isText: "number" },
  lanes: { schema: wholeNumber(1, 64), about: "Parallel requests (1).", otherwise: 1, isText: "number" },
  maxRejected: { schema: wholeNumber(0), about: "Rejections after which a run stops (100).", otherwise: 100 },
  refusalsAreWhole: {
    schema: yesOrNo(),
    about: "This service refuses a chunk as a whole, so a refused one may be sent again (false).",
    otherwise: false,
  },
  complete: {
    schema: yesOrNo(),
    about: "Every event was registered through this ledger (false).",
    otherwise: false,
  },
  confirm: { schema: yesOrNo(), about: "Ask once before sending, on a terminal (true for production)." },
  freshConnection: {
    schema: yesOrNo(),
    about:
      "A new connection for every request (true). false: a late second answer to one request can be taken for the answer to the next.",
    otherwise: true,
  },
  onEnd: {
    schema: commandLine(),
    about: "Program to run after each run, with the summary on its standard input.",
  },
  accept: {
    schema: z.array(textValue("the id of a rule"), { error: needs("a list of rule ids") }),
    about: "Rules that this service does not enforce.",
    otherwise: [],
  },
  statusPath: {
    schema: textValue("a path").regex(/^\/.*\{actionPromise\}/, {
      error: "needs a path with {actionPromise} in it, such as /actions/{actionPromise}",
    }),
    about: "Path that answers the status of a promise, after the base URL.",
  },
  sameServiceAs: {
    schema: environmentName(),
    about: "The environment that is the same service under another name; they share its ledger.",
  },
  ledger: {
    schema: ledger,
    about: "Keeps the ledger in PostgreSQL, which many machines share (a file of SQLite in stateDir).",
  },
  output: { schema: textValue("a path"), about: "Promises file; relative to this file." },
  safeCsv: {
    schema: yesOrNo(),
    about: "Guard the cells of CSV outputs that a spreadsheet would take for formulas (false).",
    otherwise: false,
  },
  stateDir: { schema: stateFolder(), about: "Folder of ledger and plans; relative to this file." },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]; // its own keys

/** The settings that may come as text. */
export type TextSetting = {
  [K in SettingName]: (typeof SETTINGS)[K] extends { readonly isText: string } ? K : never;
}[SettingName];

type Shape = { [K in SettingName]: z.ZodOptional<(typeof SETTINGS)[K]["schema"]> };

const environmentSchema = z.strictObject(
  {
    baseUrl: textValue("a URL")
      .transform((text, context) => {
        const parsed = parseBaseUrl(text);
        if ("url" in parsed) return parsed.url;
        context.addIssue({ code: "custom", message: parsed.problem });
        return z.NEVER;
      })
      .optional()
      .describe("Base address of the service, https; /stream is added to it."),
    apiKey: secretPlace(
      "key",
      { command: commandLine().optional() },
      "a map",
      isNeverWritten("{env: NAME}, {file: PATH} or {command: [...]}"),
    )
      .optional()
      .describe("Where the key is: a variable, a file, or a command."),
    ...(Object.fromEntries(
      Object.entries(SETTINGS).map(([name, { schema, about }]) => [name, schema.optional().describe(about)]),
    ) as Shape), // of the same entries
  },
  { error: needs("a map") },
);

/** What a config may hold: the one schema from which parsing, TypeScript types and the published JSON Schema derive. */
export const configSchema = z.strictObject(
  {
    $schema: textValue("the address of a JSON Schema").optional().describe("For editors; tickets does not read it."),
    env: environmentName().optional().describe("Environment used when none is named."),
    environments: z
      .record(z.string().regex(ENVIRONMENT_NAME), environmentSchema, {
        error: (issue) =>
          issue.code === "invalid_key" ? ENVIRONMENT_NAME_RULE : needs("a map of environments")(issue),
      })
      .optional(),
    sources: z.record(z.string(), sourceSchema, { error: needs("a map of sources") }).optional(),
    rules: z
      .record(z.string(), oneOf(SEVERITIES), { error: needs("a map from rule ids to off, warn or error") })
      .optional()
      .describe("Severities that differ from docs/reference.md#rules."),
    stateDir: stateFolder().optional().describe("Folder of ledgers and plans; relative to this file."),
  },
  { error: needs("a map with env, environments, sources, rules and stateDir") },
);

export type ParsedConfig = z.output<typeof configSchema>;
export type ParsedEnvironment = z.output<typeof environmentSchema>;

/** The settings as a config gives them: durations in milliseconds. */
type Declared = DeepReadonly<ParsedEnvironment>;
type WithDefault = {
  [K in SettingName]: (typeof SETTINGS)[K] extends { readonly otherwise: unknown } ? K : never;
}[SettingName];
/** The settings as they are used. */
export type Settings = {
  readonly [K in WithDefault]: NonNullable<Declared[K]>;
} & { readonly [K in Exclude<SettingName, WithDefault>]?: NonNullable<Declared[K]> };

/** Where a config names things outside itself. `*` is any name. */
const ofEnvironment = (...places: readonly string[]) => places.map((place) => `environments.*.${place}`);

/** Paths, which are relative to the config. */
export const PATHS: readonly string[] = [
  "stateDir",
  ...ofEnvironment("apiKey.file", "output", "stateDir", "ledger.postgres.url.file"),
  "sources.*.lookup.*.file",
];

/** Variables that hold secrets. */
export const VARIABLES: readonly string[] = ofEnvironment("apiKey.env", "ledger.postgres.url.env");

/** Programs with their arguments. */
export const PROGRAMS: readonly string[] = ofEnvironment("apiKey.command", "onEnd");
