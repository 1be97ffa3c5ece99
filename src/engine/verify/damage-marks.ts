// Marks on checkpoints that cannot be read completely. They are still listed; operations that need the missing part fail with
// CHECKPOINT_DAMAGED.
import {
  type BytePath,
  type Checkpoint,
  type CheckpointId,
  isInside,
  pathText,
  SavestateError,
} from '../../model/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { MissingObjects } from '../../snapshot/index.js'

export type Damage = {
  /** The first MAX_PATHS missing files. */
  readonly paths: readonly BytePath[]
  readonly fileCount: number
  /** Folders or modes are missing, so the checkpoint cannot be compared. */
  readonly isUnknown: boolean
  /** Describes what is wrong with the state; null if it is intact or there is none. */
  readonly state: string | null
  /** The row of the state is lost, so later checks cannot find it missing. */
  readonly isStateLost: boolean
}

const MAX_PATHS = 100

export function damageOf(
  lacks: MissingObjects | undefined,
  state: string | undefined,
): Damage | undefined {
  if (lacks === undefined && state === undefined) return undefined
  const files = (lacks?.lacks ?? []).filter(({ type }) => type === 'file')
  return {
    paths: files.slice(0, MAX_PATHS).map(({ path }) => path),
    fileCount: lacks?.count ?? 0,
    isUnknown: (lacks?.lacks ?? []).some(({ type }) => type !== 'file'),
    state: state ?? null,
    isStateLost: false,
  }
}

export function readDamage(ledger: Ledger, id: CheckpointId): Damage | undefined {
  const text = ledger.marks.damageOf(id)
  return text === undefined ? undefined : parseDamage(text)
}

export function parseDamage(text: string): Damage {
  return JSON.parse(text) as Damage
}

/** Throws CHECKPOINT_DAMAGED if any of these files, by default all, is missing. */
export function refuseDamagedFiles(
  ledger: Ledger,
  { id }: Checkpoint,
  paths?: readonly BytePath[],
): void {
  const damage = readDamage(ledger, id)
  if (damage === undefined || damage.fileCount === 0) return
  const isListed = !damage.isUnknown && damage.paths.length === damage.fileCount
  const isWanted = (path: BytePath) =>
    paths === undefined || paths.length === 0 || paths.some((limit) => isInside(path, limit))
  const missing = damage.paths.filter(isWanted)
  if (isListed && missing.length === 0) return
  throw new SavestateError(
    'CHECKPOINT_DAMAGED',
    `Checkpoint ${id} cannot be restored completely: ${describeLacks(damage, missing)}`,
    {
      hint: damage.isUnknown
        ? 'Go back to another checkpoint. Saving a folder that still has the same content brings it back.'
        : 'Restore the other files with --path. Saving a folder that still has the same content brings it back.',
    },
  )
}

export function refuseDamagedState(ledger: Ledger, { id }: Checkpoint): void {
  const damage = readDamage(ledger, id)
  if (damage === undefined || damage.state === null) return
  throw new SavestateError(
    'CHECKPOINT_DAMAGED',
    `The state of checkpoint ${id} is lost: ${damage.state}`,
    { hint: 'Go back to another checkpoint.' },
  )
}

function describeLacks({ fileCount, isUnknown }: Damage, missing: readonly BytePath[]): string {
  const names = missing.slice(0, 3).map(pathText).join(', ')
  if (isUnknown) return 'the store has lost the contents of its folders'
  return fileCount <= 3 ? `the store has lost ${names}` : `the store has lost ${names} and others`
}
