// Where each agent keeps its configuration, according to the given environment.
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative } from 'node:path'
import { AGENT_NAMES, type AgentName } from '../../base/index.js'
import { SavestateError } from '../../index.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** For all projects of the user, or for one. */
export type Scope = { readonly type: 'user' } | { readonly type: 'project'; readonly root: string }

/** The folder with the agent's configuration of this scope. */
export function configFolder(agent: AgentName, scope: Scope, environment: Environment): string {
  if (scope.type === 'project')
    return join(scope.root, agent === 'copilot' ? '.github' : `.${agent}`)
  const variable = FOLDER_VARIABLES[agent]
  const given = variable === undefined ? undefined : environment[variable]
  const isGiven = given !== undefined && isAbsolute(given)
  if (agent === 'opencode')
    return join(isGiven ? given : join(homeOf(environment), '.config'), 'opencode')
  return isGiven ? given : join(homeOf(environment), `.${agent}`)
}

export function homeOf(environment: Environment): string {
  const home = environment['HOME'] ?? environment['USERPROFILE']
  if (home !== undefined && isAbsolute(home)) return home
  throw new SavestateError('BAD_INPUT', 'HOME is not set, so the agents cannot be found')
}

/** The path relative to the folder; undefined if it is not below it. */
export function pathBelow(folder: string, path: string): string | undefined {
  const inside = relative(folder, path)
  const isBelow = inside !== '' && inside.split('/')[0] !== '..' && !isAbsolute(inside)
  return isBelow ? inside : undefined
}

/** Agents with a configuration folder, or with a program on PATH. */
export function presentAgents(environment: Environment): readonly AgentName[] {
  return AGENT_NAMES.filter(
    (agent) =>
      existsSync(configFolder(agent, { type: 'user' }, environment)) ||
      programOnPath(agent, environment) !== undefined ||
      (agent === 'cursor' && programOnPath('cursor-agent', environment) !== undefined),
  )
}

export function programOnPath(name: string, environment: Environment): string | undefined {
  const folders = (environment['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** Environment variables that override the folder in the user's home. */
const FOLDER_VARIABLES: Readonly<Partial<Record<AgentName, string>>> = {
  claude: 'CLAUDE_CONFIG_DIR',
  codex: 'CODEX_HOME',
  opencode: 'XDG_CONFIG_HOME',
  copilot: 'COPILOT_HOME',
  hermes: 'HERMES_HOME',
}
