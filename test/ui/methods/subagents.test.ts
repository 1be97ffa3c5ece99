// Conversations of subagents over HTTP and in an export: they are read from the agent's own files.
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readGrowth } from '../../../src/agents/conversation/transcript.js'
import type { Store } from '../../../src/index.js'
import { collectAnswers } from '../../../src/ui/export/collect-answers.js'
import { type ExportedData, exportKey } from '../../../src/ui/export/export-key.js'
import { openPageContext } from '../../../src/ui/methods/index.js'
import {
  CLAUDE,
  CODEX,
  SECRET,
  writeClaudeFiles,
  writeCodexFiles,
} from '../../support/browser/subagent-files.js'
import { openPage, type Page } from '../page-helpers.js'

const RANGE = { from: 0, limit: 50 } as const
const OUTER = { session: 'c', call: CLAUDE.call } as const
const INNER = { session: 'c', call: CLAUDE.innerCall } as const

/** As the hooks of both agents save them. The result of the call is not there yet. */
async function saveSessions({ s, store }: Pick<Page, 's' | 'store'>) {
  const claude = writeClaudeFiles(join(s.folder, 'user/.claude/projects/p'))
  const codex = writeCodexFiles(join(s.folder, 'user/.codex/sessions'))
  await save(store, { id: 'c', agent: 'claude', path: claude.transcript, project: s.project })
  await save(store, { id: 'x', agent: 'codex', path: codex.transcript, project: s.project })
  return { claude, codex }
}

async function save(
  store: Store,
  of: { readonly id: string; readonly agent: string; readonly path: string; project: string },
): Promise<void> {
  const { id, agent, path } = of
  const growth = readGrowth(path, undefined)
  const project = await store.project(of.project)
  const session = await store.session(id, { project, agent })
  const metadata = { copied: growth?.position }
  await session.save({ state: { transcript: growth?.lines ?? [] }, metadata })
  await session.close()
}

const textsIn = ({
  items,
}: {
  readonly items: readonly { readonly parts: readonly unknown[] }[]
}) => JSON.stringify(items.map(({ parts }) => parts))

test('a call leads to the items of its subagent, in slices and with secrets masked', async () => {
  await using page = await openPage()
  const { claude } = await saveSessions(page)
  const outer = await page.call('items', { ...OUTER, ...RANGE })
  expect([outer.total, outer.items.map(({ subagent }) => subagent)]).toEqual([
    8,
    Array.from({ length: 8 }, () => null),
  ])
  expect(textsIn(outer)).not.toContain(SECRET)
  const named = { ...OUTER, agent: CLAUDE.agent }
  expect(await page.call('items', { ...named, ...RANGE })).toEqual(outer)
  const slice = await page.call('items', { ...named, from: 4, limit: 1 })
  expect([slice.total, slice.items]).toEqual([8, [{ ...outer.items[4], parts: expect.anything() }]])
  const revealed = await page.call('items', { ...OUTER, ...RANGE, reveal: true })
  expect(textsIn(revealed)).toContain(SECRET)
  expect(textsIn(await page.call('items', { ...INNER, ...RANGE }))).toContain('Deep.')
  const thread = { session: 'x', call: CODEX.call, agent: CODEX.thread }
  expect(textsIn(await page.call('items', { ...thread, ...RANGE }))).toContain('Cleaned up.')
  appendFileSync(
    claude.subagent,
    `${JSON.stringify({ type: 'summary', summary: 'long '.repeat(4000) })}\n`,
  )
  const rest = await page.call('more', { ...OUTER, index: 8, part: 0, offset: 16_384 })
  expect([rest.text.length, rest.restLength]).toEqual([20_000 - 16_384, 0])
})

test('a hostile id gets nothing, and so does a subagent without a file', async () => {
  await using page = await openPage()
  const { codex } = await saveSessions(page)
  const secret = join(page.s.folder, 'user/.claude/projects/p/agent-secret.jsonl')
  writeFileSync(secret, '{"secret":1}\n')
  rmSync(codex.subagent)
  const nothing = { items: [], total: 0 }
  for (const agent of ['../../agent-secret', secret, '..', 'other'])
    expect(await page.call('items', { ...OUTER, agent, ...RANGE })).toEqual(nothing)
  expect(await page.call('items', { ...OUTER, call: '../../agent-secret', ...RANGE })).toEqual(
    nothing,
  )
  const thread = { session: 'x', call: CODEX.call, agent: CODEX.thread }
  expect(await page.call('items', { ...thread, ...RANGE })).toEqual(nothing)
  expect(await page.refusal('items', { ...OUTER, call: '', ...RANGE })).toBe('400 BAD_INPUT')
})

test('an export has the subagents of its conversations, masked, up to its size', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  const { claude } = await saveSessions(page)
  const { store, project } = page
  const context = openPageContext({
    store,
    version: '1.2.3',
    isReadOnly: true,
    own: project,
    jsonOf: (value) => value ?? null,
    program: { programPath: '/nowhere/savestate', nodePath: process.execPath },
    environment: {},
  })
  const madeAt = new Date('2026-11-18T12:00:00Z')
  const { json, leftOut } = await collectAnswers(context, { madeAt })
  expect(leftOut).toEqual([])
  expect(json).not.toContain(SECRET)
  const { answers } = JSON.parse(json) as ExportedData
  const answerOf = (input: Readonly<Record<string, unknown>>) =>
    JSON.stringify(answers[exportKey('items', { ...input, ...RANGE })])
  expect(answerOf(OUTER)).toContain('From inside.')
  // The page may know more or less than the export about the id.
  expect(answerOf({ ...OUTER, agent: CLAUDE.agent })).toBe(answerOf(OUTER))
  expect(answerOf(INNER)).toContain('Deep.')
  expect(answerOf({ session: 'x', call: CODEX.call })).toContain('Cleaned up.')
  const line = JSON.stringify({ type: 'summary', summary: 'x'.repeat(1000) })
  appendFileSync(claude.subagent, `${line}\n`.repeat(100))
  const small = await collectAnswers(context, { madeAt, maxBytes: 40_000 })
  expect(small.leftOut).toEqual(['1 conversation of subagents, at least in part'])
})
