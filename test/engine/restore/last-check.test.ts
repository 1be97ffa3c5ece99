// I3: a write between the last check of a file and the step that replaces or removes it is not lost. The child process
// itself makes the write at exactly that time, just before or just after its own system call.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild, waitForStableStamps } from '../../snapshot/capture/capture-helpers.js'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const MINE = 'written in between\n'

/** Runs `write` once: before or after `a.txt` is moved from its path, or when another file is at that path. */
function around(when: 'before' | 'after' | 'placed', write: string): string {
  return `
    const plain = (await import('node:fs')).default
    const { renameSync, unlinkSync, linkSync, openSync, writeSync, writeFileSync, closeSync } = plain
    const file = scratch.project + '/a.txt'
    const held = openSync(file, 'r+')
    let isArmed = false
    const once = () => {
      if (!isArmed) return
      isArmed = false
      ${write}
    }
    const isFile = (path) => String(path).endsWith('/a.txt')
    const wrap = (call, before, after) => (...args) => {
      if (args.some(isFile) && '${when}' === before) once()
      const answer = call(...args)
      if (args.some(isFile) && '${when}' === after) once()
      return answer
    }
    plain.renameSync = wrap(renameSync, 'before', 'after')
    plain.unlinkSync = wrap(unlinkSync, 'before', 'after')
    plain.linkSync = wrap(linkSync, undefined, 'placed')
    ;(await import('node:module')).syncBuiltinESMExports()
  `
}

const WRITERS = {
  'in place': `writeFileSync(file, ${JSON.stringify(MINE)})`,
  'by rename': `writeFileSync(file + '.new', ${JSON.stringify(MINE)}); renameSync(file + '.new', file)`,
}

const REWIND = `
  isArmed = true
  const notices = []
  const onWarning = (text) => notices.push(text)
  const code = await codeOf(project.rewind('first', { onWarning }))
  return { code, notices }
`

async function prepare(files: Record<string, string>): Promise<Scratch> {
  const s = await scratch({ files })
  await inChild(s, "await project.save({ name: 'first' })")
  return s
}

function blobsOfCheckpoints(s: Scratch): string[] {
  const git = ['--git-dir', join(s.home, 'objects.git'), 'rev-list', '--all', '--objects']
  const lines = execFileSync('git', git, { encoding: 'utf8' }).split('\n')
  return lines.map((line) => line.slice(0, 40))
}

function detailsInLedger(s: Scratch): object[] {
  const database = new DatabaseSync(join(s.home, 'ledger.db'))
  const sql = 'SELECT details.json FROM checkpoints JOIN details ON hash = details ORDER BY seq'
  const rows = database.prepare(sql).all() as { readonly json: string }[]
  database.close()
  return rows.map(({ json }) => {
    const { rewind: _, ...details } = JSON.parse(json) as { rewind?: unknown }
    return details
  })
}

function blobOf(text: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')
}

describe.each(Object.entries(WRITERS))('written %s just before it', (_, write) => {
  test('is replaced: the write is in a checkpoint, and the rewind continues', async () => {
    await using s = await prepare({ 'a.txt': 'one' })
    s.write({ 'a.txt': 'two' })
    await waitForStableStamps()
    const answer = await inChild(s, `${around('before', write)} ${REWIND}`, { inProcess: true })
    expect(answer).toEqual({ code: 'none', notices: [] })
    expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
    expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
    expect(readdirSync(s.project)).toEqual(['a.txt'])
  })

  test('is removed: the write is in a checkpoint, and the rewind continues', async () => {
    await using s = await prepare({ b: 'one' })
    s.write({ 'a.txt': 'two' })
    await waitForStableStamps()
    const answer = await inChild(s, `${around('before', write)} ${REWIND}`, { inProcess: true })
    expect(answer).toEqual({ code: 'none', notices: [] })
    expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
    expect(readdirSync(s.project)).toEqual(['b'])
  })
})

test('written through an open file after it was moved: the write is in a checkpoint, which the notice names', async () => {
  await using s = await prepare({ 'a.txt': 'one' })
  s.write({ 'a.txt': 'two' })
  await waitForStableStamps()
  const write = `writeSync(held, ${JSON.stringify(MINE)}, 0); closeSync(held)`
  const answer = await inChild(s, `${around('placed', write)} ${REWIND}`, { inProcess: true })
  expect(answer).toEqual({
    code: 'none',
    notices: [
      expect.stringMatching(
        /^A program wrote to a\.txt while it was being replaced\. Checkpoint [a-z]{18} has the written content\.$/,
      ),
    ],
  })
  expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  expect(readdirSync(s.project)).toEqual(['a.txt'])
  // It lists the same skipped paths and owners as the safety checkpoint.
  const [first, ...others] = detailsInLedger(s)
  expect(Object.keys(first ?? {})).toEqual(expect.arrayContaining(['rules', 'owners']))
  expect(others).toEqual([first, first, first])
})

test('a new file that appears at the path while the old one is moved stays until it is saved', async () => {
  await using s = await prepare({ 'a.txt': 'one' })
  s.write({ 'a.txt': 'two' })
  await waitForStableStamps()
  const write = `writeFileSync(file, ${JSON.stringify(MINE)}, { flag: 'wx' })`
  const answer = await inChild(s, `${around('after', write)} ${REWIND}`, { inProcess: true })
  expect(answer).toEqual({ code: 'none', notices: [] })
  expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
  expect(blobsOfCheckpoints(s)).toContain(blobOf('two'))
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  expect(readdirSync(s.project)).toEqual(['a.txt'])
})

test('a file that a program keeps writing to is kept under a reserved name, and a notice says so', async () => {
  await using s = await prepare({ 'a.txt': 'one' })
  s.write({ 'a.txt': 'two' })
  await waitForStableStamps()
  const write = `
    const fstat = plain.lstatSync
    let count = 0
    plain.lstatSync = (path, ...rest) => {
      if (String(path).includes('.savestate-old-')) writeSync(held, 'line ' + count++ + '\\n')
      return fstat(path, ...rest)
    }
    syncBuiltinESMExports()
  `
  const start = `const { syncBuiltinESMExports } = await import('node:module'); ${around('placed', write)}`
  const answer = await inChild(s, `${start} ${REWIND}`, { inProcess: true })
  const [aside = ''] = readdirSync(s.project).filter((name) => name.startsWith('.savestate-old-'))
  expect(answer).toEqual({
    code: 'none',
    notices: expect.arrayContaining([
      `A program keeps writing to the earlier a.txt, which it has open. That file is kept as ${aside}.`,
    ]),
  })
  expect(readFileSync(join(s.project, aside), 'utf8')).toMatch(/line \d+\n$/)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
})
