// The changes of an install as text: a summary for the question, and all changed lines for `v`.
import { dirname } from 'node:path'
import type { FileChange, InstallRequest, Plan } from '../../agents/index.js'
import { AGENT_TITLES } from '../args/agent-commands.js'
import { formatCount } from '../terminal/format-numbers.js'
import type { Paint } from '../terminal/colors.js'
import { displayPath, printable } from '../terminal/escape.js'

const AROUND = 2

export type Planned = { readonly request: InstallRequest; readonly plan: Plan }

/** One line per agent: what is added to which file, and the files from which `removed` is removed. */
export function summaryText(planned: readonly Planned[], removed: string): string {
  const lines = planned.flatMap(({ request, plan }) => {
    const { agent, environment } = request
    const parts = changeParts(plan.changes, { environment, removed })
    return [
      ...(parts.length === 0 ? [] : [`${AGENT_TITLES[agent]}: ${parts.join(', ')}`]),
      ...(plan.permission === undefined ? [] : [permissionText(agent, plan.permission)]),
    ]
  })
  const changes = planned.flatMap(({ plan }) => plan.changes)
  const isSecret = changes.some(({ isSecret: one }) => one === true)
  const changed = changes.filter(({ before, after }) => before !== undefined && after !== undefined)
  return [
    ...lines,
    ...(isSecret ? ['The file will contain a token for the daemon, so only you can read it.'] : []),
    ...(changed.length === 0
      ? []
      : [`Nothing else in ${changed.length > 1 ? 'these files' : 'this file'} changes.`]),
  ].join('\n')
}

type Environment = InstallRequest['environment']

function changeParts(
  changes: readonly FileChange[],
  { environment, removed }: { readonly environment: Environment; readonly removed: string },
): readonly string[] {
  const added = changes.filter(({ holds }) => holds !== undefined)
  const others = changes.filter(({ holds }) => holds === undefined)
  const [first] = added
  // An agent with one script per hook: print only the folder.
  const areScripts = first !== undefined && added.length > MAX_NAMED
  const scripts = formatCount(added.length, 'hook script')
  const parts = areScripts
    ? [`${scripts} in ${shortPath(dirname(first.path), environment)}`]
    : added.map((file) => `${holdsText(file)} in ${shortPath(file.path, environment)}`)
  if (others.length === 0) return parts
  return [...parts, `${removed} removed from ${filesText(others, environment)}`]
}

function holdsText({ holds }: FileChange): string {
  const { hooks = 0, rules = 0, plugins = 0, servers = 0 } = holds ?? {}
  const parts = [
    hooks > 0 ? formatCount(hooks, 'hook') : [],
    rules > 0 ? formatCount(rules, 'deny rule') : [],
    plugins > 0 ? 'a plugin' : [],
    servers > 0 ? 'the MCP server' : [],
  ].flat()
  const last = parts.at(-1) ?? 'an entry'
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`
}

/** The paths, or the number of files if there are many. */
export function filesText(
  files: readonly { readonly path: string }[],
  environment: Environment,
): string {
  if (files.length <= MAX_NAMED)
    return files.map(({ path }) => shortPath(path, environment)).join(', ')
  return `${files.length} files in ${shortPath(dirname(files[0]?.path ?? ''), environment)}`
}

const MAX_NAMED = 3

/** With ~ for the user's home folder. */
export function shortPath(path: string, environment: Environment): string {
  return displayPath(withTilde(path, environment))
}

/** The same, not escaped for a terminal. */
export function withTilde(path: string, { HOME: home = '' }: Environment): string {
  return home !== '' && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** All changed lines. */
export function plansText(planned: readonly Planned[], paint: Paint): string {
  const parts = planned.flatMap(({ request, plan }) => [
    ...plan.changes.map((change) => changeText(change, paint)),
    ...(plan.permission === undefined ? [] : [permissionText(request.agent, plan.permission)]),
  ])
  return parts.join('\n\n')
}

export function permissionText(
  agent: InstallRequest['agent'],
  permission: 'grant' | 'revoke',
): string {
  return permission === 'grant'
    ? `${AGENT_TITLES[agent]} may run \`savestate rewind\`, \`undo\` and \`redo\` without asking you.`
    : `${AGENT_TITLES[agent]} may no longer rewind without asking you.`
}

export function changeText(change: FileChange, paint: Paint): string {
  const { before, after } = change
  const changed = after === undefined ? 'removed' : 'changed'
  const what = before === undefined ? 'created' : changed
  const lines = after === undefined ? [] : diffLines(before ?? '', after)
  const painted = lines.map((line) => {
    const text = printable(line)
    if (line.startsWith('+')) return `  ${paint('green', text)}`
    return `  ${line.startsWith('-') ? paint('red', text) : text}`
  })
  return [`Will be ${what}: ${displayPath(change.path)}`, ...painted].join('\n')
}

/** Never printed: plans end up in logs, and agents read them. */
const TOKEN = /\bBearer [0-9a-f]{64}\b/g

/** The added (`+`) and removed (`-`) lines with some context, without the token of the daemon. */
export function diffLines(before: string, after: string): readonly string[] {
  const all = linesWithChanges(linesOf(before), linesOf(after)).map((line) =>
    line.replaceAll(TOKEN, 'Bearer ********'),
  )
  const isNear = all.map((_, at) =>
    all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((line) => !line.startsWith(' ')),
  )
  return all.flatMap((line, at) => {
    if (isNear[at] === true) return [line]
    // One mark per gap.
    return at === 0 || isNear[at - 1] === true ? ['  …'] : []
  })
}

/** Skips the equal start and end, which are most of a long file. */
function linesWithChanges(old: readonly string[], now: readonly string[]): readonly string[] {
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head++
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const same = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
  return [
    ...same(old.slice(0, head)),
    ...compareLines(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...same(old.slice(old.length - tail)),
  ]
}

/** By the longest common subsequence; the input is short. */
function compareLines(old: readonly string[], now: readonly string[]): readonly string[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1))
  const common = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    const row = lengths[i]
    for (let j = now.length - 1; row !== undefined && j >= 0; j--)
      row[j] =
        old[i] === now[j] ? common(i + 1, j + 1) + 1 : Math.max(common(i + 1, j), common(i, j + 1))
  }
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(`  ${old[i]}`)
      i++
      j++
    } else if (i < old.length && (j === now.length || common(i + 1, j) >= common(i, j + 1)))
      lines.push(`- ${old[i++]}`)
    else lines.push(`+ ${now[j++]}`)
  }
  return lines
}

function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}
