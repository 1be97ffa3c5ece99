// I3: a write that comes between the last check of a file and the step that replaces or removes it is not lost. The write is
// made at exactly that time: by the child itself, just before or just after its own call of the system.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild, settle } from '../../snapshot/capture/capture-helpers.js'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const MINE = 'written in between\n'

/** Runs `write` once: before or after `a.txt` is taken from its path, or when another file has got that path. */
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
  test('is replaced: the write is in a checkpoint, and the rewind goes on', async () => {
    await using s = await prepare({ 'a.txt': 'one' })
    s.write({ 'a.txt': 'two' })
    await settle()
    const answer = await inChild(s, `${around('before', write)} ${REWIND}`, { inProcess: true })
    expect(answer).toEqual({ code: 'none', notices: [] })
    expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
    expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
    expect(readdirSync(s.project)).toEqual(['a.txt'])
  })

  test('is removed: the write is in a checkpoint, and the rewind goes on', async () => {
    await using s = await prepare({ b: 'one' })
    s.write({ 'a.txt': 'two' })
    await settle()
    const answer = await inChild(s, `${around('before', write)} ${REWIND}`, { inProcess: true })
    expect(answer).toEqual({ code: 'none', notices: [] })
    expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
    expect(readdirSync(s.project)).toEqual(['b'])
  })
})

test('written through an open file after it was moved: the write is in a checkpoint, which the notice names', async () => {
  await using s = await prepare({ 'a.txt': 'one' })
  s.write({ 'a.txt': 'two' })
  await settle()
  const write = `writeSync(held, ${JSON.stringify(MINE)}, 0); closeSync(held)`
  const answer = await inChild(s, `${around('placed', write)} ${REWIND}`, { inProcess: true })
  expect(answer).toEqual({
    code: 'none',
    notices: [
      expect.stringMatching(
        /^a\.txt was written to while it was being replaced\. What was written is in checkpoint [a-z]{18}\.$/,
      ),
    ],
  })
  expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  expect(readdirSync(s.project)).toEqual(['a.txt'])
  // It knows what was left out, and whose the files are, as the safety checkpoint does.
  const [first, ...others] = detailsInLedger(s)
  expect(Object.keys(first ?? {})).toEqual(expect.arrayContaining(['rules', 'owners']))
  expect(others).toEqual([first, first, first])
})

test('a new file that came to the path while the old one was moved stays until it is saved', async () => {
  await using s = await prepare({ 'a.txt': 'one' })
  s.write({ 'a.txt': 'two' })
  await settle()
  const write = `writeFileSync(file, ${JSON.stringify(MINE)}, { flag: 'wx' })`
  const answer = await inChild(s, `${around('after', write)} ${REWIND}`, { inProcess: true })
  expect(answer).toEqual({ code: 'none', notices: [] })
  expect(blobsOfCheckpoints(s)).toContain(blobOf(MINE))
  expect(blobsOfCheckpoints(s)).toContain(blobOf('two'))
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  expect(readdirSync(s.project)).toEqual(['a.txt'])
})

test('a file that a program never stops writing to stays under a reserved name, and the notice says so', async () => {
  await using s = await prepare({ 'a.txt': 'one' })
  s.write({ 'a.txt': 'two' })
  await settle()
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
      `A program keeps writing to the earlier a.txt, which it has open. That file stays as ${aside}.`,
    ]),
  })
  expect(readFileSync(join(s.project, aside), 'utf8')).toMatch(/line \d+\n$/)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
})
