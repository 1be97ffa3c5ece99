import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { isSurelyDead, ownIdentity } from './process-identity.js'

test('this process is not dead', () => {
  expect(isSurelyDead(ownIdentity())).toBe(false)
})

test('a process that was killed is surely dead, and one that lives is not', async () => {
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

test('a process before the last start of the machine is surely dead', () => {
  expect(isSurelyDead({ ...ownIdentity(), boot: 'another' })).toBe(true)
})

test('of a process on another host nothing is known', () => {
  const elsewhere = { ...ownIdentity(), host: 'elsewhere', pid: 999_999_999, boot: 'another' }
  expect(isSurelyDead(elsewhere)).toBe(false)
})

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
