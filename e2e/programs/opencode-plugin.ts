// A command as a hook of opencode, which knows no commands: a plugin, written by us, run by it.

const HOOKS = ['chat.message', 'tool.execute.before', 'tool.execute.after']

/** Events that say where a turn stands; the many others are left out. */
const EVENTS = ['session.created', 'session.idle', 'session.error']

export function commandPlugin(commandFor: (event: string) => string): string {
  const commands = [...HOOKS, ...EVENTS, 'dispose'].map((event) => [event, commandFor(event)])
  return `import { spawnSync } from 'node:child_process'

const COMMANDS = ${JSON.stringify(Object.fromEntries(commands))}

// At once and in order: what is only begun here, the program may not wait for.
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
