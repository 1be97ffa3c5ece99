// The program as agents and other programs meet it, with the work of a user. No attack may change any of that work.
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Ended } from '../cli/program.js'
import { type DaemonScratch, daemonScratch } from '../daemon/daemon-helpers.js'
import { hashTree, sdk, snapshotOf } from '../support/scratch.js'
import { type Attack, plantOutside } from './attack-table.js'

export const AGENT = { env: { CLAUDECODE: '1' } }
/** It clears the screen, and hides a tag and a soft hyphen that only a model reads. */
export const ACTING = 'evil\u001b[2J\u009b31m\u202e\u{e0041}\u00ad'

export type ProgramTarget = DaemonScratch & {
  /** A folder beside the project. */
  readonly outside: string
  /** The exit code and the error code of a command. */
  refusal(args: readonly string[], setting?: Parameters<DaemonScratch['run']>[1]): unknown
}

/**
 * One target for all rows of a file: a refused command changes nothing, and `testUnchanged`, called last, proves it.
 * `prepare` does what only this file needs.
 */
export function useProgram(prepare: (target: ProgramTarget) => void = () => undefined): {
  readonly testRows: (rows: readonly Attack<ProgramTarget>[]) => void
  readonly testUnchanged: () => void
} {
  let target: ProgramTarget
  let before: unknown
  beforeAll(async () => {
    const s = daemonScratch({ 'a.txt': 'one\n', 'package.json': '{}' })
    const refusal: ProgramTarget['refusal'] = (args, setting) =>
      refusalOf(s.run(['--json', ...args], setting))
    target = { ...s, outside: plantOutside(s.folder), refusal }
    await work(target)
    prepare(target)
    before = await workOf(target)
  })
  afterAll(() => target[Symbol.dispose]())
  return {
    testRows(rows) {
      test.each(rows)('%s', async (_attack, act, expected) => {
        expect(await act(target)).toEqual(expected)
      })
    },
    testUnchanged() {
      test('none of these attacks changed the project, its history, the settings or anything outside', async () => {
        expect(await workOf(target)).toEqual(before)
      })
    },
  }
}

/** A pinned checkpoint called `works`, one whose name and reason are hostile, and changes since. */
async function work(target: ProgramTarget): Promise<void> {
  const { home, project: folder, outside } = target
  const store = await sdk.openStore({ home, inProcess: true })
  const project = await store.project(folder)
  const { id } = await project.save({ name: 'works' })
  await project.pin(id)
  target.write({ 'a.txt': 'two\n' })
  await project.save({ name: 'works$(touch ../outside/ran)', reason: ACTING })
  await store.close()
  writeFileSync(join(home, 'config.json'), '{}', { mode: 0o600 })
  target.write({ 'a.txt': 'three\n', [`${ACTING}.txt`]: '' })
  symlinkSync(outside, join(folder, '.claude'))
  symlinkSync(home, join(folder, 'link'))
}

async function workOf({ home, project, outside }: ProgramTarget): Promise<unknown> {
  const store = await sdk.openStore({ home, inProcess: true })
  const checkpoints = await (await store.project(project)).list()
  await store.close()
  return [
    hashTree(outside),
    snapshotOf(project),
    checkpoints,
    snapshotOf(join(home, 'config.json')),
  ]
}

function refusalOf({ code, stderr }: Ended): unknown {
  return [code, /"code": "(\w+)"/.exec(stderr)?.[1]]
}
