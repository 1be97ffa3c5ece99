// The envelope. Another implementation (Python's cryptography) computed the known answers, so that a change of
// the format cannot go unnoticed.
import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSealed, keyIdOf, SealingKey } from '../../../src/ledger/encryption/sealing-key.js'

const secret = Uint8Array.from({ length: 32 }, (_, n) => n)
const key = new SealingKey(secret)
const other = new SealingKey(new Uint8Array(32))
const PLACE = ['elements', 7, 'ab'] as const
const KNOWN = '~AQdbmDgLkZeyAAECAwQFBgcICQoLDm8tur9ND68r8TTIJgYzSd98sCRbvvqRXUYx'

test('known answers', () => {
  const nonce = Buffer.from(Array.from({ length: 12 }, (_, n) => n))
  expect(key.id).toBe('075b98380b9197b2')
  expect(key.seal('0{"a":"é"}', PLACE, nonce)).toBe(KNOWN)
  expect(key.open(KNOWN, PLACE)).toBe('0{"a":"é"}')
  expect(key.deriveAddress('0{"a":1}')).toBe('3324fb843234abe41eeff9e4dc9bf384a20d5654')
  expect(key.computeTag(Uint8Array.of(2, 2), ['nodes', 3]).toString('hex')).toBe(
    '84e94a71203ba0aa94f03db82e3231fc',
  )
  expect(keyIdOf(KNOWN)).toBe(key.id)
})

const text = fc.string({ unit: 'binary', maxLength: 200 })
const place = fc.array(fc.oneof(fc.string(), fc.nat()), { minLength: 1, maxLength: 4 })

test('a sealed value opens only in its context and with its key', () => {
  fc.assert(
    fc.property(text, place, place, (content, here, there) => {
      const sealed = key.seal(content, here)
      expect(isSealed(sealed)).toBe(true)
      expect(key.open(sealed, here)).toBe(content)
      expect(other.open(sealed, here)).toBe(undefined)
      const isHere = JSON.stringify(here) === JSON.stringify(there)
      expect(key.open(sealed, there)).toBe(isHere ? content : undefined)
    }),
    { seed: 1 },
  )
})

test('sealing the same content twice gives different texts and one address', () => {
  expect(key.seal('text', PLACE)).not.toBe(key.seal('text', PLACE))
  expect(key.deriveAddress('text')).toBe(new SealingKey(secret).deriveAddress('text'))
  expect(key.deriveAddress('text')).not.toBe(other.deriveAddress('text'))
})

test('repeated random bytes, as in a cloned virtual machine, do not repeat a nonce', () => {
  const random = Buffer.alloc(12)
  const nonces = [
    key.deriveNonce('text', PLACE, random),
    key.deriveNonce('other', PLACE, random),
    key.deriveNonce('text', ['elements', 8, 'ab'], random),
    key.deriveNonce('text', PLACE),
    key.deriveNonce('text', PLACE),
    other.deriveNonce('text', PLACE, random),
  ].map((nonce) => nonce.toString('hex'))
  expect(nonces.map((nonce) => nonce.length)).toEqual(nonces.map(() => 24))
  expect(new Set(nonces).size).toBe(nonces.length)
})

test('every flipped bit, cut and addition is detected', () => {
  const sealed = Buffer.from(key.seal('content', PLACE), 'latin1')
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const changed = Buffer.from(sealed)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect([bit, key.open(changed.toString('latin1'), PLACE)]).toEqual([bit, undefined])
  }
  for (let length = 0; length < sealed.length; length += 1)
    expect(key.open(sealed.toString('latin1', 0, length), PLACE)).toBe(undefined)
  expect(key.open(`${sealed.toString('latin1')}A`, PLACE)).toBe(undefined)
})

test('a tag verifies only its own bytes in its own context', () => {
  const bytes = Uint8Array.of(1, 2, 3)
  const tag = key.computeTag(bytes, ['nodes', 1])
  expect(key.verifyTag(tag, bytes, ['nodes', 1])).toBe(true)
  expect(key.verifyTag(tag, bytes, ['nodes', 2])).toBe(false)
  expect(key.verifyTag(tag, Uint8Array.of(1, 2), ['nodes', 1])).toBe(false)
  expect(other.verifyTag(tag, bytes, ['nodes', 1])).toBe(false)
  expect(key.verifyTag(tag.subarray(1), bytes, ['nodes', 1])).toBe(false)
})

test('a key that is printed shows its id and nothing else', () => {
  expect(JSON.stringify(key)).toBe(JSON.stringify({ id: key.id }))
  const shown = inspect(key, { depth: 9, showHidden: true })
  expect(shown).toContain(key.id)
  expect(shown).not.toContain(Buffer.from(secret).toString('hex').slice(0, 16))
  expect(shown).not.toMatch(/00 01 02 03|0, 1, 2, 3/)
})
