// Runs a command as a hook of opencode, through a plugin, because opencode has no command hooks.

const HOOKS = ['chat.message', 'tool.execute.before', 'tool.execute.after']

/** Events about the progress of a turn; the many others are left out. */
const EVENTS = ['session.created', 'session.idle', 'session.error']

export function commandPlugin(commandFor: (event: string) => string): string {
  const commands = [...HOOKS, ...EVENTS, 'dispose'].map((event) => [event, commandFor(event)])
  return `import { spawnSync } from 'node:child_process'

const COMMANDS = ${JSON.stringify(Object.fromEntries(commands))}

// Synchronously and in order: the program may not wait for asynchronous work.
function tell(event, payload) {
  const input = JSON.stringify({ event, ...payload })
  spawnSync(COMMANDS[event], { shell: true, input, stdio: ['pipe', 'ignore', 'ignore'] })
}

export const Commands = async () => {
  const hooks = { dispose: async () => tell('dispose', {}) }
  for (const name of ${JSON.stringify(HOOKS)}) {
    hooks[name] = async (input, output) => tell(name, { input, output })
  }
  hooks.event = async ({ event }) => {
    if (${JSON.stringify(EVENTS)}.includes(event.type)) tell(event.type, { input: event.properties })
  }
  return hooks
}
`
}
