// Stores for the states of the page that are rare: very large, empty, damaged, without a key.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/index.js'
import { type Scratch, scratch } from '../../cli/program.js'
import { claudeHook, claudePrompt, claudeShell } from '../agent-story.js'
import { runGit } from '../scratch.js'
import { addCheckpoints, makeLongConversation } from './large-stores.js'

export const CHECKPOINTS = 10_000
export const LINES = 8_000

/** 10,000 checkpoints, and before them a conversation of 50 MB. */
export async function largeStore(): Promise<Scratch> {
  const s = scratch()
  await makeLongConversation({
    project: s.project,
    path: join(s.folder, 'user', 'transcript.jsonl'),
    lines: LINES,
    sizeBytes: 50_000_000,
    hook(event, payload) {
      const input = JSON.stringify({ ...payload, hook_event_name: event })
      const { code, stderr } = s.run(['hook', 'claude', event], { input })
      if (code !== 0 || stderr !== '') throw new Error(`hook ${event} failed: ${stderr}`)
    },
  })
  const store = await openStore({ home: s.home, durability: 'process', inProcess: true })
  await addCheckpoints(store, { project: s.project, count: CHECKPOINTS })
  await store.close()
  return s
}

/** The store has lost the content of `lost.txt` in the newest checkpoint. */
export function damagedStore(): Scratch {
  const s = scratch({ 'kept.txt': 'kept\n' })
  claudePrompt(s, 'Write two files')
  claudeShell(s, 'echo lost > lost.txt')
  const blob = runGit(['hash-object', '--stdin'], { input: 'lost\n' })
  rmSync(join(s.home, 'objects.git', 'objects', blob.slice(0, 2), blob.slice(2)))
  // Marks the checkpoint as damaged.
  s.run(['repair', '--yes'])
  return s
}

/** A session whose conversation was saved with a key that the page does not have. */
export function encryptedStore(): Scratch {
  const s = scratch({ 'a.txt': 'a\n' })
  const env = { SAVESTATE_KEY: 'ab'.repeat(32) }
  const path = join(s.folder, 'user', 'transcript.jsonl')
  const asked = { type: 'user', promptId: 'p-1', message: { content: 'A secret prompt' } }
  s.write({ '../user/transcript.jsonl': `${JSON.stringify(asked)}\n` })
  const fields = { prompt: 'A secret prompt', prompt_id: 'p-1', transcript_path: path }
  claudeHook(s, 'UserPromptSubmit', fields, { env })
  s.write({ 'a.txt': 'b\n' })
  claudeHook(s, 'Stop', fields, { env })
  return s
}
