/** The steps that read an amount or a time out of a text, and what they report where they can't. */

import { BEFORE_1970, SKIPPED_HOUR } from "../actions/times.ts";
import { compileAmount, divideAmount } from "./amount.ts";
import { amountsThatRead, formatsThatRead } from "./likely-formats.ts";
import { MappingError, type RulePath } from "./mapping-error.ts";
import type { MappingRule } from "./rules.ts";
import type { Names, Scope } from "./scope.ts";
import type { ValueSteps } from "./source.ts";
import { compileTemplate } from "./template.ts";
import { compileTime } from "./time-format.ts";

/** What the parse step of a value can be. */
export type Parsing = "amount" | "time" | "either" | "none";

export interface ParseContext {
  /** What messages call the value: a field, or a trait. */
  readonly label: string;
  readonly parsing: Parsing;
  readonly names: Names;
  readonly path: RulePath;
  readonly zone: string | undefined;
  readonly zonePath: RulePath;
  /** The template of `each: {count}` around the value, for remainders. */
  readonly count: string | undefined;
}

/** A text after a step; empty where it can't be read. */
export type Step = (text: string, scope: Scope) => string;

const NEVER_GUESSED = "Declare what the file means; it is never guessed.";

export function amountStep(steps: ValueSteps, { path, label }: ParseContext): Step {
  const options = {
    decimal: steps.decimal,
    thousands: steps.thousands,
    signs: [steps.sign ?? []].flat(),
    path,
  };
  const read = compileAmount(options);
  const declared = [
    `decimal: ${JSON.stringify(options.decimal ?? ".")}`,
    ...(options.thousands === undefined ? [] : [`thousands: ${JSON.stringify(options.thousands)}`]),
    ...(options.signs.length === 0 ? [] : [`sign: ${options.signs.join(" ")}`]),
  ].join(", ");
  return (text, { problems }) => {
    const amount = read(text);
    if (amount !== undefined) return amount;
    problems.push({
      rule: "price-invalid",
      field: label,
      value: text,
      message: `${label} is not an amount as the source declares it (${declared}).`,
      hint: amountHint(text),
    });
    return "";
  };
}

function amountHint(text: string): string {
  if (!/\d/.test(text))
    return `If it means nothing to pay: map: {${JSON.stringify(text)}: "0"}, else: "{…}" with the column.`;
  const ways = amountsThatRead(text);
  if (ways.length === 0) return "Declare decimal, thousands and sign as the file writes them; they are never guessed.";
  return `${ways.join("; ")}. ${NEVER_GUESSED}`;
}

/** What a time is when its rule declares no format. */
const DEFAULT_FORMATS: readonly string[] = ["unix", "iso"];

/** Trying every common format takes long, and a column in another format shows in its first texts. */
const MOST_LOOKS = 200;

export function timeStep(steps: ValueSteps, { path, label, parsing, zone, zonePath }: ParseContext): Step {
  const formats = steps.format === undefined ? DEFAULT_FORMATS : [steps.format].flat();
  const read = compileTime({
    formats,
    path,
    zone: steps.zone ?? zone,
    zonePath: steps.zone === undefined ? zonePath : [...path, "zone"],
    rollover: steps.rollover,
  });
  let looks = MOST_LOOKS;
  const faultOf = (time: ReturnType<typeof read>, text: string): TimeFaultText => {
    if (typeof time === "string") return TIME_FAULTS[time];
    if (time !== undefined) return { rule: "u64-invalid", what: "is before 1970", hint: BEFORE_1970 };
    looks -= 1;
    return {
      rule: "time-unreadable",
      what: `is not written as ${formats.join(" or ")}`,
      hint: timeHint(looks < 0 ? "" : text, formats),
    };
  };
  return (text, { problems }) => {
    const time = read(text);
    if (typeof time === "object" || (typeof time === "number" && (time >= 0 || parsing !== "time")))
      return String(time);
    const { rule, what, hint } = faultOf(time, text);
    problems.push({ rule, field: label, value: text, message: `${label} ${what}.`, hint });
    return "";
  };
}

