// Stores of the sizes that the page promises to handle. Shared with the benchmark, so nothing here needs the test runner.
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../../src/index.js'
import { ClaudeTranscript, type TranscriptLine } from './claude-transcript.js'

const STEPS_PER_PROMPT = 9
const PROMPTS_PER_SESSION = 40
/** Captures cost milliseconds each, so only some checkpoints have files. */
const STEPS_WITH_FILES = 100

/** Adds that many checkpoints to a project: sessions with prompts, and steps after each prompt. */
export async function addCheckpoints(
  store: Store,
  { project: path, count }: { readonly project: string; readonly count: number },
): Promise<void> {
  const project = await store.project(path)
  for (let made = 0; made < count; ) {
    const session = await store.session<{ items: string[] }>(`session-${made}`, {
      agent: made % 3 === 0 ? 'codex' : 'claude',
      project,
    })
    for (let n = 0; n < PROMPTS_PER_SESSION && made < count; n += 1) {
      await session.newTurn()
      for (let step = 0; step <= STEPS_PER_PROMPT && made < count; step += 1) {
        const files = made % STEPS_WITH_FILES === 0
        if (files) writeFileSync(join(path, 'counter.txt'), `${made}\n`)
        const reason = step === 0 ? `You: prompt ${made}` : `Bash: make step-${made}`
        await session.append('items', [`item ${made}`], { reason, files })
        made += 1
      }
    }
    await session.complete()
    await session.close()
  }
}

export const LONG_SESSION = '7b1f0c5e-3a52-4c1e-8f1d-2d9c4b6a8e10'

export type LongConversation = {
  readonly project: string
  /** The transcript to write. */
  readonly path: string
  readonly lines: number
  readonly sizeBytes: number
  /** Runs `savestate hook claude` with this payload. */
  readonly hook: (event: string, payload: TranscriptLine) => Promise<void> | void
}

/** A hook copies at most 8 MB. */
const PARTS = 10

/** A session of Claude Code: a prompt at every 20th line, calls with long results between. */
export async function makeLongConversation(of: LongConversation): Promise<void> {
  const transcript = new ClaudeTranscript(LONG_SESSION, of.project, Date.parse('2026-11-01'))
  const perLine = Math.floor(of.sizeBytes / of.lines)
  const perPart = Math.ceil(of.lines / PARTS)
  for (let part = 0; part < PARTS; part += 1) {
    const promptId = `p-${part}`
    const fields = {
      session_id: LONG_SESSION,
      transcript_path: of.path,
      cwd: of.project,
      prompt_id: promptId,
    }
    await of.hook('UserPromptSubmit', { ...fields, prompt: `Part ${part}` })
    const from = part * perPart
    const to = Math.min(of.lines, from + perPart)
    let text = ''
    for (let n = from; n < to; n += 1) {
      const size = perLine - 450
      text += `${JSON.stringify(lineAt(transcript, { n, isFirst: n === from, promptId, part, size }))}\n`
    }
    appendFileSync(of.path, text)
    await of.hook('Stop', fields)
  }
  // The end of a turn in which no file changed makes no checkpoint; the next prompt does.
  const fields = { session_id: LONG_SESSION, transcript_path: of.path, cwd: of.project }
  await of.hook('UserPromptSubmit', { ...fields, prompt_id: 'p-last', prompt: 'Thank you' })
}

type Line = {
  readonly n: number
  readonly isFirst: boolean
  readonly promptId: string
  readonly part: number
  readonly size: number
}

function lineAt(t: ClaudeTranscript, { n, isFirst, promptId, part, size }: Line): TranscriptLine {
  if (isFirst) return t.prompt(promptId, `Part ${part}`)
  const call = { id: `toolu_${Math.floor(n / 2)}`, tool: 'Bash', input: { command: `run ${n}` } }
  if (n % 20 === 0) return t.prompt(`${promptId}-${n}`, `Prompt at line ${n}`)
  if (n % 20 === 1) return t.text(`Answer at line ${n}. ${prose(size)}`)
  if (n % 20 === 2) return t.thinking(`Thought at line ${n}. ${prose(size)}`)
  // A result is in its line twice, and calls are short.
  if (n % 2 === 0) return t.call(call)
  return t.result(call, `Result at line ${n}\n${prose(size * 0.96)}`, n % 101 === 0)
}

const SENTENCE = 'The quick brown fox jumps over the lazy dog; 1234567890 times.\n'
function prose(size: number): string {
  return SENTENCE.repeat(Math.ceil(size / SENTENCE.length))
}
