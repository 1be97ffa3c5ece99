// Saves of idle sessions that fail, overlap, or take long.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { handleHook, IdleSessions } from '../../src/agents/index.js'
import { openStore, type Store } from '../../src/index.js'
import { type Scratch, scratch } from '../support/scratch.js'

afterEach(() => void vi.restoreAllMocks())

/** A session that sends nothing after the start of a call, and whose folder has changed since. */
async function silentSession(
  s: Scratch,
  store: Store,
  { id = 's-1', quiet = new IdleSessions(store) } = {},
): Promise<IdleSessions> {
  const hook = (eventName: string, fields: object) =>
    handleHook(store, {
      agent: 'claude',
      eventName,
      payload: { session_id: id, cwd: s.project, ...fields },
      onProject: (project, event) => {
        project.watch()
        quiet.recordEvent(project, event)
      },
    })
  await hook('UserPromptSubmit', { prompt: 'Go' })
  await hook('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'make' } })
  s.write({ 'a.txt': 'two\n' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  return quiet
}

function passSeconds(seconds: number): void {
  const now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now + seconds * 1000)
}

const reasonsOf = async (s: Scratch, store: Store) =>
  (await (await store.project(s.project)).list()).map(({ reason }) => reason)

test('a failed save is retried', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } })
  const store = await openStore({ home: s.home, inProcess: true, durability: 'process' })
  const quiet = await silentSession(s, store)
  const config = join(s.home, 'config.json')
  writeFileSync(config, '{"maxFiles": 1}')
  passSeconds(4)
  await quiet.dueCheck()?.()
  expect((await store.status()).failures).toMatchObject([{ code: 'TOO_MANY_FILES' }])
  rmSync(config)
  passSeconds(10)
  await quiet.dueCheck()?.()
  expect(await reasonsOf(s, store)).toEqual(['Bash: make (running)', 'You: Go'])
  await store.close()
})

test('a check does not save a session that is still being saved', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await openStore({ home: s.home, inProcess: true, durability: 'process' })
  const quiet = await silentSession(s, store)
  passSeconds(4)
  const making = quiet.dueCheck()?.()
  expect(making).toBeDefined()
  expect(quiet.dueCheck()).toBeUndefined()
  await making
  expect(await reasonsOf(s, store)).toEqual(['Bash: make (running)', 'You: Go'])
  passSeconds(10)
  expect(quiet.dueCheck()).toBeDefined()
  await store.close()
})

test('if the check of one session fails, the next check includes the others', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await openStore({ home: s.home, inProcess: true, durability: 'process' })
  const quiet = await silentSession(s, store)
  await silentSession(s, store, { id: 's-2', quiet })
  passSeconds(4)
  const { internals } = await store.project(s.project)
  const projects = Object.getPrototypeOf(internals) as typeof internals
  const looks = vi.spyOn(projects, 'activity').mockRejectedValueOnce(new Error('no answer'))
  await expect(quiet.dueCheck()?.()).rejects.toThrow('no answer')
  looks.mockClear()
  await quiet.dueCheck()?.()
  expect(looks).toHaveBeenCalledTimes(2)
  await store.close()
})
