import { hash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { IndexUnsupported, parseIndexNames } from '../../../src/snapshot/checkout/index-format.js'
import { READABLE, started } from '../../support/sample-repositories.js'
import { git, listed, scratchFolders } from '../../support/scratch-git.js'

const parseIndex = (bytes: Buffer) => parseIndexNames(bytes, 'sha1')

const newFolder = scratchFolders()

const anyName = fc
  .array(fc.constantFrom(...'abAB.- ~0\n\t"\\\x01\x7f\x80\xa0\xc3\xff'.split('')), {
    minLength: 1,
    maxLength: 6,
  })
  .map((bytes) => bytes.join(''))
  .filter((name) => !/^\.+$/.test(name))
const anyEntry = fc.record({
  path: fc.array(anyName, { minLength: 1, maxLength: 4 }).map((names) => names.join('/')),
  mode: fc.constantFrom('100644', '100755', '120000', '160000'),
  stage: fc.constantFrom(0, 0, 0, 1, 2, 3),
  isSkipped: fc.boolean(),
})

const idChars = { sha1: 40, sha256: 64 }
const kinds = ([2, 3, 4] as const).flatMap((version) =>
  (['sha1', 'sha256'] as const).map((format) => ({ version, format })),
)

for (const { version, format } of kinds) {
  test(`any names decoded from version ${version} with ${format} are those that git lists`, () => {
    const folder = started(newFolder(), {}, [`--object-format=${format}`])
    git(folder, ['config', 'core.protectNTFS', 'false'])
    const index = join(folder, '.git/index')
    fc.assert(
      fc.property(fc.array(anyEntry, { minLength: 1, maxLength: 40 }), (entries) => {
        rmSync(index, { force: true })
        const records = entries.map(
          ({ mode, stage, path }) => `${mode} ${'1'.repeat(idChars[format])} ${stage}\t${path}\0`,
        )
        const info = ['update-index', '-z', '--index-version', String(version), '--index-info']
        git(folder, info, Buffer.from(records.join(''), 'latin1'))
        if (version > 2) {
          const skipped = entries
            .filter(({ isSkipped, stage }) => isSkipped && stage === 0)
            .map(({ path }) => `${path}\0`)
          markSkipped(folder, skipped)
        }
        expect(parseIndexNames(readFileSync(index), format)).toEqual(listed(folder))
      }),
      { numRuns: tries(80) },
    )
  })
}

test('an index with a flipped bit or a truncated one is rejected', () => {
  const taken: string[] = []
  for (const bytes of smallIndexes()) {
    for (let length = 0; length < bytes.length; length++) {
      const outcome = outcomeOf(bytes.subarray(0, length))
      if (outcome !== 'refused') taken.push(`of ${length} bytes: ${outcome}`)
    }
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const outcome = outcomeOf(changed)
      if (outcome !== 'refused') taken.push(`with bit ${bit} changed: ${outcome}`)
    }
  }
  expect(taken).toEqual([])
})

test('any bytes are decoded or rejected', () => {
  for (const bytes of smallIndexes()) {
    const end = bytes.length - 20
    const edits = fc.array(fc.tuple(fc.nat(end - 1), fc.nat(255)), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(edits, (changes) => {
        const changed = Buffer.from(bytes).fill(0, end)
        for (const [position, byte] of changes) changed[position] = byte
        expect(outcomeOf(changed)).toMatch(/^(names|refused)$/)
      }),
      { numRuns: tries(2_000, 200) },
    )
  }
})

test('the first letter of an unknown extension decides whether it is skipped or rejected', () => {
  const [bytes = Buffer.alloc(0)] = smallIndexes()
  const names = parseIndex(bytes)
  expect(parseIndex(extended(bytes, 'ABCD'))).toEqual(names)
  expect(parseIndex(extended(bytes, 'sdir'))).toEqual(names)
  expect(() => parseIndex(extended(bytes, 'abcd'))).toThrow('extension "abcd"')
  expect(() => parseIndex(extended(bytes, 'link'))).toThrow('split index')
})

test('an unknown version is rejected', () => {
  const [bytes = Buffer.alloc(0)] = smallIndexes()
  for (const version of [0, 1, 5]) {
    const changed = Buffer.from(bytes)
    changed.writeUInt32BE(version, 4)
    expect(() => parseIndex(signed(changed.subarray(0, -20)))).toThrow(`version ${version}`)
  }
})

function outcomeOf(bytes: Buffer): string {
  try {
    parseIndex(bytes)
    return 'names'
  } catch (error) {
    return error instanceof IndexUnsupported ? 'refused' : String(error)
  }
}

function smallIndexes(): readonly Buffer[] {
  return [2, 3, 4].map((version) => {
    const worktree = READABLE[`version ${version}`]?.(newFolder()) ?? ''
    return readFileSync(join(worktree, '.git/index'))
  })
}

function markSkipped(folder: string, records: readonly string[]): void {
  try {
    const input = Buffer.from(records.join(''), 'latin1')
    git(folder, ['update-index', '-z', '--skip-worktree', '--stdin'], input)
  } catch {
    // Another entry replaced one of these; git stops there and leaves the rest unmarked.
  }
}

function extended(bytes: Buffer, signature: string): Buffer {
  const extension = Buffer.from(`${signature}\0\0\0\x03abc`, 'latin1')
  return signed(Buffer.concat([bytes.subarray(0, -20), extension]))
}

function signed(body: Buffer): Buffer {
  return Buffer.concat([body, hash('sha1', body, 'buffer')])
}
