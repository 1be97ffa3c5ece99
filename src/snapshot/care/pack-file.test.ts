// Packs that git has made, with deltas, read by ourselves.
import { execFileSync } from 'node:child_process'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PackFile } from './pack-file.js'
import { readPackIndexFile } from './pack-index-file.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-pack-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const environment = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'C',
  GIT_COMMITTER_EMAIL: 'c@example.com',
}
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env: environment })

let pack = ''
let index: ReturnType<typeof readPackIndexFile>
const ids = () => Array.from({ length: index?.count ?? 0 }, (_, place) => index?.idAt(place))

beforeAll(() => {
  git('init', '-q')
  for (let round = 0; round < 8; round++) {
    const lines = Array.from(
      { length: 400 },
      (_, n) => `line ${n} of ${n % 37 === round ? round : 0}`,
    )
    writeFileSync(join(root, 'large.txt'), lines.join('\n'))
    writeFileSync(join(root, `small-${round}.txt`), `small ${round}\n`)
    git('add', '.')
    git('commit', '-q', '-m', `round ${round}`)
  }
  git('repack', '-adfq', '--depth=50')
  const folder = join(root, '.git/objects/pack')
  const name = readdirSync(folder).find((file) => file.endsWith('.pack')) ?? ''
  pack = join(folder, name)
  index = readPackIndexFile(pack.replace(/pack$/, 'idx'), { quick: false })
})

test('every object of a pack with deltas is read as git reads it', () => {
  const verified = git('verify-pack', '-v', pack.replace(/pack$/, 'idx')).toString()
  expect(verified).toMatch(/^chain length = [2-9]/m)
  const file = new PackFile(pack, index)
  const read = ids().map((id) => (id === undefined ? undefined : file.read(id)))
  const told = ids().map((id) => {
    const type = git('cat-file', '-t', id ?? '')
      .toString()
      .trim()
    return { type, content: git('cat-file', type, id ?? '') }
  })
  expect(read).toEqual(told)
  file.close()
})

test('without an index the objects come in the order of the pack', () => {
  const file = new PackFile(pack, undefined)
  const found = [...file.inOrder()].map(({ id }) => id)
  expect(new Set(found)).toEqual(new Set(ids()))
  file.close()
})

test.each([
  [
    'flipped',
    (bytes: Buffer) =>
      bytes.fill((bytes[bytes.length >> 1] ?? 0) ^ 1, bytes.length >> 1, (bytes.length >> 1) + 1),
  ],
  ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ['zeroed', (bytes: Buffer) => Buffer.alloc(bytes.length)],
  ['random', (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at * 31 + byte * 7) & 255))],
] as const)('of a pack that is %s only whole objects come', (_, damaged) => {
  const path = join(root, 'damaged.pack')
  writeFileSync(path, damaged(readFileSync(pack)))
  const file = new PackFile(path, index)
  const wrong = ids().filter((id) => {
    const found = id === undefined ? undefined : file.read(id)
    return found !== undefined && !found.content.equals(git('cat-file', found.type, id ?? ''))
  })
  expect(wrong).toEqual([])
  expect([...file.inOrder()].length).toBeLessThan(ids().length + 1)
  file.close()
})
