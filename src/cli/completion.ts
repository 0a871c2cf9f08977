/** The scripts of `tickets completion`: commands, flags and choices as their table has them, and files elsewhere. */

import type { Option } from "commander";
import type { Given } from "../commands/options.ts";

interface Command {
  readonly about: string;
  readonly argument?: readonly [name: string, about: string, choices?: readonly string[]];
  readonly flags: readonly Option[];
}

/** @param commands by their names. */
export const completionScript = (shell: Given["shell"], commands: Readonly<Record<string, Command>>): string =>
  ({ bash, zsh, fish })[shell](Object.entries(commands));

type Named = readonly [name: string, command: Command];

const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const choicesOf = ({ argument: [, , choices = []] = ["", ""] }: Command): readonly string[] => choices;

function bash(commands: readonly Named[]): string {
  const names = commands.map(([name]) => name);
  const words = (command: Command) => [...choicesOf(command), ...command.flags.map(({ long }) => long), "--help"];
  return `# Completion of tickets for bash. In ~/.bashrc: source <(tickets completion bash)
_tickets() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words="${names.join(" ")} --help --version"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${commands.map(([name, command]) => `      ${name}) words="${words(command).join(" ")}" ;;`).join("\n")}
      *) words="" ;;
    esac
  fi
  COMPREPLY=()
  [ "$COMP_CWORD" -gt 1 ] && [ -z "$cur" ] || COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _tickets tickets
`;
}

function zsh(commands: readonly Named[]): string {
  const described = (word: string, about: string) => inQuotes(`${word}:${about}`);
  const flags = (command: Command) =>
    command.flags.map(({ long, description }) => described(long ?? "", description)).join(" ");
  const words = (command: Command) => choicesOf(command).join(" ");
  return `#compdef tickets
# Completion of tickets for zsh. In ~/.zshrc, behind compinit: source <(tickets completion zsh)
_tickets() {
  local -a commands flags choices
  commands=(${commands.map(([name, { about }]) => described(name, about)).join(" ")})
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${commands.map(([name, command]) => `    ${name}) flags=(${flags(command)}); choices=(${words(command)}) ;;`).join("\n")}
  esac
  if [[ "$words[CURRENT]" = -* ]]; then _describe flag flags
  elif (( $#choices )); then compadd -a choices
  else _files; fi
}
if [[ "$funcstack[1]" = _tickets ]]; then _tickets "$@"; else compdef _tickets tickets; fi
`;
}

function fish(commands: readonly Named[]): string {
  const lines = commands.flatMap(([name, command]) => {
    const within = `complete -c tickets -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c tickets -n __fish_use_subcommand -f -a ${name} -d ${inQuotes(command.about)}`,
      ...choicesOf(command).map((choice) => `${within} -f -a ${choice}`),
      ...command.flags.map(({ long, short, required, argChoices = [], description }) =>
        [
          within,
          ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
          `-l ${long?.slice(2)}`,
          ...(required ? ["-r"] : []),
          ...(argChoices.length > 0 ? [`-f -a ${inQuotes(argChoices.join(" "))}`] : []),
          `-d ${inQuotes(description)}`,
        ].join(" "),
      ),
    ];
  });
  return `# Completion of tickets for fish: tickets completion fish > ~/.config/fish/completions/tickets.fish\n${lines.join("\n")}\n`;
}
