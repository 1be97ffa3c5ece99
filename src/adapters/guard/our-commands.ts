// Finds our program in a line of shell. The rule is conservative: our name followed by a command that only the user may
// run is refused wherever it appears, except as text for programs that never run their arguments.
import { basename } from 'node:path'
import { type Asked, type PersonNeed, personNeed } from './person-only.js'
import { type Command, commandsIn } from './shell-words.js'

const MAX_DEPTH = 4

/** May come before the program of a simple command. */
const BEFORE = /^(?:\w+=.*|!|\{|if|then|elif|else|while|until|do)$/
const OURS =
  /(?:^|[^\w.-])savestate(?:@[\w.-]+|\.cmd|\.exe|[\\/]dist[\\/]cli[\\/](?:bin|cli)\.js)?$/
/** Programs that never run what they are given as arguments. */
const HARMLESS = new Set(
  `: [ [[ ack ag basename cat cd chmod chown cmp cp curl cut date diff dirname du echo egrep export fgrep file gh git
  grep head help jq kill less ln ls man md5sum mkdir more mv open popd printf ps pushd pwd readlink realpath rg rm rmdir
  sed sha256sum shasum sleep sort stat tail tee test touch tr tree true type uniq wc wget whereis which yq`.split(
    /\s+/,
  ),
)
/** git runs what a setting or one of these subcommands says. */
const GIT_RUNS = /^(?:run|foreach|filter-branch|-x|--exec(?:=.*)?|[a-z]+\.[\w.-]+=.*|alias\..*)$/i
/** Programs that run what they read from stdin or from a file. */
const INTERPRETERS =
  /^(?:(?:ba|da|z|k|fi|tc|c)?sh|source|\.|eval|at|batch|ssh|parallel|python[\d.]*|node|perl|ruby|php)$/

/** A simple command somewhere in the line. */
export type Found = Pick<Command, 'words' | 'targets'> & {
  /** Its words are only printed, searched for or written. */
  readonly isText: boolean
}

/** All commands of the line; also those in `sh -c '…'`, in `$(…)`, and in text that is piped into a shell. */
export function allCommands(text: string): readonly Found[] {
  return commandsAt(text, { depth: 0, areTextsRun: false, seen: new Set() })
}

type Level = {
  readonly depth: number
  /** A shell reads what the commands print. */
  readonly areTextsRun: boolean
  /** Shells split a text differently, and mostly find the same texts in it: each is read once. */
  readonly seen: Set<string>
}

function commandsAt(text: string, { depth, areTextsRun: wereRun, seen }: Level): readonly Found[] {
  const key = `${wereRun} ${text}`
  if (seen.has(key)) return []
  seen.add(key)
  if (depth > MAX_DEPTH) return [{ words: text.split(/\s+/), targets: [], isText: false }]
  const commands = commandsIn(text).map((command) => withVariable(command, text))
  const areTextsRun = wereRun || commands.some(readsCommands)
  return commands.flatMap((command) => {
    const { words, targets, nested } = command
    const isText = !areTextsRun && isHarmless(words)
    const inner = [...nested, ...(isText ? substitutionsIn(command) : textsIn(command))]
    const below = { depth: depth + 1, areTextsRun, seen }
    return [{ words, targets, isText }, ...inner.flatMap((one) => commandsAt(one, below))]
  })
}

/** `S=savestate; $S undo`: in a line that names us, any variable may be our program. */
function withVariable(command: Command, text: string): Command {
  const at = programAt(command.words)
  const isVariable = /^\$\{?\w+\}?$/.test(command.words[at] ?? '')
  if (!isVariable || !text.includes('savestate')) return command
  return {
    ...command,
    words: command.words.map((word, place) => (place === at ? 'savestate' : word)),
  }
}

/** `… | bash`, `bash <(…)`, `eval $(…)`: what the other commands print is run. */
function readsCommands({ words, isFed, nested }: Command): boolean {
  const runs = words.some((word) => INTERPRETERS.test(basename(word)))
  return runs && (isFed || nested.length > 0 || words.includes('$'))
}

function isHarmless(words: readonly string[]): boolean {
  const name = basename(words[programAt(words)] ?? '')
  return HARMLESS.has(name) && !(name === 'git' && words.some((word) => GIT_RUNS.test(word)))
}

function programAt(words: readonly string[]): number {
  const at = words.findIndex((word) => !BEFORE.test(word))
  return at === -1 ? words.length : at
}

/** Arguments that may be scripts. Those of our own program are text, unless it runs a command. */
function textsIn({ words, given }: Command): readonly string[] {
  const ours = words.findIndex((word) => OURS.test(word))
  const isOwnText = ours !== -1 && askedBehind(words, ours).command !== 'run'
  const scripts = isOwnText ? words.slice(0, ours) : words
  // The words of `eval` are one script.
  const joined = words.includes('eval') ? [words.slice(words.indexOf('eval') + 1).join(' ')] : []
  return [...scripts.filter((word) => /\s/.test(word)), ...given, ...joined]
}

/** The shell also runs `$(…)` in the text after `<<`. */
function substitutionsIn({ given }: Command): readonly string[] {
  return given.flatMap((text) =>
    [...text.matchAll(/\$\(([^)]*)|`([^`]*)/g)].map(([, first, second]) => first ?? second ?? ''),
  )
}

export type Refused = { readonly need: PersonNeed; readonly what: string }

/** The first thing that the command asks of our program and that only the user may ask for. */
export function refusedIn({ words, isText }: Found): Refused | undefined {
  if (isText) return undefined
  // `{savestate,undo,-y}`, or the arguments of a function in another language.
  const lists = words.flatMap((word) => (word.includes(',') ? [word.split(/[[\]{}(),]+/)] : []))
  for (const list of [words, ...lists]) {
    for (const [at, word] of list.entries()) {
      if (!OURS.test(word)) continue
      const asked = askedBehind(list, at)
      const need = personNeed(asked)
      if (need !== undefined) return { need, what: asked.command }
      // xargs adds the command.
      if (asked.command === '' && list.includes('xargs')) return { need: 'always', what: 'xargs' }
    }
  }
  return undefined
}

/** Whether the command names our program other than in a text. */
export function namesUs({ words, isText }: Found): boolean {
  return !isText && words.some((word) => OURS.test(word))
}

function askedBehind(words: readonly string[], at: number): Asked {
  const given = words.slice(at + 1)
  const own = given.filter((_, place) => given[place - 1] !== '-C')
  const [command = '', action] = own.filter((word) => !word.startsWith('-'))
  // After the first `--` behind the command there are no options.
  const end = own.indexOf('--', own.indexOf(command))
  const options = end === -1 ? own : own.slice(0, end)
  const has = (option: string) =>
    options.includes(`--${option}`) || (option === 'help' && options.includes('-h'))
  return { command, action, has }
}
