/** The scripts of `tickets completion`: each asks the bin itself what to offer, so that none has a list that could grow old. */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** The word by which a script asks the bin. No help names it. */
export const COMPLETE = "__complete";

export const completionScript = (shell: Shell): string => SCRIPTS[shell];

const BASH = `# Completion of tickets for bash. In ~/.bashrc: source <(tickets completion bash)
_tickets() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line value
  [ "$cur" = "=" ] && cur=""
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files) compopt -o filenames 2>/dev/null
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$cur") ;;
      :directories) compopt -o filenames 2>/dev/null
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -d -- "$cur") ;;
      *) printf -v value '%q' "\${line%%$'\\t'*}"
        COMPREPLY+=("$value") ;;
    esac
  done < <("$1" ${COMPLETE} bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
}
complete -F _tickets tickets
`;

const ZSH = `#compdef tickets
# Completion of tickets for zsh. In ~/.zshrc, behind compinit: source <(tickets completion zsh)
_tickets() {
  local -a values
  local line places=""
  while IFS= read -r line; do
    case "$line" in
      :*) places="\${line#:}" ;;
      *) values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <("\${(Q)words[1]}" ${COMPLETE} zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)
  (( $#values )) && _describe tickets values
  [[ "$places" = files ]] && _files
  [[ "$places" = directories ]] && _files -/
  return 0
}
if [[ "$funcstack[1]" = _tickets ]]; then _tickets "$@"; else compdef _tickets tickets; fi
`;

const FISH = `# Completion of tickets for fish: tickets completion fish > ~/.config/fish/completions/tickets.fish
function __tickets_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program ${COMPLETE} fish $words "$current" 2>/dev/null </dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :directories
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c tickets -f -a '(__tickets_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
