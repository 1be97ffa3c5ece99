/**
 * The store that the rows of the page measure: 10,000 checkpoints, before them one with a patch of 1 MB and a conversation of
 * 50 MB. Created once per run.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { addCheckpoints, makeLongConversation } from '../../test/support/browser/large-stores.js'
import { shared } from '../bench.js'
import { cleanEnvironment, run } from '../programs.js'
import { cliPath, openStore } from '../sdk.js'

export const CHECKPOINTS = 10_000
export const LINES = 8_000
const CONVERSATION_BYTES = 50_000_000
const PATCH_LINES = 16_000

export interface UiStore {
  readonly project: string
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  /** The checkpoint with the large patch, and its file. */
  readonly patch: { readonly id: string; readonly path: string }
}

export const uiStore = shared(async ({ scratch, log }): Promise<UiStore> => {
  log(`a store with ${CHECKPOINTS} checkpoints and a conversation of 50 MB`)
  const folder = scratch.folder('ui')
  const project = join(folder, 'project')
  mkdirSync(project)
  const home = join(folder, 'home')
  const environment = { ...cleanEnvironment(), SAVESTATE_HOME: home, SAVESTATE_NO_DAEMON: '1' }
  await makeLongConversation({
    project,
    path: join(folder, 'transcript.jsonl'),
    lines: LINES,
    sizeBytes: CONVERSATION_BYTES,
    async hook(event, payload) {
      const input = JSON.stringify({ ...payload, hook_event_name: event })
      const args = [cliPath, 'hook', 'claude', event]
      await run({ program: process.execPath, args, cwd: project, environment, input })
    },
  })
  const store = await openStore(home, { durability: 'process' })
  try {
    const path = 'table.ts'
    const saved = await store.project(project)
    writeFileSync(
      join(project, path),
      tableOf((n) => n),
    )
    await saved.save({ reason: 'a table' })
    writeFileSync(
      join(project, path),
      tableOf((n) => n * 7),
    )
    const { id } = await saved.save({ reason: 'a patch of 1 MB' })
    await addCheckpoints(store, { project, count: CHECKPOINTS })
    return { project, home, environment, patch: { id, path } }
  } finally {
    await store.close()
  }
})

/** A line has about 32 bytes, and the patch has each line twice. */
function tableOf(value: (n: number) => number): string {
  const lines = Array.from(
    { length: PATCH_LINES },
    (_, n) => `export const row${n} = ${value(n)}\n`,
  )
  return lines.join('')
}
