// The configuration files and entries of each agent, as data.
import { join } from 'node:path'
import { type AgentName, fieldsOf } from '../../base/index.js'
import { names } from '../mappers/map-event.js'
import { commandLine, type HookCommand, isOurCommand } from './hook-command.js'
import type { JsonPath } from './edit/json-edit.js'
import { type McpServer, serverEntry, serverFile } from './mcp-server.js'
import { opencodePlugin } from './opencode-plugin.js'
import { configFolder, type Environment, type Scope } from './config-paths.js'
import { claudeRules, geminiRule } from './store-rules.js'

export type Recipe = {
  readonly agent: AgentName
  readonly scope: Scope
  readonly environment: Environment
  readonly command: HookCommand
  /** The store's folder, which the agent may not access. */
  readonly storeHome: string
  /** The address of the daemon, for HTTP hooks. */
  readonly daemon?: DaemonAddress | undefined
  /** The MCP server to add; undefined removes ours. */
  readonly server?: McpServer | undefined
}

export type Target =
  | {
      readonly type: 'json'
      readonly path: string
      readonly add: readonly { readonly at: JsonPath; readonly value: unknown }[]
      /** Set if the file lacks them. */
      readonly properties: readonly { readonly at: JsonPath; readonly value: unknown }[]
      readonly isOurs: (value: unknown) => boolean
      /** Our property of an object. Without a value it is removed, if we added it. */
      readonly entry?: { readonly at: JsonPath; readonly value: unknown } | undefined
      /** Only the user may read it. */
      readonly isSecret: boolean
    }
  | {
      readonly type: 'yaml'
      readonly path: string
      readonly key: string
      /** The number of hooks in the lines. */
      readonly count: number
      readonly lines: readonly string[]
    }
  | {
      readonly type: 'file'
      readonly path: string
      readonly content: string
      readonly mode: number
      readonly holds: 'hooks' | 'plugins' | 'rules'
    }

/** For HTTP hooks, which call the daemon instead of starting a program. */
export type DaemonAddress = {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly token: string
}

const TIMEOUT_SECONDS = 30
/** Marks a whole file as ours. */
export const FILE_MARK = 'Written by `savestate install`'

export function listTargets(recipe: Recipe): readonly Target[] {
  const { agent, scope, environment, server } = recipe
  const path = serverFile(agent, scope, environment)
  const hooks = hookTargets(recipe)
  if (path === undefined) return hooks
  const at = ['mcpServers', 'savestate']
  const entry = { at, value: server === undefined ? undefined : serverEntry(agent, server) }
  const isOwnFile = hooks.every((target) => target.path !== path)
  if (isOwnFile) return [...hooks, { ...NOTHING, path, entry }]
  return hooks.map((target) =>
    target.path === path && target.type === 'json' ? { ...target, entry } : target,
  )
}

const NOTHING = {
  type: 'json',
  add: [],
  properties: [],
  isOurs: () => false,
  isSecret: false,
} as const

function hookTargets(recipe: Recipe): readonly Target[] {
  const { agent, scope, environment } = recipe
  const folder = configFolder(agent, scope, environment)
  switch (agent) {
    case 'claude':
      return [
        hooksTarget(recipe, { path: join(folder, 'settings.json'), rules: claudeRules(recipe) }),
      ]
    case 'codex':
      return [hooksTarget(recipe, { path: join(folder, 'hooks.json') })]
    case 'gemini':
      return [
        hooksTarget(recipe, { path: join(folder, 'settings.json') }),
        ...geminiPolicy(recipe, folder),
      ]
    case 'cursor':
      return [hooksTarget(recipe, { path: join(folder, 'hooks.json'), hasVersion: true })]
    case 'copilot':
      return [
        hooksTarget(recipe, { path: join(folder, 'hooks', 'savestate.json'), hasVersion: true }),
      ]
    case 'opencode': {
      const content = opencodePlugin(recipe.command, recipe.server)
      const path = join(folder, 'plugins', 'savestate.js')
      return [{ type: 'file', path, content, mode: 0o644, holds: 'plugins' }]
    }
    case 'cline':
      return EVENTS.cline.map((event) => ({
        type: 'file',
        path: join(folder, 'hooks', event),
        content: `#!/bin/sh\n# ${FILE_MARK} cline.\n${commandLine(recipe.command, { agent, event })}\n`,
        mode: 0o755,
        holds: 'hooks',
      }))
    case 'hermes':
      return [
        {
          type: 'yaml',
          path: join(folder, 'config.yaml'),
          key: 'hooks',
          count: EVENTS.hermes.length,
          lines: hermesLines(recipe),
        },
      ]
  }
}

