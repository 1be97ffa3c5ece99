// Files of subagents in the forms that agents write: which one belongs to a call, and which files are never read.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConversationItems } from '../../../src/agents/conversation/read-items.js'
import {
  readSubagent,
  type SubagentOptions,
} from '../../../src/agents/conversation/read-subagent.js'
import { readGrowth } from '../../../src/agents/conversation/transcript.js'
import {
  CLAUDE,
  CODEX,
  writeClaudeFiles,
  writeCodexFiles,
} from '../../support/browser/subagent-files.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'savestate-subagents-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** As the head of a session has it after a hook. */
const copied = (path: string) => ({ copied: readGrowth(path, undefined)?.position })

function claude() {
  const files = writeClaudeFiles(join(folder, 'projects/p'))
  const read = (fields: Partial<SubagentOptions> = {}) =>
    readSubagent(metadata, { format: 'claude', call: CLAUDE.call, agent: CLAUDE.agent, ...fields })
  const metadata = copied(files.transcript)
  return { ...files, metadata, read, expected: linesOf(files.subagent) }
}

function codex() {
  const files = writeCodexFiles(join(folder, 'sessions'))
  const read = (fields: Partial<SubagentOptions> = {}) =>
    readSubagent(metadata, { format: 'codex', call: CODEX.call, agent: CODEX.thread, ...fields })
  const metadata = copied(files.transcript)
  return { ...files, read }
}

const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n')

test('Claude Code: the result of a call names its subagent, the file beside it names the call', () => {
  const { read, expected, lines, result } = claude()
  const items = readConversationItems([...lines, result], { format: 'claude' })
  expect(items.map(({ started }) => started)).toEqual([
    undefined,
    [{ call: CLAUDE.call, agent: null }],
    [{ call: CLAUDE.call, agent: CLAUDE.agent }],
  ])
  expect(read()).toEqual(expected)
  expect(read({ agent: undefined })).toEqual(expected)
  expect(readConversationItems(expected, { format: 'claude' }).at(5)?.started).toEqual([
    { call: CLAUDE.innerCall, agent: null },
  ])
  const inner = read({ call: CLAUDE.innerCall, agent: undefined })
  expect(readConversationItems(inner, { format: 'claude' })).toMatchObject([
    { parts: [{ kind: 'prompt', text: { text: 'Go deeper' } }] },
    { parts: [{ kind: 'answer', text: { text: 'Deep.' } }] },
  ])
})

test('Codex: an event names the thread of a call; what the thread inherited is left out', () => {
  const { read, lines } = codex()
  const items = readConversationItems(lines, { format: 'codex' })
  expect(
    items.flatMap(({ index, started }) => (started === undefined ? [] : { index, started })),
  ).toEqual([{ index: 3, started: [{ call: CODEX.call, agent: CODEX.thread }] }])
  const shown = readConversationItems(read(), { format: 'codex' })
  expect(shown.flatMap(({ parts }) => parts.map(({ kind }) => kind))).toEqual([
    'note',
    'call',
    'result',
    'answer',
  ])
  expect(JSON.stringify(shown)).not.toMatch(/Let a subagent clean up|encrypted/)
})

test('Codex: a thread of another day is found, one that is no subagent is not shown', () => {
  const { read, subagent } = codex()
  const nextDay = join(folder, 'sessions/2026/11/20')
  mkdirSync(nextDay)
  renameSync(subagent, join(nextDay, basename(subagent)))
  expect(read().length).toBe(5)
  expect([read({ agent: CODEX.session }), read({ agent: undefined })]).toEqual([[], []])
})

test('a subagent that works adds complete lines; without its file there are none', () => {
  const { read, expected, subagent } = claude()
  appendFileSync(subagent, '{"type":"user"}\n{"type":')
  expect(read()).toEqual([...expected, '{"type":"user"}'])
  rmSync(subagent)
  expect(read()).toEqual([])
  rmSync(dirname(subagent), { recursive: true })
  expect([read(), read({ agent: undefined })]).toEqual([[], []])
  expect([read({ format: 'gemini' }), read({ format: 'messages' })]).toEqual([[], []])
})

