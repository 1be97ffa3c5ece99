// Finds calls of savestate in a line of shell. The rule is conservative: the name followed by a command that only the user
// may run is refused wherever it appears, except as text for programs that never run their arguments.
import { basename } from 'node:path'
import { agentPermission, type AgentPermission, splitLine } from '../../base/index.js'

const MAX_DEPTH = 4

/** Words that may precede the program of a simple command. */
const BEFORE = /^(?:\w+=.*|!|\{|if|then|elif|else|while|until|do)$/
const OURS =
  /(?:^|[^\w.-])savestate(?:@[\w.-]+|\.cmd|\.exe|[\\/]dist[\\/]cli[\\/](?:bin|cli)\.js)?$/
/** Programs that never run their arguments. */
const HARMLESS = new Set(
  `: [ [[ ack ag basename cat cd chmod chown cmp cp curl cut date diff dirname du echo egrep export fgrep file gh git
  grep head help jq kill less ln ls man md5sum mkdir more mv open popd printf ps pushd pwd readlink realpath rg rm rmdir
  sed sha256sum shasum sleep sort stat tail tee test touch tr tree true type uniq wc wget whereis which yq`.split(
    /\s+/,
  ),
)
/** With these arguments git runs other programs. */
const GIT_RUNS = /^(?:run|foreach|filter-branch|-x|--exec(?:=.*)?|[a-z]+\.[\w.-]+=.*|alias\..*)$/i
/** Programs that run their stdin or a file. A coding agent sends it as a prompt, which may be a command of ours. */
const INTERPRETERS =
  /^(?:(?:ba|da|z|k|fi|tc|c)?sh|source|\.|eval|at|batch|ssh|parallel|claude|codex|gemini|opencode|python[\d.]*|node|perl|ruby|php)$/

/** A simple command somewhere in the line. */
export type Found = {
  readonly words: readonly string[]
  /** The words that may be run; the others are only data. */
  readonly runnable: readonly string[]
}

/** All commands of the line, including those in `sh -c '…'`, in `$(…)`, and in text that is piped into a shell. */
export function allCommands(text: string): readonly Found[] {
  return commandsAt(text, { depth: 0, areTextsRun: false })
}

function commandsAt(
  text: string,
  { depth, areTextsRun: wereRun }: { readonly depth: number; readonly areTextsRun: boolean },
): readonly Found[] {
  if (depth > MAX_DEPTH) {
    const words = text.split(/\s+/)
    return [{ words, runnable: words }]
  }
  const commands = splitLine(text)
  // `… | bash`, `bash <(…)` and `eval $(…)` run the output of the other commands. The splitter does not understand
  // here-documents and `$'…'`.
  const hasSubstitution = /[$<]\(|`/.test(text)
  const areTextsRun =
    wereRun ||
    /<<(?!<)|\$'/.test(text) ||
    commands.some(({ words, isFed }) => (isFed || hasSubstitution) && hasInterpreter(words))
  return commands.flatMap(({ words: given, targets }) => {
    const words = withProgramName(given, text)
    const isText = !areTextsRun && isHarmless(words)
    const scripts = isText ? [] : scriptsIn([...words, ...targets])
    return [
      { words: [...words, ...targets], runnable: isText ? [] : words },
      ...scripts.flatMap((script) => commandsAt(script, { depth: depth + 1, areTextsRun })),
    ]
  })
}

/** `S=savestate; $S undo`: in a line that names savestate, any variable may be the program. */
function withProgramName(words: readonly string[], text: string): readonly string[] {
  const at = programAt(words)
  const isVariable = /^\$\{?\w+\}?$/.test(words[at] ?? '') && text.includes('savestate')
  return isVariable ? words.with(at, 'savestate') : words
}

function hasInterpreter(words: readonly string[]): boolean {
  return words.some((word) => INTERPRETERS.test(basename(word)))
}

function isHarmless(words: readonly string[]): boolean {
  const name = basename(words[programAt(words)] ?? '')
  return HARMLESS.has(name) && !(name === 'git' && words.some((word) => GIT_RUNS.test(word)))
}

function programAt(words: readonly string[]): number {
  const at = words.findIndex((word) => !BEFORE.test(word))
  return at === -1 ? words.length : at
}

/** Words that may be scripts. Arguments of savestate are text, except those of `savestate run`. */
function scriptsIn(words: readonly string[]): readonly string[] {
  const ours = words.findIndex((word) => OURS.test(word))
  const isOwnText = ours !== -1 && parseCall(words.slice(ours + 1))?.command !== 'run'
  const scripts = (isOwnText ? words.slice(0, ours) : words).filter((word) => /\s/.test(word))
  // The words of `eval` are one script.
  const evaluated = words.includes('eval') ? [words.slice(words.indexOf('eval') + 1).join(' ')] : []
  return [...scripts, ...evaluated]
}

/** Whether the command names savestate other than as text. */
export function namesUs({ runnable }: Found): boolean {
  return runnable.some((word) => OURS.test(word))
}

export type Refused = {
  readonly permission: Exclude<AgentPermission, 'free'>
  readonly what: string
}

/** The first call of savestate in the command that an agent may not make. */
export function refusedIn({ runnable }: Found): Refused | undefined {
  // `{savestate,undo,-y}`, or the arguments of a function in another language. Both readings count: a folder after `-C`
  // may contain these characters.
  const parts = runnable.flatMap((word) => word.split(/[[\]{}(),]+/)).filter((word) => word !== '')
  return refusedAmong(runnable) ?? refusedAmong(parts)
}

function refusedAmong(words: readonly string[]): Refused | undefined {
  for (const [at, word] of words.entries()) {
    if (!OURS.test(word)) continue
    const call = parseCall(words.slice(at + 1))
    // It would report an event that did not happen, such as a prompt.
    if (call?.command === 'hook') return { permission: 'user-only', what: 'hook' }
    const permission = call === undefined ? 'free' : agentPermission(call)
    if (call !== undefined && permission !== 'free') return { permission, what: call.command }
    // xargs adds the command.
    if (call === undefined && words.slice(0, at).includes('xargs'))
      return { permission: 'user-only', what: 'xargs' }
  }
  return undefined
}

/** Parses the words after the name; undefined if there is no command. */
function parseCall(given: readonly string[]): Parameters<typeof agentPermission>[0] | undefined {
  const own = given.filter((_, index) => given[index - 1] !== '-C')
  const [command, action] = own.filter((word) => !word.startsWith('-'))
  if (command === undefined) return undefined
  // Options end at the first `--` after the command.
  const end = own.indexOf('--', own.indexOf(command))
  const options = end === -1 ? own : own.slice(0, end)
  const has = (option: string) =>
    options.includes(`--${option}`) || (option === 'help' && options.includes('-h'))
  return { command, action, has }
}
