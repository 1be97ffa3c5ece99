import { expect, test } from 'vitest'
import type { Checkpoint } from '../../../src/model/index.js'
import { ambiguousReference } from '../../../src/engine/checkpoints/resolve-ref.js'

const T0 = Date.UTC(2026, 10, 18, 9, 30)

function checkpoint(id: string, what: Partial<Checkpoint> = {}): Checkpoint {
  return { id, name: null, reason: null, kind: 'save', createdAtMs: T0, ...what } as Checkpoint
}

test('an ambiguous id prefix lists the matching checkpoints', () => {
  const found = ambiguousReference('bcdf', [
    checkpoint('bcdfghjklmnpqrstvw', { reason: 'Bash: rm -rf src\nsecond line' }),
    checkpoint('bcdfghzzzzzzzzzzzz', { name: 'works', reason: 'other' }),
    checkpoint('bcdfzzzzzzzzzzzzzz', { kind: 'safety' }),
  ])
  expect(found.toJSON()).toEqual({
    code: 'CHECKPOINT_AMBIGUOUS',
    message: 'More than one checkpoint id starts with "bcdf"',
    hint: [
      'Type more letters:',
      '  bcdfghj  2026-11-18 09:30:00 UTC  Bash: rm -rf src',
      '  bcdfghz  2026-11-18 09:30:00 UTC  works',
      '  bcdfz  2026-11-18 09:30:00 UTC  saved before a rewind',
    ].join('\n'),
  })
})

test('a long list of candidates ends with "and more"', () => {
  const many = ['b', 'c', 'd', 'f', 'g', 'h'].map((end) => checkpoint(`bcdf${end}`))
  const lines = ambiguousReference('bcdf', many).hint?.split('\n') ?? []
  expect([lines.length, lines.at(-1)]).toEqual([7, '  and more'])
})
