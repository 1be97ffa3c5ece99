import { spawn } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import {
  isOwnIdentity,
  isSurelyDead,
  ownIdentity,
} from '../../../src/system/locks/process-identity.js'

test('this process is not dead', () => {
  expect(isSurelyDead(ownIdentity())).toBe(false)
})

test('a killed process is surely dead, and a living one is not', async () => {
  const child = spawn(process.execPath, [
    '-e',
    `process.stdout.write('up'); setInterval(() => {}, 1000)`,
  ])
  await once(child.stdout, 'data')
  const identity = { ...ownIdentity(), pid: child.pid ?? 0, startedAt: startOf(child.pid ?? 0) }
  expect(isSurelyDead(identity)).toBe(false)
  // Another process that had the same id before.
  expect(isSurelyDead({ ...identity, startedAt: '1' })).toBe(true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isSurelyDead(identity)).toBe(true)
})

test('a process from before the last boot is surely dead', () => {
  expect(isSurelyDead({ ...ownIdentity(), boot: 'another' })).toBe(true)
})

test('nothing is known about a process on another host', () => {
  const elsewhere = { ...ownIdentity(), host: 'elsewhere', pid: 999_999_999, boot: 'another' }
  expect(isSurelyDead(elsewhere)).toBe(false)
})

describe('in another PID namespace', () => {
  const own = ownIdentity()
  const elsewhere = { ...own, namespace: '1' }

  test('the own identity has a namespace if the system supports it', () => {
    const link = process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : undefined
    expect(own.namespace).toBe(link?.replace(/[^0-9]/g, ''))
  })

  test.each([
    ['a process that is not here', { pid: 999_999_999 }],
    ['one that has our id', {}],
    ['one whose id is that of another here', { startedAt: '1' }],
  ])('%s may be alive', (_, differs) => {
    expect(isSurelyDead({ ...elsewhere, ...differs })).toBe(false)
    // Written by an older program, without a namespace.
    const { namespace: _none, ...old } = { ...own, ...differs }
    expect(isSurelyDead(old)).toBe(Object.keys(differs).length > 0)
  })

  test('a process from before the last boot is dead there too', () => {
    expect(isSurelyDead({ ...elsewhere, boot: 'another' })).toBe(true)
  })

  test('no process there is this process', () => {
    const { namespace: _none, ...old } = own
    expect([own, old, elsewhere].map(isOwnIdentity)).toEqual([true, true, false])
    expect(isOwnIdentity({ ...own, pid: own.pid + 1 })).toBe(false)
  })
})

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
