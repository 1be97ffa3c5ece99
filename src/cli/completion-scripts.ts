// The scripts are small on purpose: everything that must be known is asked of `savestate __complete`, which
// prints one candidate a line, a tab and a description, or `:files` or `:folders`.

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof SHELLS)[number]

export function isShell(text: string): text is Shell {
  return SHELLS.some((shell) => shell === text)
}

// Bash 3.2, which macOS has, knows neither mapfile nor compopt.
const BASH = `# bash completion for savestate. In ~/.bashrc: source <(savestate completion bash)
_savestate() {
  local current=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
        ;;
      :folders)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current")
        ;;
      *) COMPREPLY+=("$(printf %q "\${line%%$'\\t'*}")") ;;
    esac
  done < <(savestate __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _savestate savestate
`

const ZSH = `#compdef savestate
# zsh completion for savestate. In ~/.zshrc, after compinit: source <(savestate completion zsh)
_savestate() {
  local line
  local -a candidates
  for line in "\${(@f)$(savestate __complete -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) _files; return ;;
      :folders) _files -/; return ;;
      *) candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( \${#candidates} )) && _describe -V savestate candidates
}
if [[ $funcstack[1] == _savestate ]]; then
  _savestate "$@"
else
  compdef _savestate savestate
fi
`

const FISH = `# fish completion for savestate. In ~/.config/fish/config.fish: savestate completion fish | source
function __savestate_complete
  set -l words (commandline -opc)
  set -e words[1]
  for line in (savestate __complete -- $words (commandline -ct) 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case :folders
        __fish_complete_directories (commandline -ct) ''
      case '*'
        echo $line
    end
  end
end
complete -c savestate -f -k -a '(__savestate_complete)'
`

export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
}
