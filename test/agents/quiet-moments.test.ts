// The checkpoint of a call whose end no event tells of, when something is in its way.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { handleHook, QuietMoments } from '../../src/agents/index.js'
import { openStore, type Project, type Store } from '../../src/index.js'
import { type Scratch, scratch } from '../support/scratch.js'

afterEach(() => void vi.restoreAllMocks())

/** A session of which nothing is heard after it has begun a call, and whose folder has changed since. */
async function silentSession(
  s: Scratch,
  store: Store,
  { id = 's-1', quiet = new QuietMoments(store) } = {},
): Promise<QuietMoments> {
  const hook = (eventName: string, fields: object) =>
    handleHook(store, {
      agent: 'claude',
      eventName,
      payload: { session_id: id, cwd: s.project, ...fields },
      onProject: (project, event) => {
        project.watch()
        quiet.heard(project, event)
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

test('a checkpoint that could not be made is tried again', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } })
  const store = await openStore({ home: s.home, inProcess: true, durability: 'process' })
  const quiet = await silentSession(s, store)
  const config = join(s.home, 'config.json')
  writeFileSync(config, '{"maxFiles": 1}')
  passSeconds(4)
  await quiet.due()?.()
  expect((await store.status()).failures).toMatchObject([{ code: 'TOO_MANY_FILES' }])
  rmSync(config)
  passSeconds(10)
  await quiet.due()?.()
  expect(await reasonsOf(s, store)).toEqual(['Bash: make (running)', 'You: Go'])
  await store.close()
})

test('while one is being made, the next look does not begin another', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await openStore({ home: s.home, inProcess: true, durability: 'process' })
  const quiet = await silentSession(s, store)
  passSeconds(4)
  const making = quiet.due()?.()
  expect(making).toBeDefined()
  expect(quiet.due()).toBeUndefined()
  await making
  expect(await reasonsOf(s, store)).toEqual(['Bash: make (running)', 'You: Go'])
  passSeconds(10)
  expect(quiet.due()).toBeDefined()
  await store.close()
})

test('where a look at one fails, the others come with the next look', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await openStore({ home: s.home, inProcess: true, durability: 'process' })
  const quiet = await silentSession(s, store)
  await silentSession(s, store, { id: 's-2', quiet })
  passSeconds(4)
  const projects = Object.getPrototypeOf(await store.project(s.project)) as Project
  const looks = vi.spyOn(projects, 'activity').mockRejectedValueOnce(new Error('no answer'))
  await expect(quiet.due()?.()).rejects.toThrow('no answer')
  looks.mockClear()
  await quiet.due()?.()
  expect(looks).toHaveBeenCalledTimes(2)
  await store.close()
})
