// A local disk that is full during a pull or a push: the error says so, and with free space the same command finishes.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROGRAM } from '../../cli/program.js'
import { gitPlace, machine, postgresPlace } from '../../support/sharing/two-machines.js'
import { smallDisk } from '../../support/small-disk.js'

describe.each([postgresPlace(), gitPlace()])('through $kind', (place) => {
  test('a pull and a push on a full disk report it, lose nothing, and succeed later', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    a.ok('remote', 'init')
    const big = randomBytes(1_500_000)
    writeFileSync(join(a.project, 'big.bin'), big)
    a.saveStep('fix', 'one')
    a.ok('handoff')

    using b = machine(url)
    using disk = await smallDisk(join(b.folder, 'disk'), 24)
    process.stderr.write(`The disk is full by: ${disk.kind}\n`)
    const env = { ...b.environment, SAVESTATE_HOME: join(disk.path, 'store') }
    const run = (args: readonly string[], freeBytes?: number) =>
      disk.run([PROGRAM, '-C', b.project, ...args, '--json'], {
        env,
        ...(freeBytes === undefined ? {} : { freeBytes }),
      })
    expect(run(['remote', 'add', 'team', url, '--plain'])).toMatchObject({ code: 0 })
    for (const freeBytes of [0, 400_000, 1_200_000]) {
      const { code, stderr } = run(['pull', 'fix'], freeBytes)
      expect([freeBytes, code, stderr]).toEqual([
        freeBytes,
        2,
        expect.stringContaining('DISK_FULL'),
      ])
    }
    expect(run(['pull', 'fix', '--into', '.', '-y'])).toMatchObject({ code: 0 })
    expect(readFileSync(join(b.project, 'big.bin')).equals(big)).toBe(true)
    expect(run(['verify'])).toMatchObject({ code: 0 })

    writeFileSync(join(b.project, 'big.bin'), randomBytes(1_500_000))
    const state = join(b.folder, 'state.json')
    writeFileSync(state, '{"messages":[]}')
    expect(run(['save', '--session', 'fix', '--state', state])).toMatchObject({ code: 0 })
    // Only SQLite and git write during a push, and an injected fault does not reach them: there the push succeeds.
    const full = [2, expect.stringContaining('DISK_FULL')]
    const { code, stderr } = run(['push'], 0)
    expect([code, stderr]).toEqual(disk.kind === 'tmpfs' ? full : [0, ''])
    expect(run(['push'])).toMatchObject({ code: 0 })
    expect(run(['verify'])).toMatchObject({ code: 0 })
    a.ok('pull', 'fix', '--into', '.', '-y')
    expect(readFileSync(join(a.project, 'big.bin'))).toEqual(
      readFileSync(join(b.project, 'big.bin')),
    )
  })
})
