// opencode: hooks in a plugin, conversations in a database that its own server forks at a message.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Command } from '../drive.js'
import { asText } from '../model-server/json.js'
import { linkHome, type Sandbox, writeHome } from '../install-folder.js'
import { field, type RecordedEvent } from '../record.js'
import type { Agent, AgentHere, Habits, Hooks } from './agent.js'
import { postToServer } from './opencode-server.js'
import { commandPlugin } from './opencode-plugin.js'

const VERSION = '1.18.33'
const NATIVE = `opencode-linux-${process.arch}/bin/opencode`

const HOOKS: Hooks = {
  events: {
    start: 'session.created',
    prompt: 'chat.message',
    before: 'tool.execute.before',
    after: 'tool.execute.after',
    turnEnd: 'session.idle',
    end: 'dispose',
  },
  tools: { write: 'write', shell: 'bash', remove: 'bash', spawn: 'task' },
  paths: { session: 'input.sessionID', tool: 'input.tool', call: 'input.callID' },
  fields: {
    'session.created': ['input.info.directory'],
    'chat.message': ['output.message.id', 'output.parts'],
    'tool.execute.before': ['output.args'],
    'tool.execute.after': ['input.args', 'output.output', 'output.metadata'],
    'session.idle': [],
    dispose: [],
  },
}

const HABITS: Habits = {
  commandOutlivesKill: true,
  endsTurnAfterError: true,
  repeatsResults: false,
  demandsTrust: false,
  hasDenyRules: true,
  showsBlockedPrompt: true,
  hasHttpHooks: false,
}

export const opencode: Agent = {
  name: 'opencode',
  packages: [
    { name: 'opencode', dependencies: { 'opencode-ai': VERSION }, proof: NATIVE },
    {
      name: 'opencode-plugin',
      dependencies: { '@opencode-ai/plugin': VERSION },
      proof: '@opencode-ai/plugin/package.json',
    },
  ],
  hooks: HOOKS,
  habits: HABITS,
  at(sandbox, [modules = '', plugin = '']) {
    writeHome(sandbox, '.config/opencode/opencode.json', JSON.stringify(configuration(sandbox)))
    // The program would try to download this before it loads a plugin, and wait forever.
    for (const name of ['package.json', 'package-lock.json', 'node_modules']) {
      linkHome(sandbox, `.config/opencode/${name}`, join(plugin, '..', name))
    }
    const program = join(modules, NATIVE)
    // A rewind with the conversation runs it by name.
    const quiet = Object.entries(QUIET).map(([name, value]) => `${name}=${value}`)
    const wrapper = `#!/bin/sh\nexec env ${quiet.join(' ')} '${program}' "$@"\n`
    writeFileSync(join(sandbox.root, 'bin', 'opencode'), wrapper, { mode: 0o755 })
    return new OpencodeHere(sandbox, program)
  },
}

const QUIET = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_SHARE: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
}

class OpencodeHere implements AgentHere {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly program: string,
  ) {}

  hook(commandFor: (event: string) => string): void {
    writeHome(this.sandbox, '.config/opencode/plugins/commands.js', commandPlugin(commandFor))
  }

  ask(prompt: string): Command {
    return this.call([], prompt)
  }

  askForSubagents(prompt: string) {
    return this.ask(prompt)
  }

  resume(session: string, prompt: string): Command {
    return this.call(['--session', session], prompt)
  }

  /** A fork by the program's server, before the message. */
  async resumeBefore(turn: RecordedEvent, prompt: string): Promise<Command> {
    const session = asText(field(turn, HOOKS.paths.session))
    const forked = await postToServer(this.sandbox, {
      program: this.call([], ''),
      path: `/session/${session}/fork`,
      body: { messageID: field(turn, 'output.message.id') },
    })
    return this.resume(asText(forked['id']), prompt)
  }

  goOn(args: readonly string[], prompt: string): Command {
    return this.call(args, prompt)
  }

  private call(what: readonly string[], prompt: string): Command {
    return {
      program: this.program,
      args: ['run', '--format', 'json', '--auto', ...what],
      // As an argument, opencode would quote the prompt.
      input: prompt,
      environment: QUIET,
    }
  }
}

function configuration(sandbox: Sandbox) {
  const model = { name: 'scripted', limit: { context: 200_000, output: 8_000 } }
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'scripted',
    options: { baseURL: `${sandbox.server.origin}/v1`, apiKey: 'dummy' },
    models: { scripted: model },
  }
  const name = 'scripted/scripted'
  return { model: name, small_model: name, provider: { scripted: provider }, share: 'disabled' }
}
