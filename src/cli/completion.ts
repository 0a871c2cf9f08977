/** The script of `tickets completion`: commands and flags as their table has them, and files elsewhere. zsh takes it too. */

import type { Option } from "commander";

/** @param commands by their names. */
export function completionScript(commands: Readonly<Record<string, { readonly flags: readonly Option[] }>>): string {
  const cases = Object.entries(commands).map(([name, { flags }]) => {
    const words = [...flags.map(({ long }) => long), "--help"].join(" ");
    return `      ${name}) words="${words}" ;;`;
  });
  return `# Completion of tickets. In ~/.bashrc: source <(tickets completion)
_tickets() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words="${Object.keys(commands).join(" ")} --help --version"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
      *) words="" ;;
    esac
  fi
  COMPREPLY=()
  [ "$COMP_CWORD" -gt 1 ] && [ -z "$cur" ] || COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _tickets tickets
`;
}
