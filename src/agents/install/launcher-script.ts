// The text of the launcher. A POSIX shell runs it at each event of an agent, so the usual case must start no extra program.
import { AGENT_NAMES, type AgentName, singleQuote } from '../../base/index.js'
import { type EventType } from '../mappers/event.js'
import { MAPPERS } from '../mappers/mappers.js'
import { SYSTEM_MESSAGE } from './hook-command.js'

/** The file beside the launcher with the day on which a missing Savestate was last reported. */
export const NOTICE = 'not-found-reported'

export type LauncherValues = {
  /** The Node and the program at the time of the install. */
  readonly node: string
  readonly program: string
  /** The store, if SAVESTATE_HOME was set during the install. */
  readonly home: string | undefined
  /** The file with the hooks of each agent. */
  readonly hookFiles: ReadonlyMap<AgentName, string>
}

export function launcherScript({ node, program, home, hookFiles }: LauncherValues): string {
  const files = [...hookFiles].map(
    ([agent, file]) => `${agent}) file=${singleQuote(jsonText(file))} ;;`,
  )
  return [
    '#!/bin/sh',
    '# Written by `savestate install`, which replaces it. The hooks of coding agents run this file.',
    `node=${singleQuote(node)}`,
    `program=${singleQuote(program)}`,
    ...(home !== undefined
      ? [`[ -n "\${SAVESTATE_HOME-}" ] || export SAVESTATE_HOME=${singleQuote(home)}`]
      : []),
    FIND,
    `case \${2-} in\n${files.join('\n')}\n*) file='the configuration of the agent' ;;\nesac`,
    REPORT,
  ].join('\n')
}

/** The content of a JSON string, without its quotes. */
function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function eventNames(type: EventType): string {
  const names = AGENT_NAMES.flatMap((agent) =>
    Object.entries(MAPPERS[agent].types).flatMap(([name, one]) => (one === type ? [name] : [])),
  )
  return [...new Set(names)].join(' | ')
}

// `exec` keeps stdin, arguments and exit code. `--which` prints the command instead of running it.
const FIND = `notice="\${0%/*}/${NOTICE}"
which=
if [ "\${1-}" = --which ]; then
  which=1
  shift
fi

become() {
  if [ -n "$which" ]; then
    printf '%s\\n' "$@"
    exit 0
  fi
  [ ! -e "$notice" ] || rm -f "$notice"
  exec "$@"
}

# Becomes the program $1 if there is one. A script for Node needs a Node: one beside it, the recorded one, or one on PATH.
try() {
  script=$1
  shift
  [ -f "$script" ] && [ -x "$script" ] || return 0
  IFS= read -r first 2>/dev/null <"$script"
  case $first in
  '#!'*node*)
    for one in "\${script%/*}/node" "$node"; do
      [ ! -x "$one" ] || become "$one" "$script" "$@"
    done
    command -v node >/dev/null || return 0
    ;;
  esac
  become "$script" "$@"
}

if [ -x "$node" ] && [ -f "$program" ]; then become "$node" "$program" "$@"; fi
try "$program" "$@"
found=$(command -v savestate)
try "$found" "$@"
# Other versions of Node that the same version manager has installed.
case $node in
*/versions/node/*/bin/node | */installs/node*/*/bin/node)
  for script in "\${node%/*/bin/node}"/*/bin/savestate; do try "$script" "$@"; done
  ;;
*/node-versions/*/installation/bin/node)
  for script in "\${node%/*/installation/bin/node}"/*/installation/bin/savestate; do
    try "$script" "$@"
  done
  ;;
esac

# No Savestate.
[ -z "$which" ] || exit 1
if [ "\${1-}" != hook ]; then
  echo "Savestate was not found. It was at $program." >&2
  exit 127
fi
# An agent may fail if nothing reads what it sends.
[ -t 0 ] || cat >/dev/null`

const REPORT = `why="Savestate is no longer installed, so nothing is saved. Install it again, or remove its hooks from $file."
case " $* " in
*' --strict '*)
  case $3 in
  ${eventNames('before-tool')})
    printf '%s\\n' "$why The hooks are strict, so the tool was not run." >&2
    exit 2
    ;;
  esac
  ;;
esac
is_shown=
case $3 in
${eventNames('session-start')} | ${eventNames('turn-start')})
  # Once a day, not once ever: the user may not see it (claude -p).
  today=$(date +%Y-%m-%d 2>/dev/null)
  last=never
  { IFS= read -r last <"$notice"; } 2>/dev/null
  [ "$last" = "$today" ] || is_shown=1
  ;;
esac
if [ -z "$is_shown" ]; then
  # Cline expects an answer to every event.
  [ "$2" != cline ] || echo '{"cancel":false}'
  exit 0
fi
{ printf '%s\\n' "$today" >"$notice"; } 2>/dev/null
case $2 in
${SYSTEM_MESSAGE.join(' | ')}) printf '{"systemMessage":"%s"}\\n' "$why" ;;
opencode) printf '{"tell":"%s"}\\n' "$why" ;;
cursor) printf '{"user_message":"%s"}\\n' "$why" ;;
cline) printf '{"cancel":false,"errorMessage":"%s"}\\n' "$why" ;;
*) printf '%s\\n' "$why" >&2 ;;
esac
exit 0
`