/** What is said of a text that is no time in these formats: `what` is the end of a sentence that begins with its field. */
interface TimeFaultText {
  readonly rule: MappingRule | "u64-invalid";
  readonly what: string;
  readonly hint: string;
}

const TIME_FAULTS = {
  "no-zone": {
    rule: "time-without-zone",
    what: "is a local time without a zone",
    hint: "Declare it for the source, such as zone: Europe/Berlin.",
  },
  "skipped-hour": SKIPPED_HOUR,
  impossible: {
    rule: "time-unreadable",
    what: "is a time that does not exist",
    hint: "Check it and the format: day and month may be the other way round, or the hour is above 23.",
  },
  "unknown-zone": {
    rule: "time-unreadable",
    what: "names an unknown zone, or an abbreviation that several zones share",
    hint: "Write the offset.",
  },
} as const satisfies Record<string, TimeFaultText>;

/** Whether it has a time of day: all whose names are words do. */
const hasHours = (format: string): boolean => /[Hh]|^[a-z-]+$/.test(format);

function timeHint(text: string, declared: readonly string[]): string {
  const found = text === "" ? [] : formatsThatRead(text);
  // Midnight would be wrong where the time of day is only missing.
  const [only, ...others] = found.filter((format) => hasHours(format) || !declared.every(hasHours));
  if (only === undefined && found.length > 0)
    return "It has no time of day: is a cell empty, or does another column hold it?";
  if (only === undefined) return 'Declare how the file writes it, such as format: "d.M.yyyy HH:mm".';
  if (others.length === 0) return `format: ${JSON.stringify(only)} reads it.`;
  return `${[only, ...others].map((format) => `format: ${JSON.stringify(format)}`).join(" and ")} read it; which is right is never guessed.`;
}

/** No currency has more decimals. */
const MOST_PLACES = 18;

export function divideStep(steps: ValueSteps, { path, label, names, parsing, count }: ParseContext): Step | undefined {
  if (steps.divide === undefined) {
    const stray = (["places", "remainder"] as const).find((key) => steps[key] !== undefined);
    if (stray !== undefined) throw new MappingError([...path, stray], "means something only with divide");
    return undefined;
  }
  if (parsing !== "amount") throw new MappingError([...path, "divide"], `${label} is not an amount`);
  const by = compileTemplate(steps.divide, names, [...path, "divide"], "any column is");
  const places = steps.places === undefined ? undefined : Number(steps.places);
  if (places !== undefined && places > MOST_PLACES)
    throw new MappingError([...path, "places"], `is not a whole number from 0 to ${MOST_PLACES}`);
  const remainder = steps.remainder ?? "error";
  if (remainder === "first" && count !== steps.divide)
    throw new MappingError(
      [...path, "remainder"],
      "can give the rest to the first tickets only where each counts by the same template as divide",
      `Write each: {count: ${JSON.stringify(steps.divide)}}.`,
    );
  return (text, scope) => {
    const divisor = by(scope);
    const quotient = divideAmount(text, divisor, places, remainder, Number(scope.n));
    if (quotient.kind === "amount") return quotient.text;
    scope.problems.push(
      quotient.kind === "does-not-divide"
        ? {
            rule: "amount-not-divisible" satisfies MappingRule,
            field: label,
            value: text,
            message: `${label} does not divide by ${divisor} into equal amounts${places === undefined ? "" : ` of ${places} decimals`}.`,
            hint: `Declare ${places === undefined ? "places, or " : ""}remainder: first (one unit more for the first tickets) or round.`,
          }
        : {
            rule: "price-invalid",
            field: label,
            value: quotient.kind === "not-an-amount" ? text : divisor,
            message:
              quotient.kind === "not-an-amount"
                ? `${label} is not an amount that can be divided.`
                : `${label} can't be divided by this: it is not a whole number above zero.`,
            hint: "Is the right column named?",
          },
    );
    return "";
  };
}
