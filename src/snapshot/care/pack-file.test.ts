// Packs that git wrote, with deltas, read without git.
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
import type { ObjectId } from '../../model/index.js'
import { parsePackIndex } from './pack-index-file.js'

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
let index: ReturnType<typeof parsePackIndex>
const ids = () =>
  Array.from({ length: index?.count ?? 0 }, (_, n) => index?.idAt(n) ?? ('' as ObjectId))

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
  index = parsePackIndex(readFileSync(pack.replace(/pack$/, 'idx')), { quick: false })
})

test('every blob of a pack with deltas is read as git reads it', () => {
  const verified = git('verify-pack', '-v', pack.replace(/pack$/, 'idx')).toString()
  expect(verified).toMatch(/^chain length = [2-9]/m)
  const file = new PackFile(pack, index)
  const blobs = blobsWithGit()
  expect(blobs.length).toBeGreaterThan(8)
  expect(blobs.map(({ id, content }) => read(file, id, content.length))).toEqual(
    blobs.map(({ content }) => content),
  )
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
] as const)('a pack that is %s yields no wrong content', (_, damaged) => {
  const path = join(root, 'damaged.pack')
  writeFileSync(path, damaged(readFileSync(pack)))
  const file = new PackFile(path, index)
  const wrong = blobsWithGit().filter(({ id, content }) => {
    const found = read(file, id, content.length)
    return found !== undefined && !found.equals(content)
  })
  expect(wrong).toEqual([])
  file.close()
})

function read(file: PackFile, id: ObjectId, size: number): Buffer | undefined {
  const found = file.readBlob(id, size)
  return found === undefined ? undefined : Buffer.from(found.content)
}

function blobsWithGit(): { readonly id: ObjectId; readonly content: Buffer }[] {
  return ids()
    .filter((id) => git('cat-file', '-t', id).toString() === 'blob\n')
    .map((id) => ({ id, content: git('cat-file', 'blob', id) }))
}
