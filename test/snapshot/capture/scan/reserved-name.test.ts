import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BytePath, bytePathFromBytes } from '../../../../src/model/index.js'
import { git, scratchFolders } from '../../../support/scratch-git.js'
import { isReservedName } from '../../../../src/snapshot/capture/scan/reserved-name.js'

const folder = scratchFolders()

const REFUSED = ['.git', '.GIT', '.gIt', 'git~1', 'GIT~1', '.git ', '.git.', '.git...  .', '.git:']
REFUSED.push(
  '.git::$INDEX_ALLOCATION',
  'git~1.',
  'git~1:x',
  '.g\u200cit',
  '\ufeff.git',
  '.git\u206f',
)
REFUSED.push('x\\.git', '\\.git', '.git\\x', 'git~1\\', 'x\\git~1 \\y', '.\u202aGIT')
const HARMLESS = [
  'git',
  '.gitignore',
  '.github',
  '.gitattributes',
  '.gitmodules',
  'digit~1',
  'git~2',
]
HARMLESS.push('git~11', '.gi', '.gitx', ' .git', 'x.git', '.git_', '.git~1', '.g it', '.g\u00eft')
HARMLESS.push('.g\u0131t', '.G\u0130T', 'git', '\\', 'a\\b', 'x\\.gitignore', '.git-', '.\u200dgi')

// Code points that HFS+ ignores, their neighbors, and lookalikes of the letters of `.git`.
const FOLDED = ['\u200b', '\u200c', '\u200f', '\u2010', '\u2029', '\u202a', '\u202e', '\u202f']
FOLDED.push('\u2069', '\u206a', '\u206f', '\u2070', '\ufeff', '\ufffe', '\uffff', '\u{1f4a9}')
FOLDED.push('\u0131', '\u0130', '\u{1ffff}', '\u{10fffe}', '\ufdd0')
const NO_UTF8 = ['\xff', '\x80', '\xe2\x80', '\xc0\x80', '\xed\xa0\x80', '\xf4\x90\x80\x80', '\xc3']

test.each(REFUSED)('%j is reserved', (name) => expect(isReservedName(bytes(name))).toBe(true))

test.each(HARMLESS)('%j is not reserved', (name) => expect(isReservedName(bytes(name))).toBe(false))

test('a name is reserved exactly when git fsck finds .git in it', () => {
  const core = fc.constantFrom('.git', '.GiT', '.GIT', 'git~1', 'GIT~1', 'git', '.gi', 'git~2')
  const noise = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...[' ', '.', ':', '\\', '~1', 'x'].map(utf8)) },
    { weight: 3, arbitrary: fc.constantFrom(...FOLDED.map(utf8)) },
    { weight: 1, arbitrary: fc.constantFrom(...NO_UTF8.map(latin1)) },
  )
  const some = (maxLength: number) => fc.array(noise, { maxLength })
  // Noise before, inside and after.
  const name = fc
    .tuple(some(1), core, fc.nat(4), some(1), some(3), fc.boolean())
    .map(([before, word, at, inside, after, isPlain]) =>
      Buffer.concat([
        ...(isPlain ? [] : before),
        utf8(word.slice(0, at)),
        ...(isPlain ? [] : inside),
        utf8(word.slice(at)),
        ...after,
      ]),
    )
    .map((bytes) => bytePathFromBytes(bytes))
  const names = [
    ...new Set([
      ...[...REFUSED, ...HARMLESS].map(bytes),
      ...fc.sample(name, { seed: 12, numRuns: 4000 }),
    ]),
  ]
  const refused = refusedByGit(names)
  expect(refused.size).toBeGreaterThan(300)
  const missed = names.filter((text) => refused.has(text) && !isReservedName(text))
  const needless = names.filter((text) => !refused.has(text) && isReservedName(text))
  expect({ missed: missed.map(shown), needless: needless.map(shown) }).toEqual({
    missed: [],
    needless: [],
  })
})

function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8')
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Puts each name in its own tree; returns those in which `git fsck --strict` finds a .git. */
function refusedByGit(names: readonly BytePath[]): Set<BytePath> {
  const repository = folder()
  git(repository, ['init', '-q', '--bare'])
  const blob = git(repository, ['hash-object', '-w', '--stdin']).toString('latin1').trim()
  const input = names.map((name) => `100644 blob ${blob}\t${name}\0\0`).join('')
  const ids = git(repository, ['mktree', '-z', '--batch'], Buffer.from(input, 'latin1'))
    .toString('latin1')
    .trim()
    .split('\n')
  expect(ids.length).toBe(names.length)
  const run = spawnSync('git', ['fsck', '--strict', '--no-dangling', '--no-progress'], {
    cwd: repository,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', LC_ALL: 'C' },
    maxBuffer: 1 << 28,
  })
  const refused = new Set(
    [...run.stderr.toString('latin1').matchAll(/in tree (\w{40}): hasDotgit/g)].map(
      ([, id]) => id ?? '',
    ),
  )
  return new Set(names.filter((_, i) => refused.has(ids[i] ?? '')))
}

function shown(name: BytePath): string {
  return Buffer.from(name, 'latin1').toString('hex')
}

function bytes(text: string): BytePath {
  return bytePathFromBytes(utf8(text))
}
