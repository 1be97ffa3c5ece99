// Looks at a call of a tool before it runs, and says what is wrong with it: it asks Savestate for something that only a
// person may ask for, or it is about the store's own files. This is care, not a wall: an agent with a shell can do
// whatever its person can. The program itself looks a second time (src/cli/agent-check.ts).
import { basename, isAbsolute, join, normalize, relative } from 'node:path'
import type { Tool } from '../agents/event.js'
import { recordOf } from '../agents/payload.js'
import { type Asked, type PersonNeed, personNeed } from './person-only.js'
import { commandsIn } from './shell-words.js'

export type GuardOptions = {
  /** Where the tool runs, as a whole path. */
  readonly cwd: string | undefined
  /** The person's home, for `~`. */
  readonly home: string | undefined
  readonly storeHome: string
}

export type Objection =
  | { readonly type: 'needs-person'; readonly need: PersonNeed; readonly what: string }
  | { readonly type: 'store' }

/** Undefined if nothing speaks against it. */
export function objectionTo(tool: Tool, options: GuardOptions): Objection | undefined {
  const fields = recordOf(tool.input) ?? {}
  const isAboutStore = pathsIn(fields).some((path) => isInStore(path, options))
  if (isAboutStore) return { type: 'store' }
  if (tool.effect !== 'anything') return undefined
  for (const { words, targets } of commandTexts(fields).flatMap(commandsIn)) {
    const asked = askedOfUs(words)
    const need = asked === undefined ? undefined : personNeed(asked)
    if (asked !== undefined && need !== undefined)
      return { type: 'needs-person', need, what: asked.command }
    if ([...words, ...targets].some((path) => isInStore(path, options))) return { type: 'store' }
  }
  return undefined
}

const PATH_KEYS = ['file_path', 'filePath', 'notebook_path', 'path', 'absolute_path', 'target_file']
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm
const COMMAND_KEYS = ['command', 'commands', 'cmd', 'script']

function pathsIn(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const texts = ['patchText', 'patch', 'command', 'input'].flatMap((key) => textsOf(fields[key]))
  const patched = texts
    .filter((text) => text.startsWith('*** Begin Patch'))
    .flatMap((patch) => [...patch.matchAll(PATCHED)].map(([, at, to]) => (at ?? to ?? '').trim()))
  return [...PATH_KEYS.flatMap((key) => textsOf(fields[key])), ...patched]
}

function commandTexts(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const texts = COMMAND_KEYS.flatMap((key) => {
    const value = fields[key]
    // A list is either the words of one command or several commands.
    if (!Array.isArray(value)) return textsOf(value)
    const items = value.flatMap(textsOf)
    return [...items, items.map(quoted).join(' ')]
  })
  return texts.filter((text) => !text.startsWith('*** Begin Patch'))
}

function textsOf(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : []
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** What may stand before the program, and programs that start another one. */
const BEFORE = /^(?:\w+=.*|!|\{|if|then|elif|else|while|until|do)$/
const STARTERS =
  /^(?:sudo|doas|env|nohup|time|timeout|nice|setsid|stdbuf|exec|command|xargs|node|bun|deno|npx|pnpx|bunx|npm|pnpm|yarn)$/
const OURS = /(?:^|[\\/])savestate(?:@[\w.-]+|\.cmd|\.exe|[\\/]dist[\\/]cli[\\/](?:bin|cli)\.js)?$/

/** What a simple command asks of our program; undefined if it starts another one. */
function askedOfUs(words: readonly string[]): Asked | undefined {
  const first = words.findIndex((word) => !BEFORE.test(word))
  const isStarted = STARTERS.test(basename(words[first] ?? ''))
  const start = isStarted ? words.findIndex((word) => OURS.test(word)) : first
  if (!OURS.test(words[start] ?? '')) return undefined
  const given = words.slice(start + 1)
  const own = given.filter((_, at) => given[at - 1] !== '-C')
  const [command = '', action] = own.filter((word) => !word.startsWith('-'))
  // Behind the first `--` after it are no options.
  const end = own.indexOf('--', own.indexOf(command))
  const options = end === -1 ? own : own.slice(0, end)
  const has = (option: string) =>
    options.includes(`--${option}`) || (option === 'help' && options.includes('-h'))
  return { command, action, has }
}

function isInStore(text: string, { cwd, home, storeHome }: GuardOptions): boolean {
  const expanded =
    home === undefined ? text : text.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home)
  const path = isAbsolute(expanded) ? normalize(expanded) : join(cwd ?? '/', expanded)
  // Most words are no paths at all, and then stand for one in the folder.
  const inside = relative(storeHome, path)
  return !inside.startsWith('..') && !isAbsolute(inside)
}
