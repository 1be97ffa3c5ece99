// The configuration entry that makes an agent start `savestate mcp`. An entry that the user wrote is never changed.
import { isAbsolute, join } from 'node:path'
import { type AgentName, fieldsOf } from '../../base/index.js'
import type { JsonPath } from './edit/json-edit.js'
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

type ServerLocation = { readonly path: string; readonly at: JsonPath }

/** Where an agent keeps its MCP servers in JSON; undefined if it has no such file. */
export function serverLocation(
  agent: AgentName,
  scope: Scope,
  environment: Environment,
): ServerLocation | undefined {
  const at = ['mcpServers', 'savestate']
  const folder = configFolder(agent, scope, environment)
  switch (agent) {
    case 'claude': {
      if (scope.type === 'project') return { path: join(scope.root, '.mcp.json'), at }
      const moved = environment['CLAUDE_CONFIG_DIR'] !== undefined
      return { path: join(moved ? folder : homeOf(environment), '.claude.json'), at }
    }
    case 'gemini':
      return { path: join(folder, 'settings.json'), at }
    case 'cursor':
      return { path: join(folder, 'mcp.json'), at }
    case 'copilot':
      return scope.type === 'project' ? undefined : { path: join(folder, 'mcp-config.json'), at }
    // Codex uses TOML; for opencode our plugin adds it.
    default:
      return undefined
  }
}

/** Agents whose entry is not in a JSON file. */
const WITHOUT_JSON: readonly AgentName[] = ['codex', 'opencode']

export function takesServer(agent: AgentName, scope: Scope, environment: Environment): boolean {
  return WITHOUT_JSON.includes(agent) || serverLocation(agent, scope, environment) !== undefined
}

export function serverEntry(
  agent: AgentName,
  { command, args, env }: McpServer,
): Readonly<Record<string, unknown>> {
  const variables = Object.keys(env).length === 0 ? {} : { env }
  switch (agent) {
    case 'claude':
      return { type: 'stdio', command, args, ...variables }
    case 'copilot':
      return { type: 'local', command, args, tools: ['*'], ...variables }
    default:
      return { command, args, ...variables }
  }
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
