import { z } from "zod";
import { STANDINGS } from "../../ledger/pending.ts";

/**
 * Versions of the plan's files; another one is not read. In version 2 the actions are grouped by lane: who knows only
 * version 1 would send its first lane and call the run finished.
 */
const ONE_LANE = 1;
const SEVERAL_LANES = 2;

const COUNT = z.number().int().nonnegative();

/** All rows of an input; `read` is the sum of the others. */
const ROWS = z.strictObject({
  read: COUNT,
  mapped: COUNT,
  skipped: COUNT,
  /** Not sent for what they say themselves. */
  invalid: COUNT,
  /** Not sent because they depend on a row that is not. */
  held: COUNT.default(0),
  /** Bad rows of which a mended one was accepted. */
  mended: COUNT.default(0),
});

export type RowCounts = Readonly<z.infer<typeof ROWS>>;

const ORDERS = ["input", "time"] as const;
export type Order = (typeof ORDERS)[number];

const RUN_OPTIONS = z.strictObject({
  /** Where rejects files are written. */
  directory: z.string(),
  /** The machine of that folder, and of the inputs, where several share a ledger. */
  machine: z.string().optional(),
  encoding: z.string().optional(),
  safeCsv: z.boolean(),
  /** Flags that say how the input is read, for the command that sends the mended rejects. */
  flags: z.array(z.string()).optional(),
  /** The order of the plan's actions. */
  order: z.enum(ORDERS).optional(),
});

export type RunOptions = z.infer<typeof RUN_OPTIONS>;

const MANIFEST = z.strictObject({
  format: z.literal([ONE_LANE, SEVERAL_LANES]),
  run: z.string(),
  createdAt: z.string(),
  environment: z.string(),
  boundTo: z.string(),
  inputs: z.array(
    z.strictObject({
      name: z.string(),
      copy: z.string().optional(),
      format: z.string(),
      compression: z.string(),
      bytes: COUNT,
      sha256: z.string(),
      rows: COUNT,
      /** How it was read, so that rejects are made of the same rows. */
      encoding: z.string().optional(),
      delimiter: z.string().optional(),
      headerLine: COUNT.optional(),
      /** What its rows were read as: the source, or the action. */
      readAs: z.string().optional(),
      /** The actions that its source lists (action-rules.ts). */
      rules: z.array(z.string()).optional(),
      /** The key of its source, as the config says it. */
      key: z.string().optional(),
      /** Its rows go from the latest time to the earliest: rows of its rejects, too, that do not show it by themselves. */
      newestFirst: z.literal(true).optional(),
    }),
  ),
  /** SHA-256 over everything that turns rows into actions: config sources, flags. */
  mapping: z.string(),
  rows: ROWS,
  /** All actions of the valid rows; `planned` of them are in the plan. Plans of older versions lack what has a default. */
  actions: z.strictObject({
    total: COUNT,
    planned: COUNT,
    alreadySent: COUNT,
    changed: COUNT,
    /** Another run may still bring them to the service. */
    pending: COUNT,
    /** They depend on what is pending. */
    waiting: COUNT.default(0),
    late: COUNT.default(0),
    superseded: COUNT.default(0),
    /** Nobody can tell whether they were accepted, and the config makes that no error. */
    unclear: COUNT.default(0),
  }),
  /** Runs that hold what is pending. Earlier versions named all that are sent before this one, whatever those hold. */
  behind: z
    .array(
      z.union([
        z.string(),
        z.strictObject({
          run: z.string(),
          /** How many of what is pending; what several runs may hold counts for each. */
          actions: COUNT,
          standing: z.enum(STANDINGS),
        }),
      ]),
    )
    .optional(),
  /** Number of the last settlement before it, where something is pending. */
  settledBefore: COUNT.optional(),
  /** Of those already sent, how many repeat a deed of their own input. */
  repeated: COUNT.default(0),
  byAction: z.record(z.string(), COUNT),
  problems: z.strictObject({ errors: COUNT, warnings: COUNT }),
  chunks: z.array(
    z.strictObject({
      lane: COUNT,
      first: COUNT,
      count: COUNT,
      offset: COUNT,
      length: COUNT,
      /** Of its bytes in actions.ndjson. */
      sha256: z.string(),
      /** Of its records in actions.index; earlier versions wrote none. */
      indexSha256: z.string().optional(),
    }),
  ),
  again: z.boolean(),
  /** What later steps of the run need of the command line. */
  options: RUN_OPTIONS,
});

/** What a plan is about; the last file to be written into its folder. */
export type Manifest = Readonly<z.infer<typeof MANIFEST>>;

/** The counts of a plan without actions. */
export const NO_ACTIONS: Manifest["actions"] = {
  total: 0,
  planned: 0,
  alreadySent: 0,
  changed: 0,
  pending: 0,
  waiting: 0,
  late: 0,
  superseded: 0,
  unclear: 0,
};

export const manifestOf = (fields: Omit<Manifest, "format">): Manifest => ({
  format: lanesOf(fields) > 1 ? SEVERAL_LANES : ONE_LANE,
  ...fields,
});

/** How many lanes a plan has; an empty one has one. */
export function lanesOf({ chunks }: Pick<Manifest, "chunks">): number {
  return Math.max(1, new Set(chunks.map(({ lane }) => lane)).size);
}

/** Whether some of the actions are left to another run, or wait for what it comes to. */
export function waitsForAnotherRun({ pending, waiting }: Pick<Manifest["actions"], "pending" | "waiting">): boolean {
  return pending + waiting > 0;
}

/** Whether a person has to decide about some of what is pending; the rest is sent before this. */
export function isLeftToPerson({ behind = [] }: Pick<Manifest, "behind">): boolean {
  return behind.some((each) => typeof each !== "string" && each.standing !== "ahead");
}

/** Whether both plans were made of the same bytes, read and mapped the same way. */
export function hasSameInput(
  manifest: Manifest,
  other: {
    readonly inputs: readonly Pick<Manifest["inputs"][number], "name" | "sha256" | "rows">[];
    readonly mapping: string;
  },
): boolean {
  const told = ({ inputs, mapping }: typeof other): string =>
    JSON.stringify([mapping, inputs.map(({ name, sha256, rows }) => [name, sha256, rows])]);
  return told(manifest) === told(other);
}

/** Whether both plans were made of a file of the same name or of the same bytes. Standard input has no name. */
export function sharesInput(
  manifest: Manifest,
  other: { readonly inputs: readonly Pick<Manifest["inputs"][number], "name" | "sha256">[] },
): boolean {
  return manifest.inputs.some((one) =>
    other.inputs.some(({ name, sha256 }) => (name === one.name && name !== "-") || sha256 === one.sha256),
  );
}

/** @throws when the text is not a manifest of this version. */
export function parseManifest(text: string): Manifest {
  return MANIFEST.parse(JSON.parse(text));
}
