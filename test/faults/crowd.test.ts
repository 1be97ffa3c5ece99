// 64 processes that save one project at the same time.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { SaveResult } from '../../src/index.js'
import { scratch } from '../support/scratch.js'

const CHILD = fileURLToPath(new URL('../support/crash-child.mjs', import.meta.url))
const PROCESSES = 64

test('64 processes that write a file each and save all succeed, and the newest checkpoint has every file', async () => {
  await using s = await scratch({ files: { 'first.txt': 'there from the start' } })
  const go = join(s.folder, 'go')
  const children = Array.from({ length: PROCESSES }, (_, i) => {
    const name = `of-${i}.txt`
    const run = [
      ['write', { path: name, content: `written by ${i}` }],
      ['save', { reason: name }],
    ]
    // Most without a capture thread, some with.
    const request = { home: s.home, project: s.project, run, waitFor: go, inProcess: i % 4 !== 0 }
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)])
    const output: string[] = []
    child.stdout.on('data', (text) => output.push(String(text)))
    child.stderr.on('data', (text) => output.push(String(text)))
    return once(child, 'close').then(([code]) => ({ name, code, text: output.join('') }))
  })
  writeFileSync(go, '')
  const ended = await Promise.all(children)
  expect(ended.filter(({ code }) => code !== 0)).toEqual([])

  const store = await s.open()
  const project = await store.project(s.project)
  const checkpoints = await project.list({ limit: 1000 })
  const saved = ended.map(({ name, text }) => {
    const { results } = JSON.parse(text) as { results: [SaveResult] }
    return { ...results[0], wrote: name }
  })
  // Each returned an existing checkpoint, and the created ones are different.
  const made = saved.filter(({ created }) => created).map(({ id }) => id)
  expect(checkpoints.map(({ id }) => id).sort()).toEqual([...made].sort())
  expect(made.length).toBeGreaterThan(0)
  const ids = new Set(made)
  expect(saved.filter(({ id }) => !ids.has(id))).toEqual([])
  // Nothing has changed since, so the newest one has all files.
  expect(await project.save()).toMatchObject({ created: false })
  const all = s.snapshotOf()
  for (const name of readdirSync(s.project)) s.write({ [name]: null })
  await project.rewind(checkpoints[0]?.id ?? '')
  expect(s.snapshotOf()).toEqual(all)
  expect(all.size).toBe(PROCESSES + 2)
  // The checkpoint that a process got contains what it wrote before its save.
  const last = saved.at(-1)
  await project.rewind(last?.id ?? '')
  expect(s.snapshotOf().has(last?.wrote ?? '')).toBe(true)
  expect((await store.verify()).problems).toEqual([])
  expect(s.fsck()).toBe('')
})
