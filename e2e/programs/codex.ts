// Codex: hooks in hooks.json, conversations that its own server forks at a turn.
import { join } from 'node:path'
import process from 'node:process'
import { askAppServer } from './codex-app-server.js'
import type { Command } from '../drive.js'
import { asRecord, asText } from '../model-server/json.js'
import { type Sandbox, writeHome } from '../install-folder.js'
import type { RecordedEvent } from '../record.js'
import type { Agent, AgentHere, Habits, Hooks } from './agent.js'
import { commandHooks } from './claude-like.js'

const TRIPLE = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`
const NATIVE = `@openai/codex-linux-${process.arch}/vendor/${TRIPLE}/bin/codex`

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'SessionEnd',
]

const HOOKS: Hooks = {
  events: {
    start: 'SessionStart',
    prompt: 'UserPromptSubmit',
    before: 'PreToolUse',
    after: 'PostToolUse',
    turnEnd: 'Stop',
    end: 'SessionEnd',
  },
  tools: {
    write: 'apply_patch',
    shell: 'Bash',
    remove: 'apply_patch',
    spawn: 'collaborationspawn_agent',
  },
  paths: { session: 'session_id', tool: 'tool_name', call: 'tool_use_id', subagent: 'agent_id' },
  fields: {
    SessionStart: ['source', 'transcript_path', 'cwd'],
    UserPromptSubmit: ['prompt', 'turn_id', 'transcript_path', 'cwd'],
    PreToolUse: ['tool_input.command', 'turn_id', 'transcript_path', 'cwd'],
    PostToolUse: ['tool_input.command', 'tool_response', 'turn_id'],
    Stop: ['turn_id', 'stop_hook_active', 'last_assistant_message'],
    SessionEnd: ['transcript_path'],
  },
}

const HABITS: Habits = {
  commandOutlivesKill: false,
  endsTurnAfterError: false,
  repeatsResults: false,
  demandsTrust: true,
  hasDenyRules: false,
  showsBlockedPrompt: false,
  hasHttpHooks: false,
}

export const codex: Agent = {
  name: 'codex',
  packages: [{ name: 'codex', dependencies: { '@openai/codex': '0.166.0' }, proof: NATIVE }],
  hooks: HOOKS,
  habits: HABITS,
  at(sandbox, [modules = '']) {
    writeHome(sandbox, '.codex/config.toml', configuration(sandbox))
    return new CodexHere(sandbox, join(modules, NATIVE))
  },
}

class CodexHere implements AgentHere {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly program: string,
  ) {}

  /** Codex skips untrusted hooks silently, unless an option allows them. */
  private needsTrust = true

  hook(commandFor: (event: string) => string): void {
    this.needsTrust = false
    const settings = { hooks: commandHooks(EVENTS, commandFor) }
    writeHome(this.sandbox, '.codex/hooks.json', JSON.stringify(settings))
  }

  ask(prompt: string): Command {
    return this.call([], prompt)
  }

  askForSubagents(prompt: string): Command {
    return this.call(['-m', TEAM_MODEL], prompt)
  }

  resume(session: string, prompt: string): Command {
    return this.call(['resume', session], prompt)
  }

  /** A fork by the program itself: it refers to the old conversation, which stays. */
  async resumeBefore(turn: RecordedEvent, prompt: string): Promise<Command> {
    const server = { ...this.call([], ''), args: ['app-server'] }
    const forked = await askAppServer(this.sandbox, {
      server,
      method: 'thread/fork',
      params: { threadId: turn.payload['session_id'], beforeTurnId: turn.payload['turn_id'] },
    })
    return this.resume(asText(asRecord(forked['thread'])['id']), prompt)
  }

  goOn(args: readonly string[], prompt: string): Command {
    return this.call(args, prompt)
  }

  private call(what: readonly string[], prompt: string): Command {
    const bypass = ['approvals-and-sandbox', ...(this.needsTrust ? [] : ['hook-trust'])]
    const flags = bypass.map((name) => `--dangerously-bypass-${name}`)
    return {
      program: this.program,
      args: ['exec', ...what, '--json', '--skip-git-repo-check', ...flags, prompt],
      environment: { CODEX_HOME: join(this.sandbox.home, '.codex'), SCRIPTED_KEY: 'dummy' },
    }
  }
}

/** This model gets separate tools for commands and patches; newer ones get a single one that runs a program. */
const MODEL = 'gpt-5.5'
/** Only newer models have subagents. */
const TEAM_MODEL = 'gpt-6.1-sol'

function configuration(sandbox: Sandbox): string {
  return `model = "${MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${sandbox.server.origin}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[feedback]
enabled = false

[features]
daemon_auto_start = false
# Else every exit waits for an answer from outside.
plugin_discovery_prefetch = false
`
}
