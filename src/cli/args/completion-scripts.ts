// The completion scripts of the shells. They ask `savestate __complete`, which prints `:files`, `:folders`, or one
// candidate per line, followed by a tab and a description.

// Bash 3.2, which macOS has, has neither mapfile nor compopt. Bash passes words as they were typed and splits them at : and =
// besides blanks, so the script joins them again and removes backslashes. Bash replaces only the part after the last : or =.
const BASH = `# bash completion for savestate. In ~/.bashrc: source <(savestate completion bash)
_savestate() {
  local rest=\${COMP_LINE:0:COMP_POINT} line word typed current= before= quote= words=()
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    typed=\${rest#"\${rest%%[! ]*}"}
    if [[ \${#words[@]} -gt 0 && $typed == "$rest" ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    rest=\${typed#"$word"}
  done
  for line in "\${!words[@]}"; do
    word=\${words[line]} current= quote=
    case $word in
      [\\'\\"]*) quote=\${word:0:1} word=\${word:1} current=\${word%"$quote"} ;;
      *)
        while [[ $word == *\\\\* ]]; do
          current+=\${word%%\\\\*}
          word=\${word#*\\\\}
          current+=\${word:0:1}
          word=\${word:1}
        done
        current+=$word
        ;;
    esac
    words[line]=$current
  done
  [[ -z $quote ]] && before=\${current%"\${current##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) _savestate_paths -f "\${current#--*=}" "$quote" ;;
      :folders) _savestate_paths -d "\${current#--*=}" "$quote" ;;
      *)
        line=\${line%%$'\\t'*}
        _savestate_add "\${line#"$before"}" "$quote"
        ;;
    esac
  done < <(savestate __complete -- "\${words[@]:1}" 2>/dev/null)
}
# Bash inserts a candidate as it is, so special characters need quoting. Candidates that the open quote does not protect
# are left out.
_savestate_add() {
  case $2 in
    \\') [[ $1 == *\\'* ]] || COMPREPLY+=("$1") ;;
    \\") [[ $1 == *[\\$\\\`\\"\\\\!]* ]] || COMPREPLY+=("$1") ;;
    *) COMPREPLY+=("$(printf %q "$1")") ;;
  esac
}
_savestate_paths() {
  local path isQuoted=
  # With this option bash quotes paths itself. Bash 3.2 does not have it.
  compopt -o filenames 2>/dev/null && isQuoted=1
  while IFS= read -r path; do
    if [[ -n $isQuoted ]]; then COMPREPLY+=("$path"); else _savestate_add "$path" "$3"; fi
  done < <(compgen "$1" -- "$2")
}
complete -F _savestate savestate
`

const ZSH = `#compdef savestate
# zsh completion for savestate. In ~/.zshrc, after compinit: source <(savestate completion zsh)
_savestate() {
  local line
  local -a candidates
  for line in "\${(@f)$(savestate __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) compset -P '--*='; _files; return ;;
      :folders) compset -P '--*='; _files -/; return ;;
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
  set -l current (commandline -ct)
  set -l typed (string unescape -- $current; or string trim -l -c "'\\"" -- $current)
  set -l option (string match -r -- '^--[^=]*=' $current)
  for line in (savestate __complete -- $words "$typed" 2>/dev/null)
    switch $line
      case :files
        printf '%s\\n' "$option"(__fish_complete_path (string replace -- "$option" '' $current))
      case :folders
        printf '%s\\n' "$option"(__fish_complete_directories (string replace -- "$option" '' $current) '')
      case '*'
        echo $line
    end
  end
end
complete -c savestate -f -k -a '(__savestate_complete)'
`

export const COMPLETION_SCRIPTS = new Map(Object.entries({ bash: BASH, zsh: ZSH, fish: FISH }))
