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
  if (scope.type === 'project') return join(scope.root, PROJECT_FOLDERS[agent])
  const { variable, inside = [], usual } = USER_FOLDERS[agent]
  const given = variable === undefined ? undefined : environment[variable]
  if (given !== undefined && isAbsolute(given)) return join(given, ...inside)
  return join(homeOf(environment), ...usual)
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
      PROGRAMS[agent].some((program) => programOnPath(program, environment) !== undefined),
  )
}

export function programOnPath(name: string, environment: Environment): string | undefined {
  const folders = (environment['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

const PROJECT_FOLDERS: Readonly<Record<AgentName, string>> = {
  claude: '.claude',
  codex: '.codex',
  gemini: '.gemini',
  opencode: '.opencode',
  cursor: '.cursor',
  cline: '.cline',
  copilot: '.github',
  hermes: '.hermes',
}

type UserFolder = {
  readonly usual: readonly string[]
  /** The environment variable that overrides it. */
  readonly variable?: string
  /** The path inside the folder that the variable names. */
  readonly inside?: readonly string[]
}

const USER_FOLDERS: Readonly<Record<AgentName, UserFolder>> = {
  claude: { usual: ['.claude'], variable: 'CLAUDE_CONFIG_DIR' },
  codex: { usual: ['.codex'], variable: 'CODEX_HOME' },
  gemini: { usual: ['.gemini'] },
  opencode: {
    usual: ['.config', 'opencode'],
    variable: 'XDG_CONFIG_HOME',
    inside: ['opencode'],
  },
  cursor: { usual: ['.cursor'] },
  cline: { usual: ['.cline'] },
  copilot: { usual: ['.copilot'], variable: 'COPILOT_HOME' },
  hermes: { usual: ['.hermes'], variable: 'HERMES_HOME' },
}

const PROGRAMS: Readonly<Record<AgentName, readonly string[]>> = {
  claude: ['claude'],
  codex: ['codex'],
  gemini: ['gemini'],
  opencode: ['opencode'],
  cursor: ['cursor', 'cursor-agent'],
  cline: ['cline'],
  copilot: ['copilot'],
  hermes: ['hermes'],
}
