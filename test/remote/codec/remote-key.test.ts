import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RemoteKey } from '../../../src/remote/codec/index.js'

const key = new RemoteKey(Buffer.alloc(32, 7))
const context = ['remote', 'segment', 'session', 'a', 1, null] as const

test('any bytes are opened as they were sealed', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const sealed = key.seal(bytes, context)
      expect(sealed.length).toBe(bytes.length + 37)
      expect(key.open(sealed, context)).toEqual(Buffer.from(bytes))
    }),
  )
})

test('each bit counts', () => {
  const sealed = key.seal(Buffer.from('text'), context)
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    expect(key.open(changed, context)).toBe(undefined)
  }
  for (let length = 0; length < sealed.length; length++)
    expect(key.open(sealed.subarray(0, length), context)).toBe(undefined)
})

test('a value opens only in its context, with its key', () => {
  const sealed = key.seal(Buffer.from('text'), context)
  for (const other of [
    ['other', ...context.slice(1)],
    [...context.slice(0, 4), 2, null],
    [...context.slice(0, 4), '1', null],
    [...context.slice(0, 5), 'null'],
    [...context, null],
    context.slice(0, 5),
  ])
    expect(key.open(sealed, other)).toBe(undefined)
  expect(new RemoteKey(randomBytes(32)).open(sealed, context)).toBe(undefined)
})

test('the same value is sealed differently each time', () => {
  const sealed = Array.from({ length: 50 }, () => key.seal(Buffer.from('text'), context))
  const nonces = sealed.map((bytes) => bytes.toString('hex', 9, 21))
  expect(new Set(nonces).size).toBe(50)
})

test('names are equal for equal texts of one purpose, and differ otherwise', () => {
  const name = key.deriveName('claude', ['remote', 'agent'])
  expect(name).toMatch(/^[0-9a-f]{40}$/)
  expect(key.deriveName('claude', ['remote', 'agent'])).toBe(name)
  const others = [
    key.deriveName('Claude', ['remote', 'agent']),
    key.deriveName('claude', ['remote', 'tree']),
    key.deriveName('claude', ['other', 'agent']),
    new RemoteKey(randomBytes(32)).deriveName('claude', ['remote', 'agent']),
  ]
  expect(new Set([name, ...others]).size).toBe(5)
})
