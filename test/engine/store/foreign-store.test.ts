// A store that belongs to another user, or that others can write to, is refused before anything in it is read: another user
// could have created it to read saved data, or to answer instead of the daemon.
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch as Program, scratch as program } from '../../cli/program.js'
import { type Scratch, scratch, sdk } from '../../support/scratch.js'

const isRoot = process.geteuid?.() === 0
const STRANGER = 12_345
const FOREIGN = { code: 'STORE_FOREIGN' }

/** A folder or file that another user owns. */
function ofStranger(s: Scratch, kind: 'folder' | 'file'): string {
  if (!isRoot) return kind === 'folder' ? '/etc' : '/etc/passwd'
  const path = join(s.folder, `of-stranger-${kind}`)
  if (kind === 'folder') mkdirSync(path)
  else writeFileSync(path, '{}')
  chownSync(path, STRANGER, STRANGER)
  return path
}

test('a folder of another user is refused as store, empty or not, and is not changed', async () => {
  await using s = await scratch()
  const home = ofStranger(s, 'folder')
  const { mode } = statSync(home)
  const refused = sdk.openStore({ home })
  await expect(refused).rejects.toMatchObject({
    ...FOREIGN,
    message: `The store ${home} belongs to user ${isRoot ? STRANGER : 0}, and you are user ${process.geteuid?.()}`,
    hint: expect.stringContaining('sudo -H'),
  })
  for (const call of [sdk.verifyStore, sdk.repairStore])
    await expect(call({ home })).rejects.toMatchObject(FOREIGN)
  expect(statSync(home).mode).toBe(mode)
})

test.each([
  ['ledger.db', 'file'],
  ['ledger.db-wal', 'file'],
  ['objects.git', 'folder'],
  ['daemon', 'folder'],
  ['config.json', 'file'],
] as const)('a store of which %s belongs to another user is refused', async (name, kind) => {
  await using s = await scratch()
  await (await s.open()).close()
  const path = join(s.home, name)
  if (readdirSync(s.home).includes(name)) renameSync(path, `${path}-away`)
  symlinkSync(ofStranger(s, kind), path)
  await expect(s.open()).rejects.toMatchObject({
    ...FOREIGN,
    message: expect.stringContaining(`${path} belongs to user`),
  })
  s.allowDamage()
})

test('a store that others can write to is refused until their access is removed', async () => {
  await using s = await scratch()
  await (await s.open()).close()
  chmodSync(s.home, 0o770)
  await expect(s.open()).rejects.toMatchObject({
    ...FOREIGN,
    message: `Other users can write to the store ${s.home} (mode 770)`,
    hint: expect.stringContaining('chmod 700'),
  })
  // A verify reports it, and a repair closes the store.
  const { problems } = await sdk.verifyStore({ home: s.home })
  expect(problems).toMatchObject([
    { kind: 'permissions', message: 'other users can enter the store' },
  ])
  await sdk.repairStore({ home: s.home })
  expect(statSync(s.home).mode & 0o777).toBe(0o700)
  await (await s.open()).close()
})

test('opening a store removes the read access of others', async () => {
  await using s = await scratch()
  await (await s.open()).close()
  chmodSync(s.home, 0o755)
  await (await s.open()).close()
  expect(statSync(s.home).mode & 0o777).toBe(0o700)
})

test('verify accepts the mode of a settings file that the user created', async () => {
  await using s = await scratch()
  await (await s.open()).close()
  const config = join(s.home, 'config.json')
  writeFileSync(config, '{"maxCheckpoints":100}')
  for (const mode of [0o644, 0o664]) {
    chmodSync(config, mode)
    await (await s.open()).close()
    expect((await sdk.verifyStore({ home: s.home })).problems).toEqual([])
    expect((await sdk.doctorStore({ home: s.home, version: '0' })).problems).toEqual([])
  }
})

/** Answers every client, as a daemon of another user would. */
async function fakeDaemon(s: Program): Promise<AsyncDisposable & { readonly count: () => number }> {
  const socket = join(s.home, 'daemon', 'socket')
  let count = 0
  const server = createServer((connection) => {
    count += 1
    connection.on('error', () => undefined)
    connection.end('{"out":"Saved"}\n{"exit":0}\n')
  })
  server.listen(socket)
  await once(server, 'listening')
  const address = { build: '', version: '0', pid: process.pid, startedAt: '', socket, port: null }
  writeFileSync(join(s.home, 'daemon', 'address.json'), JSON.stringify(address))
  return {
    count: () => count,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

test('no client connects to a daemon in a store that others can write to', async () => {
  using s = program({ a: '1' }, { daemon: true })
  mkdirSync(join(s.home, 'daemon'), { recursive: true, mode: 0o700 })
  writeFileSync(join(s.home, 'format'), 'savestate 1\n', { mode: 0o600 })
  chmodSync(s.home, 0o777)
  await using daemon = await fakeDaemon(s)
  for (const args of [['save'], ['list'], ['status']]) {
    const { code, stderr } = await s.start(['--json', ...args]).ended
    expect([args, code, /"code": "(\w+)"/.exec(stderr)?.[1]]).toEqual([args, 2, 'STORE_FOREIGN'])
  }
  const input = JSON.stringify({ session_id: 's', cwd: s.project, hook_event_name: 'SessionStart' })
  const hook = await s.start(['hook', 'claude', 'SessionStart'], { input }).ended
  expect(hook).toMatchObject({ code: 0, stdout: expect.stringContaining('Other users can write') })
  expect(s.run(['daemon', 'status']).stdout).toContain('not running')
  expect(daemon.count()).toBe(0)
})

test.each([
  ['~/.savestate', 'only a shell replaces "~"'],
  ['~', 'only a shell replaces "~"'],
  ['stores/mine', 'is a relative path'],
  ['', 'The path of the store is empty'],
])('SAVESTATE_HOME=%j is refused, and nothing is made', (value, message) => {
  using s = program({ a: '1' })
  const { code, stderr } = s.run(['--json', 'save'], { env: { SAVESTATE_HOME: value } })
  expect([code, JSON.parse(stderr)]).toEqual([
    2,
    {
      error: {
        code: 'STORE_UNUSABLE',
        message: expect.stringContaining(message),
        hint: expect.stringContaining('SAVESTATE_HOME'),
      },
    },
  ])
  expect(readdirSync(s.project)).toEqual(['a'])
})

test('an empty HOME is refused, and nothing is created', () => {
  using s = program({ a: '1' })
  const { code, stderr } = s.shell('unset SAVESTATE_HOME; HOME= savestate --json save')
  expect([code, JSON.parse(stderr)]).toMatchObject([
    2,
    { error: { code: 'STORE_UNUSABLE', hint: expect.stringContaining('HOME') } },
  ])
  expect(readdirSync(s.project)).toEqual(['a'])
})

test('a home that begins with a literal tilde is refused by the SDK', async () => {
  for (const home of ['~', '~/.savestate'])
    await expect(sdk.openStore({ home })).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringContaining('only a shell replaces "~"'),
    })
})