/** The events that we subscribe to. Leaves out redundant events and those before every model request. */
export const EVENTS: Readonly<Record<AgentName, readonly string[]>> = {
  claude:
    names(`SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure SubagentStop Stop
    StopFailure PreCompact SessionEnd`),
  codex: names(
    `SessionStart UserPromptSubmit PreToolUse PostToolUse SubagentStop Stop PreCompact SessionEnd`,
  ),
  gemini: names('SessionStart BeforeAgent BeforeTool AfterTool AfterAgent SessionEnd'),
  opencode: [],
  cursor:
    names(`sessionStart beforeSubmitPrompt preToolUse postToolUse postToolUseFailure subagentStop stop
    sessionEnd`),
  cline:
    names(`TaskStart TaskResume UserPromptSubmit PreToolUse PostToolUse TaskComplete TaskError TaskCancel
    SessionShutdown`),
  copilot: names(
    `sessionStart userPromptSubmitted preToolUse postToolUse agentStop errorOccurred sessionEnd`,
  ),
  hermes:
    names(`on_session_start pre_llm_call pre_tool_call post_tool_call subagent_stop post_llm_call
    on_session_finalize`),
}

type Special = {
  readonly path: string
  readonly rules?: readonly string[]
  readonly hasVersion?: boolean
}

function hooksTarget(recipe: Recipe, { path, rules = [], hasVersion = false }: Special): Target {
  const { agent } = recipe
  return {
    type: 'json',
    path,
    isSecret: recipe.daemon !== undefined,
    properties: hasVersion ? [{ at: ['version'], value: 1 }] : [],
    add: [
      ...EVENTS[agent].map((event) => ({ at: ['hooks', event], value: hookEntry(recipe, event) })),
      ...rules.map((rule) => ({ at: ['permissions', 'deny'], value: rule })),
    ],
    isOurs: (value) => rules.some((rule) => rule === value) || isOurEntry(value, agent),
  }
}

/**
 * The frequent events. The others stay commands: an HTTP hook fails silently without a daemon, so at least one command per turn
 * restarts the daemon and saves what was missed. (Claude Code does not support HTTP for SessionStart.)
 */
const DAEMON_EVENTS = names('PreToolUse PostToolUse PostToolUseFailure SubagentStop PreCompact')

/** One hook in the form of its agent. */
export function hookEntry(recipe: Recipe, event: string): Readonly<Record<string, unknown>> {
  const { agent, daemon } = recipe
  const command = commandLine(recipe.command, { agent, event })
  switch (agent) {
    case 'claude': {
      const timeout = event === 'SessionEnd' ? 10 : TIMEOUT_SECONDS
      if (daemon === undefined || !DAEMON_EVENTS.includes(event))
        return { hooks: [{ type: 'command', command, timeout }] }
      const headers = { Authorization: `Bearer ${daemon.token}` }
      return {
        hooks: [{ type: 'http', url: `${daemon.url}/v1/hook/claude/${event}`, headers, timeout }],
      }
    }
    case 'codex':
      // Codex allows at most 3 seconds for this event.
      return {
        hooks: [
          { type: 'command', command, timeout: event === 'SessionEnd' ? 3 : TIMEOUT_SECONDS },
        ],
      }
    case 'gemini': {
      const isTool = event.endsWith('Tool')
      const hook = { name: 'savestate', type: 'command', command, timeout: TIMEOUT_SECONDS * 1000 }
      return { ...(isTool ? { matcher: '.*' } : {}), hooks: [hook] }
    }
    case 'copilot':
      return { type: 'command', bash: command, powershell: command, timeoutSec: TIMEOUT_SECONDS }
    // Cursor. The other agents have no JSON entries.
    default:
      return { command, timeout: TIMEOUT_SECONDS }
  }
}

function isOurEntry(value: unknown, agent: AgentName): boolean {
  const { hooks, command, bash, url } = fieldsOf(value)
  if (Array.isArray(hooks))
    return hooks.length > 0 && hooks.every((hook) => isOurEntry(hook, agent))
  if (typeof url === 'string') return /^http:\/\/127\.0\.0\.1:\d+\/v1\/hook\//.test(url)
  return isOurCommand(command ?? bash, agent)
}

/** Gemini CLI reads the user's policies; it ignores those of a project. */
function geminiPolicy(recipe: Recipe, folder: string): readonly Target[] {
  if (recipe.scope.type === 'project') return []
  const content = `# ${FILE_MARK} gemini: its tools for files are kept from the store.\n${geminiRule(recipe)}`
  const path = join(folder, 'policies', 'savestate.toml')
  return [{ type: 'file', path, content, mode: 0o644, holds: 'rules' }]
}

function hermesLines({ command }: Recipe): readonly string[] {
  const hooks = EVENTS.hermes.flatMap((event) => [
    `  ${event}:`,
    `    - command: ${JSON.stringify(commandLine(command, { agent: 'hermes', event }))}`,
    `      timeout: ${TIMEOUT_SECONDS}`,
  ])
  return ['hooks:', ...hooks]
}
