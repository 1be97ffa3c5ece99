// Which checkpoints become one commit. Work that was taken back by a rewind is left out: the history follows the folder.
import { isRecord } from '../../base/index.js'
import type { FilesCheckpoint, ObjectId } from '../../model/index.js'
import type { CheckpointRange } from './range.js'

export type Per = 'prompt' | 'step' | 'all'

/** One commit: its checkpoints, oldest first. */
export type StepGroup = readonly [FilesCheckpoint, ...FilesCheckpoint[]]

type Node = { readonly step: FilesCheckpoint; readonly parent: Node | undefined }

const GOES_BACK: readonly string[] = ['rewind', 'undo', 'redo']

export function groupSteps(range: CheckpointRange, per: Per): readonly StepGroup[] {
  const groups: [FilesCheckpoint, ...FilesCheckpoint[]][] = []
  let last: string | undefined
  for (const step of lineOf(range)) {
    const key = keyOf(step, per)
    const group = groups.at(-1)
    if (group !== undefined && key === last) group.push(step)
    else groups.push([step])
    last = key
  }
  return groups
}

/** The steps that lead to the last one. A rewind to a folder that was seen before continues from there. */
function lineOf({ from, steps }: CheckpointRange): readonly FilesCheckpoint[] {
  const root: Node | undefined = from === undefined ? undefined : { step: from, parent: undefined }
  const nodeOf = new Map<ObjectId, Node>()
  let node = root
  if (root !== undefined) nodeOf.set(root.step.snapshot.tree, root)
  for (const step of steps) {
    const { tree } = step.snapshot
    if (node?.step.snapshot.tree === tree) continue
    const known = GOES_BACK.includes(step.kind) ? nodeOf.get(tree) : undefined
    node = known ?? { step, parent: node }
    nodeOf.set(tree, node)
  }
  const line: FilesCheckpoint[] = []
  for (; node !== undefined && node !== root; node = node.parent) line.push(node.step)
  return line.reverse()
}

function keyOf(step: FilesCheckpoint, per: Per): string {
  if (per === 'all') return 'all'
  const { session, id } = step
  if (per === 'step' || session === null || isPromptRow(step)) return id
  return `${session.key} ${session.turn}`
}

/** The folder before a prompt: its changes are the user's own. */
export function isPromptRow({ session }: FilesCheckpoint): boolean {
  return isRecord(session?.metadata) && session.metadata['at'] === 'turn-start'
}

/** Null also if it is encrypted with a key that was not given. */
export function promptOf({ session }: FilesCheckpoint): string | null {
  const prompt = isRecord(session?.metadata) ? session.metadata['prompt'] : undefined
  return typeof prompt === 'string' && prompt.trim() !== '' ? prompt : null
}
