// Salvage of a damaged pack with deltas: every object whose own bytes and delta bases are intact is copied, also those that
// follow the damage.
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SetAside } from '../../../src/system/index.js'
import { replacePack } from '../../../src/snapshot/repair/salvage-pack.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-salvage-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const env = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'C',
  GIT_COMMITTER_EMAIL: 'c@example.com',
}
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] }).toString()

type Entry = { readonly id: string; readonly from: number; readonly to: number; base?: string }

let name = ''
let pack = Buffer.alloc(0)
let idx = Buffer.alloc(0)
let entries: readonly Entry[] = []

beforeAll(() => {
  git('init', '-q')
  for (let round = 0; round < 8; round++) {
    const lines = Array.from({ length: 400 }, (_, n) => `line ${n} ${n % 37 === round ? round : 0}`)
    writeFileSync(join(root, 'large.txt'), lines.join('\n'))
    writeFileSync(join(root, `small-${round}.txt`), `small ${round}\n`)
    git('add', '.')
    git('commit', '-q', '-m', `round ${round}`)
  }
  git('repack', '-adfq', '--depth=50')
  const folder = join(root, '.git/objects/pack')
  name = (readdirSync(folder).find((file) => file.endsWith('.pack')) ?? '').replace('.pack', '')
  pack = readFileSync(join(folder, `${name}.pack`))
  idx = readFileSync(join(folder, `${name}.idx`))
  // id, type, size, size in the pack, offset, and for a delta its depth and base
  entries = git('verify-pack', '-v', join(folder, `${name}.idx`))
    .split('\n')
    .filter((line) => /^[0-9a-f]{40} /.test(line))
    .map((line) => {
      const [id = '', , , size, offset, , base] = line.split(/ +/)
      const from = Number(offset)
      return { id, from, to: from + Number(size), ...(base === undefined ? {} : { base }) }
    })
})

/** The objects that do not depend on any byte that differs. */
function intact(damaged: Buffer): string[] {
  const isSound = ({ from, to, base }: Entry): boolean =>
    damaged.subarray(from, to).equals(pack.subarray(from, to)) &&
    (base === undefined || entries.some((entry) => entry.id === base && isSound(entry)))
  return entries.filter(isSound).map(({ id }) => id)
}

async function salvaged(damaged: Buffer, index: Buffer | undefined): Promise<string[]> {
  const home = mkdtempSync(join(root, 'store-'))
  const [folder, temporary] = [join(home, 'objects/pack'), join(home, 'tmp')]
  for (const path of [folder, join(home, 'refs'), temporary]) mkdirSync(path, { recursive: true })
  writeFileSync(join(home, 'HEAD'), 'ref: refs/heads/none\n')
  writeFileSync(join(folder, `${name}.pack`), damaged)
  if (index !== undefined) writeFileSync(join(folder, `${name}.idx`), index)
  const away = new SetAside({ root: home, folder: join(home, 'damaged') })
  await replacePack(folder, { name, temporary, away })
  const aside = join(home, 'damaged/objects/pack', `${name}.pack`)
  expect(readFileSync(aside).equals(damaged)).toBe(true)
  for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o77).toBe(0)
  expect(git(`--git-dir=${home}`, 'fsck', '--full', '--no-dangling')).not.toMatch(/corrupt/)
  const listed = git(`--git-dir=${home}`, 'cat-file', '--batch-all-objects', '--batch-check')
  return listed.split('\n').flatMap((line) => (line === '' ? [] : line.slice(0, 40)))
}

const changed = (change: (bytes: Buffer) => unknown) => {
  const bytes = Buffer.from(pack)
  change(bytes)
  return bytes
}

test.each<[string, () => Buffer]>([
  [
    'one bit',
    () => changed((bytes) => (bytes[bytes.length >> 1] = ~(bytes[bytes.length >> 1] ?? 0) & 255)),
  ],
  [
    'a hundred bytes',
    () => changed((bytes) => bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 100)),
  ],
  ['the header', () => changed((bytes) => bytes.fill(0, 0, 12))],
  ['the checksum', () => changed((bytes) => bytes.fill(0, bytes.length - 20))],
  ['the first block', () => changed((bytes) => bytes.fill(0, 0, 512))],
  [
    'the checksum and a hundred bytes',
    () =>
      changed((bytes) =>
        bytes.fill(0, bytes.length - 20).fill(0, bytes.length >> 1, (bytes.length >> 1) + 100),
      ),
  ],
  ['the second half', () => Buffer.from(pack.subarray(0, pack.length >> 1))],
  ['the last byte', () => Buffer.from(pack.subarray(0, -1))],
  ['every byte', () => Buffer.alloc(pack.length)],
  ['the whole content', () => Buffer.alloc(0)],
])('with %s damaged, all intact objects are copied', async (_, damage) => {
  const damaged = damage()
  const expected = intact(damaged)
  expect(expected.length).toBeLessThanOrEqual(entries.length)
  expect((await salvaged(damaged, idx)).toSorted()).toEqual(expected.toSorted())
})

test('without an index, all objects before the damage are copied', async () => {
  const at = pack.length >> 1
  const damaged = changed((bytes) => bytes.fill(0, at, at + 100))
  const before = entries.filter(({ to }) => to <= at).map(({ id }) => id)
  expect(before.length).toBeGreaterThan(5)
  const found = await salvaged(damaged, undefined)
  expect(before.filter((id) => !found.includes(id))).toEqual([])
})

test('a damaged header does not matter without an index either', async () => {
  const found = await salvaged(
    changed((bytes) => bytes.fill(0, 0, 12)),
    undefined,
  )
  expect(found.toSorted()).toEqual(entries.map(({ id }) => id).toSorted())
})
