// The data of an exported page: complete if it fits, and never larger than its limit.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { collectAnswers } from '../../../src/ui/export/collect-answers.js'
import { type ExportedData, exportKey } from '../../../src/ui/export/export-key.js'
import { openPageContext } from '../../../src/ui/methods/index.js'
import type { Output } from '../../../src/ui/api.js'
import { scratch } from '../../support/scratch.js'

const MADE_AT = new Date('2026-11-18T12:00:00Z')
const KEY = 'sk-ant-api03-q9Xw3Zr7Kd5Lm1Np8Vt2Bs6Yc4Hf0Jg-AbCdEfGh'
const PEM_LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7'

async function open() {
  const s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save({ reason: 'first' })
  const session = await store.session<{ messages: unknown[] }>('chat', { project })
  const messages = Array.from({ length: 120 }, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: n === 0 ? `<script>alert(1)</script> ${KEY}` : `message ${n} ${'x '.repeat(400)}`,
  }))
  await session.append('messages', messages, { reason: 'You: hello' })
  await session.close()
  const keyFile = ['-----BEGIN PRIVATE KEY-----', PEM_LINE, '-----END PRIVATE KEY-----', '']
  s.write({ 'key.pem': keyFile.join('\n'), [`${KEY}.txt`]: 'named like a key\n' })
  s.write({ 'a.txt': `two\n${'line\n'.repeat(2000)}`, 'b.txt': `the key is ${KEY}\n` })
  const { id } = await project.save({ reason: 'second' })
  const context = openPageContext({
    store,
    version: '1.2.3',
    isReadOnly: true,
    own: project,
    jsonOf: (value) => value ?? null,
    program: { programPath: '/nowhere/savestate', nodePath: process.execPath },
    environment: { HOME: join(s.folder, 'user') },
  })
  return { s, context, project: project.path, newest: id }
}

test('all answers are there, with secrets masked and nothing that ends the element', async () => {
  const { s, context, project, newest } = await open()
  try {
    const { json, checkpoints, leftOut } = await collectAnswers(context, { madeAt: MADE_AT })
    expect({ checkpoints, leftOut }).toEqual({ checkpoints: 3, leftOut: [] })
    expect(json).not.toContain('<')
    expect(json).not.toContain(KEY)
    expect(json).not.toContain(PEM_LINE)
    const { answers, madeAt } = JSON.parse(json) as ExportedData
    expect(madeAt).toBe('2026-11-18T12:00:00.000Z')
    const start = answers[exportKey('start', {})] as Output<'start'>
    expect({ ...start, rows: start.rows.length, hookedAgents: [] }).toMatchObject({
      isExport: true,
      isReadOnly: true,
      project,
      total: 3,
      rows: 3,
      hasMore: false,
      projects: [{ path: project }],
    })
    const range = { project, ref: newest, with: 'previous' }
    for (const [method, input] of [
      ['sessions', { project }],
      ['session', { session: 'chat' }],
      ...[0, 50, 100].map((from) => ['items', { session: 'chat', from, limit: 50 }] as const),
      ['checkpoint', { project, ref: newest }],
      ['changes', range],
      ['patch', { ...range, path: 'a.txt', context: 10 }],
      ['patch', { ...range, path: 'b.txt' }],
      ['patch', { ...range, path: '••••••.txt' }],
    ] as const)
      expect({ method, isThere: answers[exportKey(method, input)] !== undefined }).toEqual({
        method,
        isThere: true,
      })
  } finally {
    await s.dispose()
  }
})

test('images of both sides are there, without those that are too large', async () => {
  const { s, context, project } = await open()
  try {
    const image = (content: string, sizeBytes: number) =>
      Buffer.concat([Buffer.from('\0'), Buffer.alloc(sizeBytes - 1, content)])
    const save = async (files: Readonly<Record<string, Buffer>>) => {
      for (const [name, content] of Object.entries(files))
        writeFileSync(join(project, name), content)
      return (await (await context.project(project)).save()).id
    }
    const [old, fresh] = [image('old', 100), image('new', 200_000)]
    const first = await save({ 'a.png': old, 'x.bin': image('x', 10) })
    const second = await save({ 'a.png': fresh, 'b.gif': image('large', 200_001) })
    const { json, leftOut } = await collectAnswers(context, { madeAt: MADE_AT })
    expect(leftOut).toEqual(['1 image, too large or too many'])
    const { answers } = JSON.parse(json) as ExportedData
    const files = Object.entries(answers).filter(([key]) => key.startsWith('file '))
    const key = (ref: string) => exportKey('file', { project, ref, path: 'a.png' })
    expect(new Map(files)).toEqual(
      new Map([
        [key(second), fresh.toString('base64')],
        [key(first), old.toString('base64')],
      ]),
    )
  } finally {
    await s.dispose()
  }
})

test('with too little space, the oldest items and the diffs are left out, and the file says so', async () => {
  const { s, context } = await open()
  try {
    const maxBytes = 80_000
    const { json, leftOut } = await collectAnswers(context, { madeAt: MADE_AT, maxBytes })
    expect(json.length).toBeLessThan(maxBytes + 1000)
    expect(leftOut).toEqual(['50 earlier items of conversations', '1 diff, too large or too many'])
  } finally {
    await s.dispose()
  }
})
