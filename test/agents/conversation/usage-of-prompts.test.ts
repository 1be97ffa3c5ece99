// The tokens of each prompt, with the real program: hooks run while the transcript of the agent grows.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claudeHook, claudePrompt, rowOf } from '../../support/agent-story.js'
import { type Scratch, scratch } from '../../cli/program.js'

const fileOf = (s: Scratch) => join(s.folder, 'user', 's-1.jsonl')

function answer(s: Scratch, id: string, output: number): void {
  const usage = { input_tokens: 10, cache_read_input_tokens: 1000, output_tokens: output }
  const message = { id, role: 'assistant', content: [{ type: 'text', text: 'Done' }], usage }
  const line = JSON.stringify({ type: 'assistant', uuid: id, message, costUSD: 0.25 })
  appendFileSync(fileOf(s), `${line}\n`)
}

function write(s: Scratch, path: string): void {
  const call = {
    transcript_path: fileOf(s),
    tool_name: 'Write',
    tool_input: { file_path: join(s.project, path) },
    tool_use_id: path,
  }
  claudeHook(s, 'PreToolUse', call)
  s.write({ [path]: path })
  claudeHook(s, 'PostToolUse', call)
}

test('a checkpoint shows what its prompt has used so far', () => {
  using s = scratch({ 'a.txt': 'one' })
  const own = { transcript_path: fileOf(s) }
  claudePrompt(s, 'First', own)
  const first = rowOf(s, 'You: First').id
  const agentOf = (id: string) => {
    const { agent } = s.json(['show', id]) as { readonly agent: Record<string, unknown> }
    return [agent['tokens'], agent['costUsd']]
  }
  expect(agentOf(first)).toEqual([null, null])
  answer(s, 'm1', 5)
  write(s, 'b.txt')
  expect(agentOf(first)).toEqual([{ input: 1010, output: 5, cached: 1000 }, 0.25])
  answer(s, 'm2', 7)
  // It is copied at the next prompt and belongs to the one before.
  claudePrompt(s, 'Second', own)
  expect(agentOf(first)).toEqual([{ input: 2020, output: 12, cached: 2000 }, 0.5])
  answer(s, 'm3', 1)
  write(s, 'c.txt')
  const second = rowOf(s, 'You: Second').id
  expect(agentOf(second)).toEqual([{ input: 1010, output: 1, cached: 1000 }, 0.25])
  expect(agentOf(rowOf(s, 'Write c.txt').id)).toEqual(agentOf(second))
  expect(agentOf(first)).toEqual([{ input: 2020, output: 12, cached: 2000 }, 0.5])
  expect(s.run(['show', second]).stdout).toContain(
    'Tokens:     1,010 in (1,000 cached), 1 out, $0.25 under this prompt\n',
  )
})
