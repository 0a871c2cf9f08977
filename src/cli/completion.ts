/**
 * What a shell offers for the word under the cursor, made of the same program that reads the command line. The scripts of
 * `tickets completion` ask for it with `tickets __complete SHELL WORDS...`.
 */

import type { Argument, Command, Option } from "commander";
import { cleanText } from "../actions/text.ts";
import { type Candidate, type CompletionContext, type ValueKind, valuesOf } from "../commands/completion-values.ts";

/** What a script is told to offer beside the candidates. */
type Places = "files" | "directories";

interface Offer {
  readonly candidates: readonly Candidate[];
  readonly places?: Places;
}

const NOTHING: Offer = { candidates: [] };

/** Options of which the help does not list the choices, by their names. */
const KIND_OF_OPTION: Readonly<Record<string, ValueKind>> = {
  env: "environment",
  action: "action",
  source: "source",
  inputFormat: "input format",
};

/** Arguments likewise, by command and name; `*` is any other command. */
const KIND_OF_ARGUMENT: Readonly<Record<string, Readonly<Record<string, ValueKind>>>> = {
  "*": { run: "run" },
  resume: { run: "open run" },
  settle: { run: "doubtful run" },
  env: { name: "environment" },
};

/** A word as a shell gave it. */
interface Word {
  readonly text: string;
  /** What the shell has parted from it and completes by itself: the `--env=` of bash. */
  readonly before: string;
}

/**
 * The lines that a script reads: a candidate each, with a tab and what it is, and `:files` or `:directories` where the shell
 * offers its own. Empty on any failure: nobody wants a message in the middle of a command.
 *
 * @param args the shell, then the words behind `tickets`, the last one being typed.
 */
export async function complete(
  program: Command,
  args: readonly string[],
  context: Pick<CompletionContext, "cwd" | "env">,
): Promise<string> {
  const [shell = "", ...typed] = args;
  try {
    const words = shell === "bash" ? joined(typed) : typed.map((text) => ({ text, before: "" }));
    const { candidates, places } = await offerFor(program, words, context);
    const parted = words.at(-1)?.before ?? "";
    const lines = candidates
      .filter(({ value }) => value.startsWith(words.at(-1)?.text ?? ""))
      .map(({ value, about = "" }) => `${value.slice(parted.length)}\t${cleanText(about, 100)}\n`);
    return `${lines.join("")}${places === undefined ? "" : `:${places}\n`}`;
  } catch {
    return "";
  }
}

/** Bash takes `--env=play` for three words. */
function joined(typed: readonly string[]): readonly Word[] {
  const words: Word[] = [];
  for (const [at, text] of typed.entries()) {
    const last = words.at(-1);
    if (text === "=" && last?.text.startsWith("--")) {
      words[words.length - 1] = { text: `${last.text}=`, before: `${last.text}=` };
    } else if (last !== undefined && typed[at - 1] === "=" && last.before !== "" && last.text === last.before) {
      words[words.length - 1] = { text: `${last.text}${text}`, before: last.before };
    } else words.push({ text, before: "" });
  }
  return words;
}

async function offerFor(
  program: Command,
  words: readonly Word[],
  context: Pick<CompletionContext, "cwd" | "env">,
): Promise<Offer> {
  const [verb, ...rest] = words.map(({ text }) => text);
  if (verb === undefined || rest.length === 0) {
    const commands = program.commands.map((each) => ({ value: each.name(), about: each.description() }));
    return { candidates: [...commands, HELP_COMMAND, ...(verb?.startsWith("-") ? optionsOf(program) : [])] };
  }
  if (verb === HELP_COMMAND.value && rest.length === 1)
    return { candidates: program.commands.map((each) => ({ value: each.name(), about: each.description() })) };
  const command = program.commands.find((each) => each.name() === verb);
  return command === undefined ? NOTHING : offerOf(command, rest, context);
}

/** Commander makes this one by itself. */
const HELP_COMMAND: Candidate & { readonly value: string } = { value: "help", about: "help for a command" };

