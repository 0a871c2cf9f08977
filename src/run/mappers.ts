/** The source and the mapper of each input file. */

import { basename } from "node:path";
import type { ActionName } from "../actions/actions.ts";
import type { Severity } from "../actions/problem.ts";
import { cleanText } from "../actions/text.ts";
import { severityIn } from "../check/severity.ts";
import type { Config } from "../config/config.ts";
import { actionOfFileName } from "../map/columns.ts";
import { createMapper } from "../map/create-mapper.ts";
import type { LookupTable } from "../map/lookup.ts";
import type { Mapped, Mapper } from "../map/mapper.ts";
import type { FileFinding, MappingRule } from "../map/rules.ts";
import { selectSource } from "../map/select-source.ts";
import type { SourceConfig } from "../map/source.ts";
import { type Made, madeBy } from "../plan/guard.ts";
import type { Problems } from "../plan/problems.ts";
import type { Reading } from "../plan/rows.ts";
import type { Input } from "../read/input.ts";
import type { InputFile } from "../read/input-file.ts";
import type { Row } from "../read/row.ts";
import { INPUT_RULES } from "../read/rules.ts";
import { atItsPlace, withSourcesNamed } from "./config-faults.ts";
import { lookupFailure, readLookups } from "./lookups.ts";

/** A file on its way through the mapping; one object for all its rows. */
export interface MappedFile {
  readonly file: InputFile;
  readonly header: readonly string[] | undefined;
  readonly source: SourceConfig | undefined;
  readonly mapper: Mapper;
}

/** Called for every row that can be read, with what the mapping makes of it before any check. */
export type OnRow = (from: MappedFile, row: Row, mapped: Mapped) => void;

interface MapperOptions {
  readonly config: Config;
  readonly cwd: string;
  readonly action?: ActionName | undefined;
  readonly source?: string | undefined;
  readonly severities: ReadonlyMap<string, Severity>;
  readonly problems: Problems;
  readonly onRow?: OnRow | undefined;
  readonly signal: AbortSignal;
}

type SourceOf = (file: InputFile) => ReturnType<typeof selectSource>;

type MadeReading = Reading & { readonly made: readonly Made[] };

interface Mappers {
  readonly sourceOf: SourceOf;
  readonly readingOf: (file: InputFile, input: Input) => Promise<MadeReading>;
}

export function createMappers(options: MapperOptions): Mappers {
  const { config, cwd } = options;
  const sourceOf: SourceOf = (file) => {
    try {
      return selectSource(config.sources, nameOf(file), options.source, file.isRejects);
    } catch (cause) {
      throw atItsPlace(config, cause, cwd);
    }
  };
  const relaxedRules = new Set(
    Object.entries(config.rules).flatMap(([rule, severity]) => (severity === "error" ? [] : [rule])),
  );
  const filesOfEvent = new Map<string, InputFile>();
  return {
    sourceOf,
    readingOf: async (file, input) => {
      const source = sourceOf(file);
      const findings: FileFinding[] = [];
      if (source !== undefined && isOfOneEvent(source.config)) {
        const first = filesOfEvent.get(source.name);
        if (first === undefined) filesOfEvent.set(source.name, file);
        else findings.push(oneEventOfTwo(source.name, first));
      }
      const lookups = await readLookups(source?.config, options.signal, reportOf(options));
      try {
        return makeMapper(options, file, input, { source, lookups, relaxedRules, findings });
      } catch (cause) {
        if (source === undefined && options.action === undefined) throw withSourcesNamed(cause, config, nameOf(file));
        throw atItsPlace(config, cause, cwd);
      }
    },
  };
}

/** Reports a finding in a lookup file: a warning becomes a problem of the run, an error ends it. */
function reportOf({ severities, problems }: MapperOptions): Parameters<typeof readLookups>[2] {
  const severityOf = severityIn(severities);
  return (lookup, { line, rule, ...finding }) => {
    const severity = severityOf(rule);
    if (severity === "error")
      throw lookupFailure(lookup, line, finding, Object.hasOwn(INPUT_RULES, rule) ? "input-invalid" : "usage");
    if (severity !== "off") problems.add({ source: lookup, line, severity, rule, ...finding });
  };
}

function makeMapper(
  { action, onRow }: MapperOptions,
  file: InputFile,
  { header, format }: Input,
  {
    source,
    lookups,
    relaxedRules,
    findings,
  }: {
    readonly source: ReturnType<SourceOf>;
    readonly lookups: ReadonlyMap<string, LookupTable>;
    readonly relaxedRules: ReadonlySet<string>;
    readonly findings: readonly FileFinding[];
  },
): MadeReading {
  const mapping = {
    fileName: nameOf(file),
    ...(action !== undefined && { action }),
    ...(source !== undefined && { source }),
    lookups,
    relaxedRules,
  };
  const mapper = createMapper({ ...mapping, ...(header !== undefined && { header }), isPayload: format === "json" });
  const readAs =
    action ?? (source === undefined ? actionOfFileName(mapping.fileName) : readAsSource(source.name)) ?? "";
  const isSource = source !== undefined;
  const made = isSource && action === undefined ? madeBy(source.config) : [];
  const told = { readAs, isSource, made, findings };
  if (onRow === undefined) return { mapper, mapping, ...told };
  const from = { file, header, source: source?.config, mapper };
  return { mapper: watched(mapper, (row, mapped) => onRow(from, row, mapped)), mapping: undefined, ...told };
}

/** What the rows of a source are read as. */
const readAsSource = (name: string): string => `source ${name}`;

/** Whether every row of a source is of the same event, which its config names. */
function isOfOneEvent({ fields, actions }: SourceConfig): boolean {
  const rules = [
    fields?.eventId,
    ...(actions ?? []).flatMap((entry) => Object.values(entry).map((rule) => rule?.fields?.eventId)),
  ];
  const given = rules.filter((rule) => rule !== undefined);
  return given.length > 0 && given.every((rule) => typeof rule === "string" && !/[{}]/.test(rule));
}

/** Two exports of one event are not unusual, but neither is a match that is too wide. */
function oneEventOfTwo(source: string, first: InputFile): FileFinding {
  return {
    rule: "one-event-of-two-files" satisfies MappingRule,
    message: `The source ${source} also reads ${cleanText(first.name, 200)}, and gives every row the same eventId.`,
    hint: "If they hold different events, give each its own source with a narrower match.",
  };
}

function watched(mapper: Mapper, see: (row: Row, mapped: Mapped) => void): Mapper {
  return {
    get understanding() {
      return mapper.understanding;
    },
    map(row) {
      const mapped = mapper.map(row);
      if (row.kind !== "malformed") see(row, mapped);
      return mapped;
    },
    retract: (actions) => mapper.retract?.(actions),
    findingsOfFile: () => mapper.findingsOfFile?.() ?? [],
  };
}

const nameOf = (file: InputFile): string => (file.path === "-" ? "" : basename(file.name));
