// Finds the commands of a tool call that probably changed something outside the project's folder, which no rewind takes back.
// It reports too much rather than too little where a line is not understood; it never stops anything.
import { type Fields, fieldsOf, isRecord } from '../json.js'
import { maskNamedValues, maskSecrets } from '../mask-secrets.js'
import { commandLine } from '../words.js'
import { clientChanges } from './client-arguments.js'
import type { OutsideCommand, OutsideKind } from './outside-command.js'
import { PATTERNS } from './outside-patterns.js'
import { splitLine } from './shell-words.js'

const MAX_COMMAND = 200
/** Per call. */
const MAX_COMMANDS = 8
const MAX_LINE = 20_000
/** `sh -c` in `sh -c`. */
const MAX_DEPTH = 3

/** The commands of one tool call of an agent, given the name and the input of the tool. Each has at most MAX_COMMAND characters. */
export function outsideCommands(name: string, input: unknown): readonly OutsideCommand[] {
  const found = isMcp(name) ? mcpCall(name, fieldsOf(input)) : linesIn(input).flatMap(commandsIn)
  const unique = new Map(found.map((one) => [one.command, one]))
  return [...unique.values()].slice(0, MAX_COMMANDS)
}

function isMcp(name: string): boolean {
  return /^(?:mcp_|MCP:)/.test(name)
}

/** The verbs of tools that change something, after their names are split into words. */
const MCP_CHANGES = new Set(
  `add apply approve archive assign book cancel charge close comment commit create delete deploy drop edit execute
  fork insert install invite merge move patch pay post publish push put refund remove rename reopen reply restart revoke run
  schedule send set start stop submit transfer trigger unassign update upload upsert write`.split(
    /\s+/,
  ),
)
/** The first word of a name that only reads, such as `get_pull_request_comment`. */
const MCP_READS =
  /^(?:check|count|describe|fetch|find|get|list|lookup|preview|query|read|search|show|status|validate|view)$/

function mcpCall(name: string, fields: Fields): readonly OutsideCommand[] {
  const [server = '', ...rest] = name.replace(/^(?:mcp__?|MCP:)/, '').split(/__|:/)
  const tool = rest.join('_')
  if (/^savestate(?:_|$)/.test(server)) return []
  // Some agents join server and tool with one underscore, so the server is among the words.
  const words = (tool === '' ? server : tool)
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
  const isRead = words.slice(0, tool === '' ? 2 : 1).some((word) => MCP_READS.test(word))
  if (isRead || !words.some((word) => MCP_CHANGES.has(word))) return []
  const { values } = maskNamedValues(fields)
  const text = Object.keys(values).length === 0 ? '' : ` ${JSON.stringify(values)}`
  return [{ command: shorten(`${name}${text}`), kind: 'mcp' }]
}

/** A line of shell, or the words of one command. */
function linesIn(input: unknown): readonly (string | readonly string[])[] {
  if (!isRecord(input)) return []
  const { command = input['cmd'] ?? input['script'], commands } = input
  const texts = (value: unknown) =>
    Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, 100) : []
  if (typeof command === 'string') return [command]
  return [...(Array.isArray(command) ? [texts(command)] : []), ...texts(commands)]
}

function commandsIn(line: string | readonly string[]): readonly OutsideCommand[] {
  if (typeof line !== 'string') return classify(line, 0)
  return commandsOfLine(line, 0)
}

