/** What a config may hold: the one schema from which parsing, TypeScript types and the published JSON Schema derive. */

import * as z from "zod";
import { SEVERITIES } from "../actions/problem.ts";
import { Failure } from "../failure.ts";
import { needs, oneOf, textValue } from "../map/schema-words.ts";
import { SOURCE_TEXT, sourceSchema } from "../map/source.ts";
import { parseBaseUrl } from "./base-url.ts";
import { parseDuration } from "./duration.ts";

const yesOrNo = () => z.boolean({ error: needs("true or false") });

/** A whole number of a range that flags and variables share; see `LIMITS`. */
function wholeNumber([min, max]: readonly [number, number]) {
  const error = needs(rangeText([min, max]));
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** With a blank around it, it would be another folder, and another ledger. */
const stateFolder = () =>
  textValue("a path").refine((text) => text === text.trim(), { error: "begins or ends with a blank" });

export function rangeText([min, max]: readonly [number, number]): string {
  return max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`;
}

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

/** Smallest and largest value of the numbers that configs, variables and flags set. */
export const LIMITS = {
  /** At most 5000 actions a request (specification, Limits). */
  chunkSize: [1, 5000],
  maxChunkBytes: [1024, 64 * 1024 * 1024],
  retries: [0, 100],
  lanes: [1, 64],
  maxRejected: [0, Number.MAX_SAFE_INTEGER],
} as const satisfies Record<string, readonly [number, number]>;

export const ENVIRONMENT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const ENVIRONMENT_NAME_RULE = "needs a name of lower-case letters, digits, - and _, such as playground";

/** How an environment's name stands in variables: `pre-prod` → `PRE_PROD`. */
export const variablePart = (name: string): string => name.toUpperCase().replaceAll("-", "_");

/** Upper case only: a key pasted in place of the name of its variable is then nearly always noticed. */
const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]{0,127}$/;

const NO_LITERAL =
  "is never written into a config, which gets copied and committed. Name where it is: {env: NAME}, {file: PATH} or {command: [...]}";

const NO_LITERAL_URL =
  "holds a password and is never written into a config, which gets copied and committed. Name where it is: {env: NAME} or {file: PATH}";

const variableName = (secret: string) =>
  z.string({ error: needs("the name of an environment variable") }).regex(VARIABLE_NAME, {
    error: `needs the name of an environment variable (A-Z, 0-9, _), not the ${secret} itself`,
  });

/** A program and its arguments, run without a shell. */
const commandLine = z
  .array(textValue("text; put it in quotes"), { error: needs("a list: the program, then its arguments") })
  .min(1, { error: "is empty" });

const apiKey = z
  .strictObject(
    {
      env: variableName("key").optional(),
      file: textValue("the path of a file").optional(),
      command: commandLine.optional(),
    },
    { error: ({ input, code }) => (code === "invalid_type" && input != null ? NO_LITERAL : needs("a map")({ input })) },
  )
  .refine((source) => Object.keys(source).length === 1, { error: "needs exactly one of env, file and command" })
  .meta({ minProperties: 1, maxProperties: 1 });

const place = z.strictObject({ file: textValue("the path of a file") }, { error: needs("{file: PATH}") });

const tls = z
  .strictObject(
    {
      cert: place.optional(),
      key: place.optional(),
      ca: place.optional(),
      passphrase: z
        .strictObject(
          { env: variableName("passphrase").optional(), file: textValue("the path of a file").optional() },
          { error: needs("{env: NAME} or {file: PATH}") },
        )
        .refine((source) => Object.keys(source).length === 1, { error: "needs exactly one of env and file" })
        .optional(),
    },
    { error: needs("a map with cert and key, ca, or all three") },
  )
  .refine(({ cert, key }) => (cert === undefined) === (key === undefined), {
    error: "needs both cert and key, or neither",
  })
  .refine(({ key, passphrase }) => passphrase === undefined || key !== undefined, {
    error: "has a passphrase without a key",
  })
  .refine(({ cert, ca }) => cert !== undefined || ca !== undefined, {
    error: "names neither a certificate nor authorities",
  });

/** PostgreSQL cuts a longer name off, and keeps what begins with pg_ for itself. */
export const LEDGER_SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;

const ledgerUrl = z
  .strictObject(
    { env: variableName("URL").optional(), file: textValue("the path of a file").optional() },
    {
      error: ({ input, code }) =>
        code === "invalid_type" && input != null ? NO_LITERAL_URL : needs("{env: NAME} or {file: PATH}")({ input }),
    },
  )
  .refine((source) => Object.keys(source).length === 1, { error: "needs exactly one of env and file" })
  .meta({ minProperties: 1, maxProperties: 1 });

const ledgerTls = z
  .strictObject(
    { ca: place.optional(), cert: place.optional(), key: place.optional() },
    { error: needs("a map with ca, cert and key, or all three") },
  )
  .refine(({ cert, key }) => (cert === undefined) === (key === undefined), {
    error: "needs both cert and key, or neither",
  })
  .refine(({ cert, ca }) => cert !== undefined || ca !== undefined, {
    error: "names neither a certificate nor authorities",
  });

const ledger = z.strictObject(
  {
    postgres: z.strictObject(
      {
        url: ledgerUrl.describe(
          "Where the URL of the database is: postgres://USER:PASSWORD@HOST/DATABASE in a variable or a file.",
        ),
        schema: z
          .string({ error: needs("the name of a schema") })
          .regex(LEDGER_SCHEMA, {
            error: "needs a name of at most 63 lower-case letters, digits and _, such as tickets_production",
          })
          .optional()
          .describe("Schema of its tables (tickets_ and the environment's name)."),
        tls: ledgerTls
          .optional()
          .describe("Authorities to trust in place of the usual ones (ca), and a client certificate (cert and key)."),
      },
      { error: needs("a map with url, schema and tls") },
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
    apiKey: apiKey.optional().describe("Where the key is: a variable, a file, or a command."),
    chunkSize: wholeNumber(LIMITS.chunkSize).optional().describe("Actions per request (5000)."),
    maxChunkBytes: wholeNumber(LIMITS.maxChunkBytes).optional().describe("Bytes per request (8 MiB)."),
    timeout: duration().optional().describe("Longest wait for an answer (120s)."),
    retries: wholeNumber(LIMITS.retries).optional().describe("Retries of requests that were certainly not taken (8)."),
    retryStatuses: z
      .array(retryStatus, { error: needs("a list of statuses, such as [503]") })
      .optional()
      .describe("Statuses after which this service has certainly not taken a chunk ([])."),
    rate: z
      .number({ error: needs("a number above zero") })
      .positive({ error: "needs a number above zero" })
      .optional()
      .describe("Maximum actions per second (no limit)."),
    lanes: wholeNumber(LIMITS.lanes).optional().describe("Independent events in parallel (1)."),
    maxRejected: wholeNumber(LIMITS.maxRejected).optional().describe("Rejections after which a run stops (100)."),
    refusalsAreWhole: yesOrNo()
      .optional()
      .describe("A refused chunk was not taken in part, so it may be sent again (false)."),
    complete: yesOrNo().optional().describe("Every event was registered through this ledger (false)."),
    statusPath: textValue("a path")
      .regex(/^\/.*\{actionPromise\}/, {
        error: "needs a path with {actionPromise} in it, such as /actions/{actionPromise}",
      })
      .optional()
      .describe("Path that answers the status of a promise, after the base URL."),
    sameServiceAs: z
      .string({ error: needs("the name of an environment") })
      .regex(ENVIRONMENT_NAME, { error: ENVIRONMENT_NAME_RULE })
      .optional()
      .describe("The environment that is the same service under another name; they share its ledger."),
    output: textValue("a path").optional().describe("Promises file; relative to this file."),
    stateDir: stateFolder().optional().describe("Folder of ledger and plans; relative to this file."),
    confirm: yesOrNo().optional().describe("Ask once before sending, on a terminal (true for production)."),
    freshConnection: yesOrNo()
      .optional()
      .describe(
        "A new connection for every request (true). false: a late second answer to one request can be taken for the answer to the next.",
      ),
    tls: tls
      .optional()
      .describe("Client certificate (cert and key, in PEM), and authorities to trust in place of the usual ones (ca)."),
    onEnd: commandLine
      .optional()
      .describe("Program that is run after each run, with the summary on its standard input."),
    ledger: ledger
      .optional()
      .describe("Keeps the ledger in PostgreSQL, which many machines share (a file of SQLite in stateDir)."),
    unsafeLedger: yesOrNo()
      .optional()
      .describe("The database server may forget what it has confirmed; for tests only (false)."),
    accept: z
      .array(textValue("the id of a rule"), { error: needs("a list of rule ids") })
      .optional()
      .describe("Rules that this service does not enforce."),
  },
  { error: needs("a map") },
);

export const configSchema = z.strictObject(
  {
    $schema: textValue("the address of a JSON Schema").optional().describe("For editors; tickets does not read it."),
    env: z
      .string({ error: needs("the name of an environment") })
      .regex(ENVIRONMENT_NAME, { error: ENVIRONMENT_NAME_RULE })
      .optional()
      .describe("Environment used when none is named."),
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
      .describe("Severities that differ from docs/rules.md."),
    stateDir: stateFolder().optional().describe("Folder of ledgers and plans; relative to this file."),
  },
  { error: needs("a map with env, environments, sources, rules and stateDir") },
);

export type ParsedConfig = z.output<typeof configSchema>;
export type ParsedEnvironment = z.output<typeof environmentSchema>;

/** The JSON Schema of a config, for editors: docs/schema/config.schema.json. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    io: "input",
    override: ({ jsonSchema }) => {
      delete jsonSchema.id; // what is named is found by its key in $defs
      if (jsonSchema[SOURCE_TEXT] !== true) return;
      delete jsonSchema[SOURCE_TEXT];
      // Editors see 0123 as a number; the config's reader takes its text.
      if (jsonSchema.enum !== undefined) jsonSchema.enum = [...jsonSchema.enum, true, false]; // of {empty: true|false}
      if (jsonSchema.type === "string") jsonSchema.type = ["string", "number", "boolean"] as unknown as "string"; // the type only knows one
    },
  });
  return { $schema, title: "tickets.config", ...schema };
}
