// The plugin for opencode, as opencode calls it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../../cli/program.js'
import { put, read, userFile } from './install-helpers.js'

test('the plugin for opencode saves, waits for pending work, and throws only to stop a tool', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['install', 'opencode', '-y', '--strict'])
  const path = userFile(s, '.config/opencode/plugins/savestate.mjs')
  writeFileSync(path, read(path.replace('.mjs', '.js')))
  const known = { ...process.env }
  Object.assign(process.env, s.environment)
  try {
    const { Savestate } = (await import(pathToFileURL(path).href)) as { Savestate: PluginMaker }
    const toasts: unknown[] = []
    const client = { tui: { showToast: async (toast: unknown) => void toasts.push(toast) } }
    const plugin = await Savestate({ client, directory: s.project })
    const message = { message: { id: 'm' }, parts: [{ type: 'text', text: 'Do it' }] }
    await plugin['chat.message']({ sessionID: 'ses' }, message)
    const created = {
      type: 'session.created',
      properties: { info: { id: 'sub', parentID: 'ses' } },
    }
    await plugin.event({ event: created })
    const call = { tool: 'bash', sessionID: 'sub', callID: 'c' }
    const args = { command: 'echo two' }
    await plugin['tool.execute.before'](call, { args })
    s.write({ 'a.txt': 'two\n' })
    await plugin['tool.execute.after']({ ...call, args }, { title: 't', output: 'two' })
    s.write({ 'a.txt': 'three\n' })
    void plugin.event({ event: { type: 'session.idle', properties: { sessionID: 'ses' } } })
    await plugin.dispose()
    const list = s.json(['list']) as { checkpoints: readonly { reason: string; session: string }[] }
    expect(list.checkpoints.map(({ reason, session }) => [session, reason]).reverse()).toEqual([
      ['ses', 'You: Do it'],
      ['ses', 'bash: echo two'],
      ['ses', 'End of the turn'],
    ])
    expect(toasts).toEqual([])
    // The model is notified about restored files for one turn.
    s.run(['rewind', '3', '-y'])
    const system = async () => {
      const output = { system: ['You are opencode.'] }
      await plugin['chat.message']({ sessionID: 'ses' }, message)
      await plugin['experimental.chat.system.transform']({ sessionID: 'ses' }, output)
      return output.system.slice(1)
    }
    expect(await system()).toEqual([expect.stringMatching(/Savestate.*: a\.txt\.$/)])
    expect(await system()).toEqual([])
    const config: Record<string, unknown> = {
      permission: { edit: 'ask', external_directory: 'allow' },
    }
    await plugin.config(config)
    const outside = { '*': 'allow', [s.home]: 'deny', [join(s.home, '*')]: 'deny' }
    expect(config).toEqual({ permission: { edit: 'ask', external_directory: outside } })
    const refused = await Savestate({ client, directory: join(s.folder, 'user') })
    await refused['chat.message']({ sessionID: 'no' }, message)
    expect(toasts).toHaveLength(1)
    await expect(
      refused['tool.execute.before']({ ...call, sessionID: 'no' }, { args }),
    ).rejects.toThrow('PROJECT_REFUSED')
  } finally {
    for (const key of Object.keys(s.environment)) delete process.env[key]
    Object.assign(process.env, known)
  }
})

test('the plugin for opencode ends a prompt that is a command, and shows its output in the session', async () => {
  using s = scratch()
  s.run(['install', 'opencode', '-y'])
  const path = userFile(s, '.config/opencode/plugins/savestate.mjs')
  const program = join(s.folder, 'hook')
  writeFileSync(program, `cat > ${s.folder}/payload\necho '{"done":"Undid it"}'\n`)
  const code = read(path.replace('.mjs', '.js'))
  put(path, code.replace(/LINE = .*/, `LINE = ${JSON.stringify(`sh '${program}'`)}`))
  const { Savestate } = (await import(pathToFileURL(path).href)) as { Savestate: PluginMaker }
  const sent: { body: { parts: unknown } }[] = []
  const session = { prompt: async (message: (typeof sent)[number]) => void sent.push(message) }
  const plugin = await Savestate({ client: { session }, directory: s.project })
  const message = { sessionID: 'ses', agent: 'build', model: 'm' }
  const typed = { message, parts: [{ type: 'text', text: 'savestate undo' }] }
  await expect(plugin['chat.message']({ sessionID: 'ses' }, typed)).rejects.toThrow('Savestate')
  const text = '> savestate undo\n\nUndid it'
  const parts = [{ type: 'text', text, ignored: true }]
  const body = { noReply: true, agent: 'build', model: 'm', parts }
  expect(sent).toEqual([{ path: { id: 'ses' }, body }])
  // opencode calls the plugin for that message too.
  await plugin['chat.message']({ sessionID: 'ses' }, { message, parts })
  expect(sent).toHaveLength(1)
})

test.each([
  ['is strict', 'exits with 2', 'echo It was not readable. >&2; exit 2', 'It was not readable.'],
  ['is strict', 'is not there', 'exit 127', 'exited with 127'],
  ['is strict', 'is killed', 'kill -9 $$', 'exited with'],
  ['is strict', 'says what cannot be read', 'echo nonsense', 'cannot be read'],
  ['is strict', 'has nothing to say', 'exit 0', 'it runs'],
  ['is not strict', 'exits with 2', 'exit 2', 'it runs'],
])(
  'the plugin for opencode decides whether to stop a tool if it %s and its hook %s',
  async (how, _, hook, stopped) => {
    using s = scratch()
    const options = how === 'is strict' ? ['--strict'] : []
    s.run(['install', 'opencode', '-y', ...options])
    const path = userFile(s, '.config/opencode/plugins/savestate.mjs')
    const program = join(s.folder, 'hook')
    writeFileSync(program, `cat > ${s.folder}/payload\n${hook}\n`)
    const code = read(path.replace('.mjs', '.js'))
    put(path, code.replace(/LINE = .*/, `LINE = ${JSON.stringify(`sh '${program}'`)}`))
    const { Savestate } = (await import(pathToFileURL(path).href)) as { Savestate: PluginMaker }
    const client = { tui: { showToast: async () => undefined } }
    const plugin = await Savestate({ client, directory: s.project })
    const call = { tool: 'bash', sessionID: 'ses', callID: 'c' }
    const args = { command: 'ls' }
    const fault = await plugin['tool.execute.before'](call, { args }).catch(String)
    expect(fault ?? 'it runs').toContain(stopped)
    // It stops nothing else.
    await plugin['chat.message']({ sessionID: 'ses' }, { message: {}, parts: [] })
    await plugin['tool.execute.after'](call, { title: 't' })
    await plugin.dispose()
  },
)

type Handler = (input: unknown, output: unknown) => Promise<void>
type Plugin = Record<
  | 'chat.message'
  | 'experimental.chat.system.transform'
  | 'tool.execute.before'
  | 'tool.execute.after',
  Handler
> & {
  event(input: unknown): Promise<void>
  dispose(): Promise<void>
  config(config: unknown): Promise<void>
}
type PluginMaker = (context: unknown) => Promise<Plugin>
