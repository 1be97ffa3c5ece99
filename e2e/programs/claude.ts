// Claude Code: hooks in settings.json, the conversation in a file of JSON lines.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { asRecord, asText } from '../model-server/json.js'
import { type Sandbox, writeHome } from '../install-folder.js'
import type { RecordedEvent } from '../record.js'
import type { Agent, AgentHere, Habits, Hooks } from './agent.js'
import { commandHooks, cutTranscript } from './claude-like.js'

const NATIVE = `@anthropic-ai/claude-code-linux-${process.arch}/claude`

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
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
  tools: { write: 'Write', shell: 'Bash', remove: 'Bash', spawn: 'Agent' },
  paths: { session: 'session_id', tool: 'tool_name', call: 'tool_use_id', subagent: 'agent_id' },
  fields: {
    SessionStart: ['source', 'transcript_path', 'cwd'],
    UserPromptSubmit: ['prompt', 'prompt_id', 'transcript_path', 'cwd'],
    PreToolUse: ['tool_input', 'prompt_id', 'transcript_path', 'cwd'],
    PostToolUse: ['tool_input', 'tool_response', 'prompt_id', 'duration_ms'],
    Stop: ['prompt_id', 'stop_hook_active', 'last_assistant_message'],
    SessionEnd: ['reason'],
  },
}

const HABITS: Habits = {
  commandOutlivesKill: true,
  endsTurnAfterError: false,
  repeatsResults: false,
  demandsTrust: false,
  hasDenyRules: true,
  showsBlockedPrompt: true,
  hasHttpHooks: true,
}

export const claude: Agent = {
  name: 'claude',
  packages: [
    {
      name: 'claude',
      dependencies: { '@anthropic-ai/claude-code': '2.1.325' },
      proof: NATIVE,
    },
  ],
  hooks: HOOKS,
  habits: HABITS,
  at: (sandbox, [modules = '']) => new ClaudeHere(sandbox, join(modules, NATIVE)),
}

class ClaudeHere implements AgentHere {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly program: string,
  ) {}

  hook(commandFor: (event: string) => string): void {
    const settings = { hooks: commandHooks(EVENTS, commandFor) }
    writeHome(this.sandbox, '.claude/settings.json', JSON.stringify(settings))
  }

  ask(prompt: string) {
    return this.call(prompt, [])
  }

  askForSubagents(prompt: string) {
    return this.ask(prompt)
  }

  resume(session: string, prompt: string) {
    return this.call(prompt, ['--resume', session])
  }

  /** Forks a copy of the transcript that ends before the turn; the agent's own file stays unchanged. */
  async resumeBefore(turn: RecordedEvent, prompt: string) {
    const lines = readFileSync(asText(turn.payload['transcript_path']), 'utf8').split('\n')
    const isTurn = (line: string) => line !== '' && promptOf(line) === turn.payload['prompt_id']
    const cut = cutTranscript(this.sandbox, { lines, isTurn })
    return this.call(prompt, ['--resume', cut, '--fork-session'])
  }

  goOn(args: readonly string[], prompt: string) {
    return this.call(prompt, args)
  }

  private call(prompt: string, args: readonly string[]) {
    return {
      program: this.program,
      args: [...args, '-p', prompt, '--dangerously-skip-permissions', '--output-format', 'json'],
      environment: {
        ANTHROPIC_BASE_URL: this.sandbox.server.origin,
        ANTHROPIC_API_KEY: 'sk-ant-dummy',
        // Without it the program refuses to skip permissions for root.
        IS_SANDBOX: '1',
        // Otherwise the model sees a server's tools only after searching for them.
        ENABLE_TOOL_SEARCH: 'false',
        CLAUDE_CODE_MAX_RETRIES: '0',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
        DISABLE_TELEMETRY: '1',
      },
    }
  }
}

function promptOf(line: string): string {
  const entry: unknown = JSON.parse(line)
  return asText(asRecord(entry)['promptId'])
}
