/** The source and the mapper of each input file. */

import { basename } from "node:path";
import type { ActionName } from "../actions/actions.ts";
import { cleanText } from "../actions/text.ts";
import type { Config } from "../config/config.ts";
import { actionOfFileName } from "../map/columns.ts";
import { createMapper } from "../map/create-mapper.ts";
import type { Mapped, Mapper } from "../map/mapper.ts";
import type { FileFinding, MappingRule } from "../map/rules.ts";
import { selectSource } from "../map/select-source.ts";
import type { SourceConfig } from "../map/source.ts";
import { madeBy } from "../plan/guard.ts";
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
  readonly problems: Problems;
  readonly onRow?: OnRow | undefined;
  readonly signal: AbortSignal;
}

type Source = ReturnType<typeof selectSource>;

interface Mappers {
  readonly sourceOf: (file: InputFile) => Source;
  /** The source whose rules are used for a file; `--action` sets them aside. */
  readonly usedSource: (file: InputFile) => string | undefined;
  readonly readingOf: (file: InputFile, input: Input) => Promise<Reading>;
}

export function createMappers(options: MapperOptions): Mappers {
  const { config, cwd, action, signal, onRow } = options;
  const relaxedRules = new Set(
    Object.entries(config.rules).flatMap(([rule, severity]) => (severity === "error" ? [] : [rule])),
  );
  const filesOfEvent = new Map<string, InputFile>();
  const sourceOf = (file: InputFile): Source => {
    try {
      return selectSource(config.sources, nameOf(file), options.source, file.isRejects);
    } catch (cause) {
      throw atItsPlace(config, cause, cwd);
    }
  };
  const readingOf: Mappers["readingOf"] = async (file, { header }) => {
    const source = sourceOf(file);
    const fileName = nameOf(file);
    const lookups = await readLookups(source?.config, signal, reportOf(options));
    const mapping = { fileName, lookups, relaxedRules, ...(action && { action }), ...(source && { source }) };
    let mapper: Mapper;
    try {
      mapper = createMapper({ ...mapping, ...(header && { header }) });
    } catch (cause) {
      if (source === undefined && action === undefined) throw withSourcesNamed(cause, config, fileName);
      throw atItsPlace(config, cause, cwd);
    }
    const readAs = action ?? (source === undefined ? actionOfFileName(fileName) : `source ${source.name}`) ?? "";
    const made = source !== undefined && action === undefined ? madeBy(source.config) : [];
    const about = {
      ...{ readAs, allowEmpty: source?.config.allowEmpty === "true", isSource: source !== undefined, made },
      findings: oneEventOfTwo(source, file, filesOfEvent),
    };
    if (onRow === undefined) return { mapper, mapping, ...about };
    const from = { file, header, source: source?.config, mapper };
    return { mapper: watched(mapper, (row, mapped) => onRow(from, row, mapped)), mapping: undefined, ...about };
  };
  const usedSource = (file: InputFile) => (action === undefined ? sourceOf(file)?.name : undefined);
  return { sourceOf, usedSource, readingOf };
}

const nameOf = (file: InputFile): string => (file.path === "-" ? "" : basename(file.name));

/** Reports a finding in a lookup file: a warning becomes a problem of the run, an error ends it. */
function reportOf({ problems }: MapperOptions): Parameters<typeof readLookups>[2] {
  return (lookup, { line, ...finding }) => {
    const { rule } = finding;
    if (problems.severityOf(rule) === "error")
      throw lookupFailure(lookup, line, finding, Object.hasOwn(INPUT_RULES, rule) ? "input-invalid" : "usage");
    problems.add({ source: lookup, line, item: "" }, finding);
  };
}

/** Two exports of one event are not unusual, but neither is a match that is too wide. */
function oneEventOfTwo(source: Source, file: InputFile, known: Map<string, InputFile>): readonly FileFinding[] {
  if (source === undefined || !namesOneEvent(source.config)) return [];
  const first = known.get(source.name);
  if (first === undefined) {
    known.set(source.name, file);
    return [];
  }
  return [
    {
      rule: "one-event-of-two-files" satisfies MappingRule,
      message: `The source ${source.name} also reads ${cleanText(first.name, 200)}, and gives every row the same eventId.`,
      hint: "If they hold different events, give each its own source with a narrower match.",
    },
  ];
}

function namesOneEvent({ fields, actions }: SourceConfig): boolean {
  const ofActions = (actions ?? []).flatMap((entry) => Object.values(entry).map((rule) => rule?.fields?.eventId));
  const given = [fields?.eventId, ...ofActions].filter((rule) => rule !== undefined);
  return given.length > 0 && given.every((rule) => typeof rule === "string" && !/[{}]/.test(rule));
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
