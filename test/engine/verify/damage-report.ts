// Lists what is wrong with a store after damage and repair; the tests expect an empty list.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { damage, type DamageKind, type DamageStore, type Known, objectsIn } from './damage-store.js'
import { GIT_ENVIRONMENT, sdk, snapshotOf } from '../../support/scratch.js'

type Project = Awaited<ReturnType<Awaited<ReturnType<typeof sdk.openStore>>['project']>>

export type Thoroughness = { readonly isThorough: boolean }

/** Damages one file, repairs, and checks everything. */
export async function complaintsAfter(
  made: DamageStore,
  { file, how }: { readonly file: string; readonly how: DamageKind },
  thoroughness: Thoroughness,
): Promise<string[]> {
  const home = made.copy()
  const atRisk = objectsIn(home, file)
  damage(join(home, file), how)
  const { left, complaints } = await repairTwice(home)
  const lost = missingIn(home, atRisk)
  // A pack with one flipped bit has lost exactly one object.
  if (file.endsWith('.pack') && how === 'flipped' && lost.length > 1)
    complaints.push(`${lost.length} objects lost by one bit`)
  const depend = made.checkpoints.filter(({ objects }) => lost.some((id) => objects.has(id)))
  const broken = new Set(
    left.filter(({ kind }) => kind !== 'state').map(({ checkpoint }) => checkpoint),
  )
  if (!isDeepStrictEqual(broken, new Set(depend.map(({ id }) => id))))
    complaints.push(
      `told as damaged: ${[...broken].join()}; damaged: ${depend.map(({ id }) => id).join()}`,
    )
  complaints.push(...(await fileComplaints(made, { home, broken }, thoroughness)))
  const states = await stateComplaints(made, {
    home,
    told: new Set(left.map(({ checkpoint }) => checkpoint)),
  })
  complaints.push(...states.complaints)
  if (!file.startsWith('ledger') && states.read !== made.states.size)
    complaints.push(`${states.read} of ${made.states.size} states can be read`)
  return complaints.map((complaint) => `${file} ${how}: ${complaint}`)
}

export async function repairTwice(home: string) {
  const first = await sdk.repairStore({ home, inProcess: true })
  const second = await sdk.repairStore({ home, inProcess: true })
  const complaints = second.steps.map(({ action }) => `a second repair had to ${action}`)
  if (!isDeepStrictEqual(first.problems, second.problems))
    complaints.push('a second repair found something else')
  return { left: second.problems.filter(({ severity }) => severity === 'damage'), complaints }
}

function missingIn(home: string, ids: readonly string[]): string[] {
  const args = [`--git-dir=${join(home, 'objects.git')}`, 'cat-file', '--batch-check']
  const input = ids.map((id) => `${id}\n`).join('')
  return execFileSync('git', args, { input, env: GIT_ENVIRONMENT })
    .toString()
    .split('\n')
    .filter((line) => line.endsWith(' missing'))
    .map((line) => line.slice(0, 40))
}

/** All checkpoints are listed; intact ones diff and rewind exactly, damaged ones are refused. */
export async function fileComplaints(
  made: DamageStore,
  { home, broken }: { readonly home: string; readonly broken: ReadonlySet<string | null> },
  { isThorough }: Thoroughness,
): Promise<string[]> {
  const store = await sdk.openStore({ home, durability: 'process', inProcess: true })
  const complaints: string[] = []
  try {
    for (const path of new Set(made.checkpoints.map(({ project }) => project))) {
      const project = await store.project(path)
      const listed = new Set((await project.list()).map(({ id }) => id))
      const own = made.checkpoints.filter((known) => known.project === path)
      complaints.push(
        ...own.filter(({ id }) => !listed.has(id)).map(({ id }) => `${id} is not listed`),
      )
      for (const { id } of own.filter((known) => broken.has(known.id)))
        complaints.push(...(await refusalComplaints(project, id)))
      const whole = own.filter(({ id }) => !broken.has(id))
      for (const known of isThorough ? whole : whole.slice(0, 2))
        complaints.push(...(await rewindComplaints(project, known)))
      const [first, ...others] = whole
      for (const { id } of others) {
        const { files } = await project.diff(first?.id ?? '', { to: id })
        if (files === 0) complaints.push(`${id} is said not to differ`)
      }
    }
    return complaints
  } finally {
    await store.close()
  }
}

async function refusalComplaints(project: Project, id: string): Promise<string[]> {
  const codes = await Promise.all(
    [project.rewind(id), project.diff(id)].map((work) =>
      work.then(
        () => 'done',
        (error: unknown) => (error instanceof sdk.SavestateError ? error.code : String(error)),
      ),
    ),
  )
  return codes
    .filter((code) => code !== 'CHECKPOINT_DAMAGED')
    .map((code) => `${id} is damaged, and got ${code}`)
}

async function rewindComplaints(project: Project, known: Known): Promise<string[]> {
  await project.rewind(known.id)
  return isDeepStrictEqual(snapshotOf(known.project), known.content)
    ? []
    : [`${known.id} came back different`]
}

/** Every state is correct or reported as damaged. A session may be lost with the ledger, but no state may be wrong. */
export async function stateComplaints(
  made: DamageStore,
  { home, told }: { readonly home: string; readonly told: ReadonlySet<string | null> },
): Promise<{ readonly complaints: string[]; readonly read: number }> {
  const store = await sdk.openStore({ home, durability: 'process', inProcess: true })
  const complaints: string[] = []
  let read = 0
  try {
    for (const { id } of await store.sessions()) {
      const session = await store.session(id, { create: false })
      for (const checkpoint of await session.list()) {
        if (!checkpoint.hasState) continue
        const state = await session.stateAt(checkpoint.id).catch((error: unknown) => {
          const isRefused =
            error instanceof sdk.SavestateError && error.code === 'CHECKPOINT_DAMAGED'
          if (!isRefused || !told.has(checkpoint.id))
            complaints.push(`${checkpoint.id}: ${String(error)}`)
          return undefined
        })
        if (state === undefined) continue
        read += 1
        if (!isDeepStrictEqual(state, made.states.get(checkpoint.id)))
          complaints.push(`${checkpoint.id} has another state`)
      }
      await session.close()
    }
    return { complaints, read }
  } finally {
    await store.close()
  }
}
