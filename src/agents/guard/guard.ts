// Checks a tool call before it runs. It objects to Savestate commands that only the user may run, and to paths in the store.
// It prevents accidents, not attacks: an agent with a shell can do whatever its user can. The program itself checks a second
// time (src/cli/hook/refuse-agent.ts).
import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { AGENT_MARKS, type Fields, fieldsOf, singleQuote } from '../../base/index.js'
import type { Store } from '../../index.js'
import type { AgentEvent, Tool } from '../mappers/event.js'
import { userCommand } from '../hooks/prompt-command.js'
import { isPatch, patchedPaths } from '../mappers/patch.js'
import { mayRewind } from './allowed.js'
import { allCommands, namesUs, refusedIn, type Refused } from './our-commands.js'
import { type PathOptions, StorePaths } from './store-paths.js'

type Objection =
  | ({ readonly type: 'needs-user' } & Refused)
  | { readonly type: 'store' }
  /** The line names a variable by which the program recognizes agents. */
  | { readonly type: 'mark'; readonly variable: string }
  | { readonly type: 'too-long' }

/** Longer lines are not fully parsed, so they must not name savestate at all. */
const MAX_CHARS = 50_000

/** Explains to the model why a tool call is refused. Undefined if the tool may run, or for any other event. */
export async function findRefusal(
  store: Store,
  event: AgentEvent,
  { cwd }: { readonly cwd?: string | undefined },
): Promise<string | undefined> {
  if (event.type !== 'before-tool') return undefined
  const { agent } = event
  const folder = toolFolder(event, cwd)
  const options = { cwd: folder, home: homedir(), storeHome: store.home }
  const objection = findObjection(event.tool, options)
  if (objection === undefined) return undefined
  if (objection.type === 'store')
    return 'Agents may not access the store of Savestate, so this was not run. Use `savestate list`, `show` and `diff` to read checkpoints.'
  if (objection.type === 'mark')
    return `This command line sets or reads ${objection.variable}, by which Savestate recognizes agents, so it was not run. Run savestate without it.`
  if (objection.type === 'too-long')
    return 'This command line contains savestate and is too long to be checked, so it was not run. Write long texts to files with another tool.'
  const { permission, what } = objection
  if (permission === 'user-only')
    return `The command line contains \`savestate ${what}\`, which only the user may run in this form, so it was not run. Ask the user to run it in their own terminal.`
  if (await mayRewind(store, { agent, folder })) return undefined
  return `The command line contains \`savestate ${what}\`, which can discard work, and the user has not allowed agents to run it, so it was not run. Ask the user to run it in their own terminal; \`--dry-run\` shows what it would do.`
}

/** The folder that the tool runs in, as an absolute path. The current folder of this process may be the daemon's. */
function toolFolder(event: AgentEvent, own: string | undefined): string | undefined {
  const cwd = event.cwd ?? own
  if (cwd === undefined || isAbsolute(cwd)) return cwd
  return own === undefined ? undefined : join(own, cwd)
}

/** Undefined if the tool may run. */
export function findObjection(tool: Tool, options: PathOptions): Objection | undefined {
  const store = new StorePaths(options)
  const fields = fieldsOf(tool.input)
  const { paths, bases } = pathsIn(tool, fields)
  if (paths.some((path) => store.has(path, bases))) return { type: 'store' }
  if (tool.effect === 'reads' || tool.effect === 'writes') return undefined
  const typed = findTyped(fields)
  if (typed !== undefined) return { type: 'needs-user', ...typed }
  if (tool.effect === 'delegates') return undefined
  for (const text of commandTexts(fields)) {
    const objection = findLineObjection(text, store)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** A tool may pass the text on as a prompt, now or at a set time, which would look like one of the user's. */
function findTyped(fields: Fields): Refused | undefined {
  const isText = (key: string) => COMMAND_KEYS.includes(key)
  const [what] = stringsIn(fields, { isText, depth: 0 }).flatMap((text) => userCommand(text) ?? [])
  return what === undefined ? undefined : { permission: 'by-switch', what }
}

function findLineObjection(text: string, store: StorePaths): Objection | undefined {
  const isTooLong = text.length > MAX_CHARS
  if (isTooLong && text.replaceAll(/["'\\\n]/g, '').includes('savestate'))
    return { type: 'too-long' }
  const mark = MARK.exec(text)?.[0]
  const commands = allCommands(text.slice(0, MAX_CHARS))
  const bases = commands.flatMap(({ words }) => (CHANGES_FOLDER.test(words[0] ?? '') ? words : []))
  for (const command of commands) {
    const refused = refusedIn(command)
    if (refused !== undefined) return { type: 'needs-user', ...refused }
    if (mark !== undefined && namesUs(command)) return { type: 'mark', variable: mark }
    const named = command.words.flatMap(pathsInWord)
    if (named.some((path) => store.has(path, bases))) return { type: 'store' }
  }
  return undefined
}

const MARK = new RegExp(`\\b(?:${AGENT_MARKS.map(([variable]) => variable).join('|')})\\b`)
const CHANGES_FOLDER = /^(?:cd|pushd)$/

/** Also the value in `--file=…`, `if=…` and `-C…`. */
function pathsInWord(word: string): readonly string[] {
  const value = /^(?:-[A-Za-z]|[^=/]+=)(.+)$/.exec(word)?.[1]
  return value === undefined ? [word] : [word, value]
}

const COMMAND_KEYS = ['command', 'commands', 'cmd', 'script']
/** Fields with text that a tool writes or sends. */
const TEXT_KEYS =
  /^(?:.*(?:content|contents|string|text|prompt|description|message|title|body|code)|query|regex)$/i
const FOLDER_KEYS = ['path', 'dir_path', 'directory', 'cwd', 'root']
const MAX_DEPTH = 8

/** All strings of the input that may be paths, and the folders that relative ones may start from. */
function pathsIn(
  { name }: Tool,
  fields: Fields,
): { readonly paths: readonly string[]; readonly bases: readonly string[] } {
  // The pattern of a tool that searches in files is text; that of a tool that finds files is a path.
  const isSearch = /grep|search/i.test(basename(name))
  const isText = (key: string) =>
    TEXT_KEYS.test(key) || COMMAND_KEYS.includes(key) || (isSearch && key === 'pattern')
  const paths = stringsIn(fields, { isText, depth: 0 })
  return {
    paths: [...paths, ...patchedPaths(fields)],
    bases: FOLDER_KEYS.flatMap((key) => textsOf(fields[key])),
  }
}

type Depth = { readonly isText: (key: string) => boolean; readonly depth: number }

function stringsIn(value: unknown, { isText, depth }: Depth): readonly string[] {
  if (typeof value === 'string') return [value]
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return []
  const below = { isText, depth: depth + 1 }
  return Object.entries(value).flatMap(([key, item]) => (isText(key) ? [] : stringsIn(item, below)))
}

function commandTexts(fields: Fields): readonly string[] {
  const texts = COMMAND_KEYS.flatMap((key) => {
    const value = fields[key]
    // A list is either the words of one command or several commands.
    if (!Array.isArray(value)) return textsOf(value)
    const items = value.flatMap(textsOf)
    return [...items, items.map(singleQuote).join(' ')]
  })
  return texts.filter((text) => !isPatch(text))
}

function textsOf(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : []
}