/** @param typed the words behind the command; the last one is being typed. */
async function offerOf(
  command: Command,
  typed: readonly string[],
  context: Pick<CompletionContext, "cwd" | "env">,
): Promise<Offer> {
  const { options, places, open, onlyArguments } = readTyped(command, typed.slice(0, -1));
  const current = typed.at(-1) ?? "";
  const whole: CompletionContext = {
    ...context,
    envFlag: options.get("env"),
    configFlag: options.get("config"),
    stateDir: options.get("stateDir"),
  };
  if (open !== undefined) return valuesOfOption(open, whole);
  if (!onlyArguments) {
    const [, flag, value] = /^(--[a-z][a-z-]*)(=.*)$/.exec(current) ?? [];
    const option = command.options.find(({ long }) => long === flag);
    if (value !== undefined)
      return option === undefined ? NOTHING : withFlag(await valuesOfOption(option, whole), flag);
    if (current.startsWith("-") && current !== "-") return { candidates: optionsOf(command) };
  }
  const arguments_ = command.registeredArguments;
  const last = arguments_.at(-1);
  const argument = arguments_[places] ?? (last?.variadic === true ? last : undefined);
  // A shell that has nothing else to offer may as well show the flags.
  return argument === undefined ? { candidates: optionsOf(command) } : valuesOfArgument(command, argument, whole);
}

/** What is known of a command line before the word that is being typed. */
interface Typed {
  /** Values of the options that were given, by name. */
  readonly options: ReadonlyMap<string, string>;
  /** How many arguments stand there. */
  readonly places: number;
  /** The option whose value comes next. */
  readonly open: Option | undefined;
  /** A `--` stands before it. */
  readonly onlyArguments: boolean;
}

function readTyped(command: Command, words: readonly string[]): Typed {
  const options = new Map<string, string>();
  let places = 0;
  let open: Option | undefined;
  let onlyArguments = false;
  for (const word of words) {
    if (open !== undefined) {
      options.set(open.attributeName(), word);
      open = undefined;
    } else if (onlyArguments || word === "-" || !word.startsWith("-")) places += 1;
    else if (word === "--") onlyArguments = true;
    else {
      const [flag, value] = word.startsWith("--")
        ? splitOnce(word, "=")
        : [word.slice(0, 2), word.slice(2) || undefined];
      const option = command.options.find(({ long, short }) => long === flag || short === flag);
      if (option?.required !== true) continue;
      if (value === undefined) open = option;
      else options.set(option.attributeName(), value);
    }
  }
  return { options, places, open, onlyArguments };
}

function splitOnce(text: string, by: string): readonly [string, string | undefined] {
  const at = text.indexOf(by);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

const optionsOf = (command: Command): readonly Candidate[] => [
  ...command.options.map(({ long, short, description }) => ({ value: long ?? short ?? "", about: description })),
  { value: "--help", about: "help for this command" },
];

const withFlag = (offer: Offer, flag = ""): Offer => ({
  ...offer,
  candidates: offer.candidates.map(({ value, ...rest }) => ({ ...rest, value: `${flag}=${value}` })),
});

async function valuesOfOption(option: Option, context: CompletionContext): Promise<Offer> {
  if (option.argChoices !== undefined) return { candidates: option.argChoices.map((value) => ({ value })) };
  const kind = KIND_OF_OPTION[option.attributeName()];
  if (kind !== undefined) return { candidates: await valuesOf(kind, context) };
  if (option.flags.endsWith("<file>")) return { candidates: [], places: "files" };
  return option.flags.endsWith("<dir>") ? { candidates: [], places: "directories" } : NOTHING;
}

async function valuesOfArgument(command: Command, argument: Argument, context: CompletionContext): Promise<Offer> {
  if (argument.argChoices !== undefined) return { candidates: argument.argChoices.map((value) => ({ value })) };
  const kind = KIND_OF_ARGUMENT[command.name()]?.[argument.name()] ?? KIND_OF_ARGUMENT["*"]?.[argument.name()];
  if (kind !== undefined) return { candidates: await valuesOf(kind, context) };
  return argument.name() === "files" ? { candidates: [], places: "files" } : NOTHING;
}
