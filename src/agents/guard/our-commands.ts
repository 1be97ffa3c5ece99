// Finds calls of savestate in a line of shell. The rule is conservative: the name followed by a command that only the user
// may run is refused wherever it appears, except as text for programs that never run their arguments.
import { basename } from 'node:path'
import { agentPermission, type AgentPermission } from '../../base/index.js'
import { type Command, splitLine } from './shell-words.js'

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
/** Programs that run their stdin or a file. */
const INTERPRETERS =
  /^(?:(?:ba|da|z|k|fi|tc|c)?sh|source|\.|eval|at|batch|ssh|parallel|python[\d.]*|node|perl|ruby|php)$/

/** A simple command somewhere in the line. */
export type Found = {
  readonly words: readonly string[]
  /** The words that may be run; the others are only data. */
  readonly runnable: readonly string[]
  /** How many of these precede the first redirection. */
  readonly plainCount: number
}

/** All commands of the line, including those in `sh -c '…'`, in `$(…)`, and in text that is piped into a shell. */
export function allCommands(text: string): readonly Found[] {
  return commandsAt(decodeEscapes(text), { depth: 0, areTextsRun: false })
}

function commandsAt(
  text: string,
  { depth, areTextsRun: wereRun }: { readonly depth: number; readonly areTextsRun: boolean },
): readonly Found[] {
  if (depth > MAX_DEPTH) {
    const words = text.split(/\s+/)
    return [{ words, runnable: words, plainCount: words.length }]
  }
  const { commands, isUnclear } = splitLine(text)
  const areTextsRun = wereRun || isUnclear || commands.some(readsCommands)
  return commands.flatMap((command) => {
    const words = withProgramName(command.words, text)
    const isText = !areTextsRun && !command.hasSubstitution && isHarmless(words)
    const runnable = isText ? words.slice(command.plainCount) : words
    const plainCount = isText ? 0 : command.plainCount
    const inner = textsIn(runnable).flatMap((one) =>
      commandsAt(one, { depth: depth + 1, areTextsRun }),
    )
    return [{ words, runnable, plainCount }, ...inner]
  })
}

/** `S=savestate; $S undo`: in a line that names savestate, any variable may be the program. */
function withProgramName(words: readonly string[], text: string): readonly string[] {
  const at = programAt(words)
  const isVariable = /^\$\{?\w+\}?$/.test(words[at] ?? '') && text.includes('savestate')
  return isVariable ? words.with(at, 'savestate') : words
}

/** `… | bash`, `bash <(…)`, `eval $(…)`: it runs the output of the other commands. */
function readsCommands({ words, isFed, hasSubstitution }: Command): boolean {
  return (isFed || hasSubstitution) && words.some((word) => INTERPRETERS.test(basename(word)))
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
function textsIn(words: readonly string[]): readonly string[] {
  const ours = words.findIndex((word) => OURS.test(word))
  const isOwnText = ours !== -1 && commandAfterName(words.slice(ours + 1))?.command !== 'run'
  const scripts = (isOwnText ? words.slice(0, ours) : words).filter((word) => /\s/.test(word))
  // The words of `eval` are one script.
  const evaluated = words.includes('eval') ? [words.slice(words.indexOf('eval') + 1).join(' ')] : []
  return [...scripts, ...evaluated]
}

export type Refused = {
  readonly permission: Exclude<AgentPermission, 'free'>
  readonly what: string
}

/** The first call of savestate in the command that an agent may not make. */
export function refusedIn({ runnable, plainCount }: Found): Refused | undefined {
  // `{savestate,undo,-y}`, or the arguments of a function in another language.
  const lists = runnable.flatMap((word) => (word.includes(',') ? [word.split(/[[\]{}(),]+/)] : []))
  for (const words of [runnable, ...lists]) {
    const count = words === runnable ? plainCount : words.length
    for (const [at, word] of words.entries()) {
      const refused = OURS.test(word)
        ? refusedAfterName(words, { at, plainCount: count })
        : undefined
      if (refused !== undefined) return refused
    }
  }
  return undefined
}

/** Whether the command names savestate other than as text. */
export function namesUs({ runnable }: Found): boolean {
  return runnable.some((word) => OURS.test(word))
}

/** Words after a redirection may be its target or arguments; the stricter reading counts. */
function refusedAfterName(
  words: readonly string[],
  { at, plainCount }: { readonly at: number; readonly plainCount: number },
): Refused | undefined {
  const end = Math.max(at + 1, plainCount)
  const later = words.slice(end).map((word) => word.replace(/^[-!]+(?=\w)/, ''))
  const call = commandAfterName(words.slice(at + 1, end))
  if (call !== undefined) {
    const { command, action, options } = call
    const has = (option: string) =>
      options.includes(`--${option}`) ||
      (option === 'help' && options.includes('-h')) ||
      (!EXCUSES.includes(option) && later.includes(option))
    return firstRefused(
      (action === undefined ? [undefined, ...later] : [action]).map((one) => ({
        command,
        action: one,
        has,
      })),
    )
  }
  // xargs adds the command.
  if (words.slice(0, at).includes('xargs')) return { permission: 'user-only', what: 'xargs' }
  const has = () => false
  return firstRefused(later.map((command, index) => ({ command, action: later[index + 1], has })))
}

const EXCUSES = ['help', 'dry-run']

function firstRefused(
  calls: readonly Parameters<typeof agentPermission>[0][],
): Refused | undefined {
  for (const call of calls) {
    const permission = agentPermission(call)
    if (permission !== 'free') return { permission, what: call.command }
  }
  return undefined
}

/** Parses the words after the name; undefined if there is no command. */
function commandAfterName(given: readonly string[]) {
  const own = given.filter((_, index) => given[index - 1] !== '-C')
  const [command, action] = own.filter((word) => !word.startsWith('-'))
  if (command === undefined) return undefined
  // Options end at the first `--` after the command.
  const end = own.indexOf('--', own.indexOf(command))
  return { command, action, options: end === -1 ? own : own.slice(0, end) }
}

/** Decodes numeric escapes, as in `$'\x73avestate'`. */
function decodeEscapes(text: string): string {
  if (!text.includes("$'")) return text
  return text.replaceAll(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,3}))/g,
    (_, hex?: string, short?: string, long?: string, octal?: string) => {
      const code =
        octal === undefined ? parseInt(hex ?? short ?? long ?? '', 16) : parseInt(octal, 8)
      return code <= 0x10ffff ? String.fromCodePoint(code) : ''
    },
  )
}
