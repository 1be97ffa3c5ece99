// Encryption by the command line: keys from the environment, and a change of the key that is killed and finished.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Ended, type Scratch, scratch } from '../program.js'
import { REKEY_POINTS } from '../../support/failpoints/rekey.js'

const OLD = '1f'.repeat(32)
const NEW = Buffer.alloc(32, 0x2e).toString('base64')
const MARKER = 'PLAINTEXT-MARKER'
const STATE = JSON.stringify({
  messages: Array.from({ length: 300 }, (_, n) => ({ n, text: `${MARKER} ${n}` })),
  note: MARKER,
})

function save(s: Scratch, env: Readonly<Record<string, string>> = {}): Ended {
  return s.run(['save', '--session', 'work', '--state', '-'], { input: STATE, env })
}

function exported(s: Scratch, env: Readonly<Record<string, string>>): unknown {
  const { code, stdout, stderr } = s.run(['export', '--session', 'work'], { env })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

function filesWith(s: Scratch, text: string): string[] {
  return readdirSync(s.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
}

/** The environment may hold keys in any of these; no output ever shows one. */
function shown({ stdout, stderr }: Ended): string {
  const all = stdout + stderr
  for (const key of [OLD, NEW]) expect(all).not.toContain(key)
  return all
}

test('the key comes from the environment or a file, and commands without state need no key', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const file = join(s.folder, 'key')
  writeFileSync(file, `${OLD}\n`, { mode: 0o600 })
  expect(save(s, { SAVESTATE_KEY_FILE: file }).code).toBe(0)
  expect(filesWith(s, MARKER)).toEqual([])
  expect(filesWith(s, OLD)).toEqual([])
  expect(exported(s, { SAVESTATE_KEY: OLD })).toMatchObject([{ data: { note: MARKER } }])
  for (const args of [
    ['list'],
    ['status'],
    ['sessions', '--json'],
    ['show', '1'],
    ['diff', '1'],
    ['rewind', '1', '--files', '-y'],
    ['verify'],
    ['prune', '--dry-run'],
  ])
    expect([args, s.run(args).code]).toEqual([args, 0])
  const missing = s.run(['export', '--session', 'work', '--json'])
  expect(missing.code).toBe(2)
  expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: 'KEY_MISSING' } })
  const wrong = s.run(['resume', 'work'], { env: { SAVESTATE_KEY: NEW } })
  expect(wrong.code).toBe(2)
  expect(shown(wrong)).toMatch(/encrypted with the key [0-9a-f]{16}, and the key given is/)
  expect(save(s).code).toBe(2)
  expect(save(s, { SAVESTATE_KEY: NEW }).code).toBe(2)
})

test('a key file that others may read, or that is in the store, is refused', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const file = join(s.folder, 'key')
  writeFileSync(file, OLD)
  const listed = (env: Readonly<Record<string, string>>) => s.run(['list'], { env })
  chmodSync(file, 0o640)
  expect(shown(listed({ SAVESTATE_KEY_FILE: file }))).toContain('Other users can read the key file')
  chmodSync(file, 0o600)
  expect(listed({ SAVESTATE_KEY_FILE: file }).code).toBe(0)
  const inside = join(s.home, 'key')
  mkdirSync(s.home, { recursive: true })
  writeFileSync(inside, OLD, { mode: 0o600 })
  expect(shown(listed({ SAVESTATE_KEY_FILE: inside }))).toContain(
    'is in the store that it encrypts',
  )
  expect(shown(listed({ SAVESTATE_KEY_FILE: s.folder }))).toContain('is not a file')
  expect(shown(listed({ SAVESTATE_KEY_FILE: join(s.folder, 'no') }))).toContain('cannot be read')
  const both = { SAVESTATE_KEY_FILE: file, SAVESTATE_KEY: OLD }
  expect(shown(listed(both))).toContain('Both SAVESTATE_KEY and SAVESTATE_KEY_FILE are set')
  expect(shown(listed({ SAVESTATE_KEY: OLD.slice(1) }))).toContain('SAVESTATE_KEY is not a key')
})

test('rekey shows its plan, asks, and applies it', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  expect(save(s).code).toBe(0)
  expect(s.run(['rekey', '-y'])).toMatchObject({ code: 2 })
  const env = { SAVESTATE_NEW_KEY: OLD }
  const plan = s.run(['rekey', '--dry-run'], { env })
  expect(shown(plan)).toMatch(/^Encrypt \d+ rows of the ledger with the key [0-9a-f]{16}:\n/)
  expect(plan.stdout).toContain('elements: 300')
  expect(s.run(['rekey', '--json'], { env }).stderr).toContain('CONFIRMATION_NEEDED')
  expect(filesWith(s, MARKER)).not.toEqual([])
  expect(shown(s.run(['rekey', '-y'], { env }))).toMatch(/^The store is encrypted with the key/)
  expect(filesWith(s, MARKER)).toEqual([])
  const again = s.run(['rekey', '-y', '--json'], { env })
  expect(JSON.parse(again.stdout)).toMatchObject({ applied: false, plan: { isNeeded: false } })
  const back = s.run(['rekey', '--plain', '-y'], { env: { SAVESTATE_KEY: OLD } })
  expect(back.stdout).toMatch(/^The store is not encrypted: \d+ rows rewritten\./)
  expect(exported(s, {})).toMatchObject([{ data: { note: MARKER } }])
})

test.each(Object.keys(REKEY_POINTS))(
  'a change of the key that is killed at %s has happened or not, and can be run again',
  (point) => {
    using s = scratch({ 'a.txt': 'one\n' })
    expect(save(s).code).toBe(0)
    const isDone = point === 'rekey:replaced'
    const killed = (env: Readonly<Record<string, string>>) => {
      const failpoint = { SAVESTATE_FAILPOINT: point }
      expect(s.run(['rekey', '-y'], { env: { ...env, ...failpoint } }).code).toBe(null)
    }
    const leftovers = () => readdirSync(s.home).filter((name) => name.includes('rekeyed'))
    // From none to the first.
    const first = { SAVESTATE_KEY: OLD }
    killed(first)
    expect(leftovers().length > 0).toBe(point === 'rekey:copied')
    expect(exported(s, isDone ? first : {})).toMatchObject([{ data: JSON.parse(STATE) }])
    expect(leftovers()).toEqual([])
    expect(filesWith(s, MARKER).length === 0).toBe(isDone)
    expect(s.run(['rekey', '-y'], { env: first }).code).toBe(0)
    expect(filesWith(s, MARKER)).toEqual([])
    expect(save(s).stderr).toContain('no key was given')
    expect(save(s, first).code).toBe(0)
    // From the first to another.
    const both = { SAVESTATE_KEY: OLD, SAVESTATE_NEW_KEY: NEW }
    killed(both)
    const second = { SAVESTATE_KEY: NEW }
    expect(exported(s, isDone ? second : first)).toHaveLength(2)
    expect(s.run(['rekey', '-y'], { env: both }).code).toBe(0)
    expect(save(s, first).stderr).toContain('and the key given is')
    expect(exported(s, second)).toMatchObject([{ data: JSON.parse(STATE) }, {}])
    const { stdout } = s.run(['resume', 'work', '--json'], { env: second })
    expect(JSON.parse(stdout)).toMatchObject({ state: JSON.parse(STATE) })
    expect(s.run(['verify']).code).toBe(0)
  },
)
