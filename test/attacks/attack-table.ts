// Runs tables of attacks. Each row has a sentence, the attack, and the required outcome.
// Nothing outside the project may change. Every program that an attacker plants writes there.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Project, SavestateError, type Store } from '../../src/index.js'
import { PlanClock } from '../support/after-plan.js'
import { hashTree, type Scratch, scratch, sdk } from '../support/scratch.js'

export type Attack<World> = readonly [
  attack: string,
  act: (world: World) => unknown,
  expected: unknown,
]

/** A project with one checkpoint, in which `a.txt` and `dir/b.txt` are `one`; both are `two` now. */
export type Target = Scratch & {
  readonly store: Store
  readonly project: Project
  /** The id of the checkpoint. */
  readonly first: string
  /** A folder beside the project. It contains `precious` and `b.txt`. */
  readonly outside: string
  /** A program that leaves a file in `outside` when it runs. */
  readonly trap: string
  readonly clock: PlanClock
}

export async function openTarget(): Promise<Target> {
  const s = await scratch({ files: { 'a.txt': 'one', 'dir/b.txt': 'one' } })
  const outside = plantOutside(s.folder)
  const clock = new PlanClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const { id } = await project.save()
  s.write({ 'a.txt': 'two', 'dir/b.txt': 'two' })
  return Object.assign(s, { store, project, first: id, outside, trap: trapIn(s.folder), clock })
}

/** Makes the folder that no attack may change. */
export function plantOutside(folder: string): string {
  const outside = join(folder, 'outside')
  mkdirSync(outside)
  for (const name of ['precious', 'b.txt']) writeFileSync(join(outside, name), 'of someone else')
  return outside
}

function trapIn(folder: string): string {
  const program = join(folder, 'trap.sh')
  writeFileSync(program, `#!/bin/sh\ntouch '${join(folder, 'outside')}'/ran\ncat\n`)
  chmodSync(program, 0o755)
  return program
}

/** One test per row, each with its own target. */
export function testAttacks(rows: readonly Attack<Target>[]): void {
  test.each(rows)('%s', async (_attack, act, expected) => {
    await using target = await openTarget()
    const before = hashTree(target.outside)
    expect(await act(target)).toEqual(expected)
    expect(hashTree(target.outside)).toEqual(before)
  })
}

/** The code of the error, or `done`. Any error other than a SavestateError fails the row. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'done'
  } catch (error) {
    // The store is of dist, the readers of other tools are of src.
    if (error instanceof sdk.SavestateError || error instanceof SavestateError) return error.code
    throw error
  }
}