/** The body of a here-document is data. */
const HERE_DOCUMENT = /<<-?[ \t]*(['"]?)(\w{1,40})\1([^\n]*)\n[^]*?\n[ \t]*\2(?=\s|$)/g

function commandsOfLine(line: string, depth: number): readonly OutsideCommand[] {
  if (depth > MAX_DEPTH) return []
  const text = line.slice(0, MAX_LINE).replaceAll(HERE_DOCUMENT, '$3')
  return splitLine(text).flatMap(({ words }) => classify(words, depth))
}

const SHELLS = /^(?:ba|da|z|k|fi)?sh$/
const BEFORE =
  /^(?:\w+=.*|!|\{|if|then|elif|else|while|until|do|in|sudo|doas|env|command|exec|nohup|time|nice|xargs|npx|bunx|pnpx|dlx|corepack)$/
/** Two words that run the third. */
const RUNNERS =
  /^(?:pnpm|yarn|npm|bun|uv|poetry|bundle|pipenv|deno|mise|op|dotenvx?|infisical|doppler) (?:dlx|exec|x|run)$/
/** Nothing is changed with these. */
const DRY = /^(?:--help|--version|--dry-run(?:=.*)?|--dryrun)$/

function classify(given: readonly string[], depth: number): readonly OutsideCommand[] {
  const words = withoutWrappers(given)
  const [first = '', ...args] = words
  const program = nameOf(first)
  if (program === 'eval') return commandsOfLine(args.join(' '), depth + 1)
  if (SHELLS.test(program)) {
    const at = args.findIndex((word) => /^-\w*c$/.test(word))
    const script = at === -1 ? undefined : args[at + 1]
    if (script !== undefined) return commandsOfLine(script, depth + 1)
    const file = args.find((word) => !word.startsWith('-'))
    return file === undefined ? [] : classify([file], depth + 1)
  }
  const kind = kindOf(program, args)
  if (kind !== undefined) return [{ command: shorten(commandLine(words)), kind }]
  // `pnpm exec prisma migrate deploy`. A wrapper such as `npx` is gone already.
  const [action, ...inner] = args
  const isRunner = action !== undefined && RUNNERS.test(`${program} ${action}`)
  return isRunner && depth < MAX_DEPTH ? classify(inner, depth + 1) : []
}

function kindOf(program: string, args: readonly string[]): OutsideKind | undefined {
  if (args.some((word) => DRY.test(word))) return undefined
  const script = /^(?:[\w-]+[._-])?(deploy|publish|release)(?:[._-][\w-]+)?\.\w{1,4}$/.exec(program)
  if (script !== null) return script[1] === 'deploy' ? 'deploy' : 'publish'
  const found = PATTERNS.find(({ programs, changes, reads, valued = '' }) => {
    if (!programs.includes(program)) return false
    const text = withoutOptions(args, new Set(valued.split(' '))).join(' ')
    return changes.test(text) && reads?.test(text) !== true
  })
  return found?.kind ?? clientChanges(program, args)
}

function withoutWrappers(words: readonly string[]): readonly string[] {
  let at = 0
  let isAfterWrapper = false
  while (at < words.length) {
    const word = words[at] ?? ''
    if (nameOf(word) === 'timeout') at += 2
    else if (BEFORE.test(nameOf(word)) || /^\w+=/.test(word)) at += 1
    else if (isAfterWrapper && word.startsWith('-'))
      // `sudo -u name`, `xargs -n 1`, `npx -y`.
      at += /^-[ugCnPIL]$/.test(word) ? 2 : 1
    else break
    isAfterWrapper = true
  }
  return words.slice(at)
}

function withoutOptions(args: readonly string[], valued: ReadonlySet<string>): readonly string[] {
  const isValue = (at: number) => at > 0 && valued.has(args[at - 1] ?? '')
  return args.filter((word, at) => !word.startsWith('-') && !isValue(at))
}

/** Without its folder, its version (`wrangler@4`) and its extension on Windows. */
function nameOf(word: string): string {
  return (word.split('/').at(-1) ?? '')
    .replace(/(?<=.)@[\w.^~-]+$/, '')
    .replace(/\.(?:exe|cmd)$/, '')
}

function shorten(text: string): string {
  const line = maskSecrets(text.slice(0, MAX_LINE))
    .text.replace(/\s+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim()
  return line.length <= MAX_COMMAND
    ? line
    : `${line.slice(0, MAX_COMMAND - 1).replace(/\p{Cs}$/u, '')}…`
}
