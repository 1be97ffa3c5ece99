// What became of an install or uninstall, in words.
import { dirname } from 'node:path'
import type { Request } from './command.js'
import { EXIT } from './exit.js'
import { permissionText } from './install-text.js'
import type { AgentResult, Outcome } from './install-work.js'
import { pathForPeople, printable, printableLines } from './printable.js'

type How = { readonly request: Request; readonly done: 'installed' | 'uninstalled' }

export function outcomeText({ agents, declined }: Outcome, how: How): string {
  if (agents.length === 0) return 'No agent was found here.'
  if (declined) return 'Nothing has been changed.'
  return agents.flatMap((result) => agentLines(result, how)).join('\n')
}

export function outcomeExit({ agents, declined }: Outcome): number {
  if (declined) return EXIT.declined
  return agents.some(({ error }) => error !== undefined) ? EXIT.failed : EXIT.done
}

function agentLines(result: AgentResult, { request, done }: How): readonly string[] {
  const { agent, files, notes, applied, error } = result
  if (error !== undefined) return [`${agent}: ${printableLines(error.message)}`]
  const told = notes.map((note) => `${agent}: ${printableLines(note)}`)
  const allowed = result.permission === undefined ? [] : [permissionText(agent, result.permission)]
  if (files.length === 0 && allowed.length > 0)
    return [...told, ...(applied ? allowed : [`This would be so: ${allowed.join()}`])]
  if (files.length === 0) {
    const is = done === 'installed' ? 'is installed already' : 'is not installed here'
    return [...told, `${agent} ${is}: nothing to do.`, ...trustLines(result)]
  }
  if (!applied) {
    const lines = files.flatMap(({ path, change, diff }) => [
      `  ${change} ${pathForPeople(path)}`,
      ...diff.map((line) => `    ${printable(line)}`),
    ])
    return [...told, `${agent} would be ${done}:`, ...lines, ...allowed]
  }
  const where = placesText(files.map(({ path }) => path))
  const next = done === 'installed' ? ' It takes effect when the agent starts next.' : ''
  return [
    ...told,
    request.screen.paint('green', `${agent} is ${done}`) + `: ${where}.${next}`,
    ...allowed,
    ...trustLines(result),
  ]
}

function placesText(paths: readonly string[]): string {
  if (paths.length <= MAX_NAMED) return paths.map(pathForPeople).join(', ')
  return `${paths.length} files in ${pathForPeople(dirname(paths[0] ?? ''))}`
}

const MAX_NAMED = 3

function trustLines({ trusted }: AgentResult): readonly string[] {
  if (trusted !== false) return []
  return [
    'Codex does not run these hooks yet: it asks you to trust them, or run `savestate install codex --trust`.',
  ]
}
