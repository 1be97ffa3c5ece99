// The recording hook as opencode takes it: a plugin, written by us, run by it.
import type { Place } from '../place.js'

const HOOKS = ['chat.message', 'tool.execute.before', 'tool.execute.after']

/** Events that say where a turn stands; the many others are left out. */
const EVENTS = ['session.created', 'session.idle', 'session.error']

export function recordingPlugin(place: Place): string {
  return `import { readdirSync, renameSync, writeFileSync } from 'node:fs'

let count = 0
function record(event, payload) {
  count += 1
  const name = \`\${Date.now()}-\${String(count).padStart(6, '0')}\`
  const at = ${JSON.stringify(place.records)} + '/' + name
  writeFileSync(at + '.files', readdirSync(${JSON.stringify(place.project)}).join('\\n'))
  writeFileSync(at + '.part', JSON.stringify({ event, ...payload }))
  renameSync(at + '.part', at + '.json')
}

export const Recorder = async () => {
  const hooks = { dispose: async () => record('dispose', {}) }
  for (const name of ${JSON.stringify(HOOKS)}) {
    hooks[name] = async (input, output) => record(name, { input, output })
  }
  hooks.event = async ({ event }) => {
    if (${JSON.stringify(EVENTS)}.includes(event.type)) record(event.type, { input: event.properties })
  }
  return hooks
}
`
}
