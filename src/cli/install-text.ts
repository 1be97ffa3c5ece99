// What an install does to files, for people: the lines that come and go, with a little around them.
import type { FileChange, InstallRequest, Plan } from '../adapters/index.js'
import type { Paint } from './paint.js'
import { pathForPeople, printable } from './printable.js'

const AROUND = 2

type Planned = { readonly request: InstallRequest; readonly plan: Plan }

/** All that will be done, for a person who is asked. */
export function plansText(planned: readonly Planned[], paint: Paint): string {
  const parts = planned.flatMap(({ request, plan }) => [
    ...plan.changes.map((change) => changeText(change, paint)),
    ...(plan.permission === undefined ? [] : [permissionText(request.agent, plan.permission)]),
  ])
  return parts.join('\n\n')
}

export function permissionText(agent: string, permission: 'grant' | 'revoke'): string {
  return permission === 'grant'
    ? `${agent} may run \`savestate rewind\`, \`undo\` and \`redo\` without asking you.`
    : `${agent} may not go back by itself any more.`
}

export function changesText(changes: readonly FileChange[], paint: Paint): string {
  return changes.map((change) => changeText(change, paint)).join('\n\n')
}

function changeText(change: FileChange, paint: Paint): string {
  const { before, after } = change
  const what =
    before === undefined
      ? 'Will be made'
      : after === undefined
        ? 'Will be removed'
        : 'Will be changed'
  const lines = after === undefined ? [] : diffLines(before ?? '', after)
  const painted = lines.map((line) => {
    const text = printable(line)
    return line.startsWith('+')
      ? paint('green', text)
      : line.startsWith('-')
        ? paint('red', text)
        : text
  })
  return [`${what}: ${pathForPeople(change.path)}`, ...painted.map((line) => `  ${line}`)].join(
    '\n',
  )
}

/** The lines that come (`+`) and go (`-`), with a little around them. */
export function diffLines(before: string, after: string): readonly string[] {
  const all = linesWithChanges(linesOf(before), linesOf(after))
  const isNear = all.map((_, at) =>
    all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((line) => !line.startsWith(' ')),
  )
  return all.flatMap((line, at) => {
    if (isNear[at] === true) return [line]
    // One sign for all that is left out at a place.
    return at === 0 || isNear[at - 1] === true ? ['  …'] : []
  })
}

/** What is the same at both ends is most of a long file. */
function linesWithChanges(old: readonly string[], now: readonly string[]): readonly string[] {
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head++
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const same = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
  return [
    ...same(old.slice(0, head)),
    ...comparedLines(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...same(old.slice(old.length - tail)),
  ]
}

/** By the longest common subsequence: what changes is short. */
function comparedLines(old: readonly string[], now: readonly string[]): readonly string[] {
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
