// The configuration entry that makes an agent start `savestate mcp`. An entry that the user wrote is never changed.
import { isAbsolute, join } from 'node:path'
import { type AgentName, type Fields, fieldsOf } from '../../base/index.js'
import { configFolder, type Environment, homeOf, type Scope } from './config-paths.js'

export type McpServer = {
  readonly command: string
  readonly args: readonly string[]
  /** Variables that the server needs and that an agent may not pass on. */
  readonly env: Readonly<Record<string, string>>
}

const ALLOW_SWITCH = '--allow-agent-rewind'

type Asked = {
  readonly program: string
  readonly allowRewind: boolean
  readonly scope: Scope
  readonly environment: Environment
}

export function mcpServer({ program, allowRewind, scope, environment }: Asked): McpServer {
  const { SAVESTATE_HOME: home } = environment
  // A path of this machine does not belong in a file that a team shares.
  const isSet = scope.type === 'user' && home !== undefined && isAbsolute(home)
  return {
    command: program,
    args: ['mcp', ...(allowRewind ? [ALLOW_SWITCH] : [])],
    env: isSet ? { SAVESTATE_HOME: home } : {},
  }
}

/** The JSON files with MCP servers, and what an entry has besides the usual fields. */
const JSON_SERVERS: Readonly<
  Partial<Record<AgentName, { readonly file: string; readonly fields?: Fields }>>
> = {
  claude: { file: '.claude.json', fields: { type: 'stdio' } },
  gemini: { file: 'settings.json' },
  cursor: { file: 'mcp.json' },
  copilot: { file: 'mcp-config.json', fields: { type: 'local', tools: ['*'] } },
}

/** Where an agent keeps its MCP servers in JSON; undefined if it has no such file. */
export function serverFile(
  agent: AgentName,
  scope: Scope,
  environment: Environment,
): string | undefined {
  const file = JSON_SERVERS[agent]?.file
  const isProject = scope.type === 'project'
  if (file === undefined || (isProject && agent === 'copilot')) return undefined
  if (agent === 'claude' && isProject) return join(scope.root, '.mcp.json')
  if (agent === 'claude' && environment['CLAUDE_CONFIG_DIR'] === undefined)
    return join(homeOf(environment), file)
  return join(configFolder(agent, scope, environment), file)
}

/** Codex uses TOML; for opencode our plugin adds it. */
export function takesServer(agent: AgentName, scope: Scope, environment: Environment): boolean {
  const isOther = agent === 'codex' || agent === 'opencode'
  return isOther || serverFile(agent, scope, environment) !== undefined
}

export function serverEntry(agent: AgentName, { command, args, env }: McpServer): Fields {
  const variables = Object.keys(env).length === 0 ? {} : { env }
  return { ...JSON_SERVERS[agent]?.fields, command, args, ...variables }
}

/** True for the entry of any version of Savestate, wherever the program is. */
export function isOurServer(value: unknown): boolean {
  const { command, args } = fieldsOf(value)
  if (
    typeof command !== 'string' ||
    !/(?:^savestate|[\\/](?:bin\.js|savestate-hook))$/.test(command)
  )
    return false
  const given: readonly unknown[] = Array.isArray(args) ? args : []
  return given[0] === 'mcp' && given.slice(1).every((word) => word === ALLOW_SWITCH)
}
