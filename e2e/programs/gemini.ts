// Gemini CLI: hooks in settings.json, a conversation that can be started from a file.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Command } from '../drive.js'
import { asList, asRecord, asText, type Json } from '../model-server/json.js'
import { type Sandbox, writeHome } from '../install-folder.js'
import type { RecordedEvent } from '../record.js'
import type { Agent, AgentHere, Habits, Hooks } from './agent.js'
import { commandHooks, cutTranscript } from './claude-like.js'

const BUNDLE = '@google/gemini-cli/bundle/gemini.js'

const EVENTS = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'AfterAgent',
  'SessionEnd',
]

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // With cleanup enabled, this version deletes sessions that are resumed in a later minute.
  // After many calls it would ask the model to judge them, which a script cannot answer.
  model: { disableLoopDetection: true },
  general: { enableAutoUpdate: false, sessionRetention: { enabled: false } },
}

const HOOKS: Hooks = {
  events: {
    start: 'SessionStart',
    prompt: 'BeforeAgent',
    before: 'BeforeTool',
    after: 'AfterTool',
    turnEnd: 'AfterAgent',
    end: 'SessionEnd',
  },
  tools: {
    write: 'write_file',
    shell: 'run_shell_command',
    remove: 'run_shell_command',
    spawn: 'invoke_agent',
  },
  paths: { session: 'session_id', tool: 'tool_name' },
  fields: {
    SessionStart: ['source', 'transcript_path', 'cwd', 'timestamp'],
    BeforeAgent: ['prompt', 'transcript_path', 'cwd', 'timestamp'],
    BeforeTool: ['tool_input', 'transcript_path', 'cwd', 'timestamp'],
    AfterTool: ['tool_input', 'tool_response.llmContent', 'timestamp'],
    AfterAgent: ['prompt', 'prompt_response', 'stop_hook_active'],
    SessionEnd: ['reason'],
  },
}

const HABITS: Habits = {
  commandOutlivesKill: true,
  endsTurnAfterError: false,
  repeatsResults: true,
  demandsTrust: false,
  hasDenyRules: true,
  showsBlockedPrompt: true,
  hasHttpHooks: false,
}

export const gemini: Agent = {
  name: 'gemini',
  packages: [{ name: 'gemini', dependencies: { '@google/gemini-cli': '0.61.0' }, proof: BUNDLE }],
  hooks: HOOKS,
  habits: HABITS,
  at(sandbox, [modules = '']) {
    writeHome(sandbox, '.gemini/settings.json', JSON.stringify(settingsFor(sandbox)))
    return new GeminiHere(sandbox, join(modules, BUNDLE))
  },
}

class GeminiHere implements AgentHere {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly program: string,
  ) {}

  hook(commandFor: (event: string) => string): void {
    const settings = { ...settingsFor(this.sandbox), hooks: commandHooks(EVENTS, commandFor) }
    writeHome(this.sandbox, '.gemini/settings.json', JSON.stringify(settings))
  }

  ask(prompt: string): Command {
    return this.call([], prompt)
  }

  askForSubagents(prompt: string) {
    return this.ask(prompt)
  }

  resume(session: string, prompt: string): Command {
    return this.call(['--resume', session], prompt)
  }

  /** From a copy of the transcript that ends before the message; the agent makes a new session of it. */
  async resumeBefore(turn: RecordedEvent, prompt: string): Promise<Command> {
    const lines = readFileSync(asText(turn.payload['transcript_path']), 'utf8')
      .trimEnd()
      .split('\n')
    const asked = asText(turn.payload['prompt'])
    const cut = cutTranscript(this.sandbox, { lines, isTurn: (line) => askedIn(line) === asked })
    return this.call(['--session-file', cut], prompt)
  }

  goOn(args: readonly string[], prompt: string): Command {
    return this.call(args, prompt)
  }

  private call(what: readonly string[], prompt: string): Command {
    const how = ['--yolo', '-m', 'gemini-2.5-flash', '--output-format', 'json']
    return {
      program: process.execPath,
      args: [this.program, ...what, '-p', prompt, ...how],
      environment: {
        GEMINI_API_KEY: 'dummy',
        GOOGLE_GEMINI_BASE_URL: this.sandbox.server.origin,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        GEMINI_CLI_NO_RELAUNCH: 'true',
      },
    }
  }
}

/** Its tools only use the given folders. Give it the whole test folder, so that only rules restrict it. */
function settingsFor(sandbox: Sandbox) {
  return { ...SETTINGS, context: { includeDirectories: [sandbox.root] } }
}

/** The user's prompt in a line of the transcript. */
function askedIn(line: string): string | undefined {
  const value: unknown = JSON.parse(line)
  const message: Json = asRecord(value)
  if (message['type'] !== 'user') return undefined
  const content = message['content']
  if (typeof content === 'string') return content
  return asList(content)
    .map((part) => asText(asRecord(part)['text']))
    .join('')
}