test('of a file over 8 MB the beginning is read, and a remark says so', () => {
  const { read, subagent } = claude()
  const line = JSON.stringify({ type: 'summary', summary: 'x'.repeat(1024 * 1024) })
  writeFileSync(subagent, `${line}\n`.repeat(9))
  const lines = read()
  expect(lines).toEqual([
    ...Array.from({ length: 7 }, () => line),
    'Only the beginning of this conversation is shown: its file is too large.',
  ])
  expect(readConversationItems(lines.slice(7), { format: 'claude' })).toMatchObject([
    { parts: [{ kind: 'note', text: { text: lines[7] } }] },
  ])
})

test('an id never leads out of the folder', () => {
  const { read, subagent } = claude()
  const secret = join(folder, 'projects/p/agent-secret.jsonl')
  writeFileSync(secret, '{"secret":1}\n')
  const ids = [
    '../../agent-secret',
    'secret/../../../agent-secret',
    secret.slice(0, -'.jsonl'.length),
    `${CLAUDE.agent}\0`,
    '..',
    '',
  ]
  expect(ids.map((agent) => read({ agent }))).toEqual(ids.map(() => []))
  const meta = subagent.replace(CLAUDE.agent, 'x').replace('.jsonl', '.meta.json')
  writeFileSync(meta, JSON.stringify({ toolUseId: 'hostile', agentId: '../../agent-secret' }))
  expect(read({ call: 'hostile', agent: undefined })).toEqual([])
  const { read: readCodex } = codex()
  const threads = [`../19/${CODEX.thread}`, `.*${CODEX.thread}`, '[0-9a-f-]+', '']
  expect(threads.map((agent) => readCodex({ agent }))).toEqual(threads.map(() => []))
  const above = join(folder, 'projects/subagents')
  mkdirSync(above)
  writeFileSync(join(above, 'agent-x.jsonl'), '{"secret":1}\n')
  const transcript = join(folder, 'projects/p', '...jsonl')
  writeFileSync(transcript, '{}\n')
  const options = { format: 'claude', call: 'c', agent: 'x' } as const
  expect(readSubagent(copied(transcript), options)).toEqual([])
})

test('a link, a pipe and a folder are not read', () => {
  const { read, subagent, expected } = claude()
  const outside = join(folder, 'outside')
  renameSync(dirname(subagent), outside)
  symlinkSync(outside, dirname(subagent))
  expect([read(), read({ agent: undefined })]).toEqual([[], []])
  rmSync(dirname(subagent))
  mkdirSync(dirname(subagent))
  symlinkSync(join(outside, basename(subagent)), subagent)
  expect(read()).toEqual([])
  rmSync(subagent)
  execFileSync('mkfifo', [subagent])
  expect(read()).toEqual([])
  rmSync(subagent)
  mkdirSync(subagent)
  expect(read()).toEqual([])
  // The user may have moved the folder of the agent itself.
  rmSync(dirname(subagent), { recursive: true })
  renameSync(outside, dirname(subagent))
  renameSync(join(folder, 'projects'), join(folder, 'moved'))
  symlinkSync(join(folder, 'moved'), join(folder, 'projects'))
  expect(read()).toEqual(expected)
})

test('nothing is read for a session whose transcript is not the one that was copied', () => {
  const { metadata, transcript, read, expected } = claude()
  const options = { format: 'claude', call: CLAUDE.call, agent: CLAUDE.agent } as const
  expect(readSubagent(null, options)).toEqual([])
  const tail = '0'.repeat(32)
  expect(readSubagent({ copied: { ...metadata.copied, tail } }, options)).toEqual([])
  appendFileSync(transcript, '{}\n')
  expect(read()).toEqual(expected)
  writeFileSync(transcript, '{"other":1}\n')
  expect(read()).toEqual([])
})
