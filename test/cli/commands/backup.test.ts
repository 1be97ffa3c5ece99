// A remote as a backup of plain saves: what the commands say, and a pull that is killed.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { type Machine, machine } from '../../support/sharing/two-machines.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.dispose())

function saves(own: Machine, ...texts: readonly string[]): void {
  for (const text of texts) {
    own.write({ 'f.txt': `${text}\n` })
    own.ok('save', '-m', text)
  }
}

const messages = (own: Machine, folder: string) => {
  const { checkpoints } = JSON.parse(own.ok('-C', folder, 'list', '--json')) as {
    checkpoints: readonly { reason: string }[]
  }
  return checkpoints.map(({ reason }) => reason)
}

test('push and status name the checkpoints, and a killed pull is finished by the next one', () => {
  using a = machine(database.url)
  using b = machine(database.url)
  expect(a.run(['push', '--remote', 'team']).stderr).toContain('savestate remote init')
  a.ok('remote', 'init')
  expect(a.ok('push')).toContain('this project has no checkpoints')
  saves(a, 'one', 'two')
  expect(a.ok('push')).toMatch(/^2 checkpoints of this project sent to team \([^)]+\)\.\n$/)
  expect(a.ok('status')).toContain('has all of the checkpoints of 1 project')
  a.saveStep('task', 'words')
  saves(a, 'three')
  expect(a.ok('status')).toContain(
    'lacks steps of 1 of 1 session and other checkpoints of 1 of 1 project',
  )
  expect(a.ok('push', '--all')).toContain('1 checkpoint of 1 project sent to team')
  expect(a.ok('verify', '--remote')).toContain('the other checkpoints of 1 project')
  for (const point of ['share:applied', 'share:fetched', 'share:recorded@2']) {
    const env = { SAVESTATE_FAILPOINT: point }
    expect(b.run(['pull', '--all'], { env }).code).toBe(null)
    expect(b.run(['verify']).code).toBe(0)
  }
  b.ok('pull', '--all')
  const folder = join(`${b.home}-pulled`, 'project')
  mkdirSync(folder)
  expect(messages(b, folder)).toEqual(messages(a, a.project))
  expect(b.run(['verify']).code).toBe(0)
})
