// Searches checkpoints for words in their names, reasons and prompts, and in the paths that they changed.
import * as z from 'zod/mini'
import {
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  pathText,
  type Project,
} from '../../model/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export type SearchMatch = CheckpointView & {
  /** The user's prompt, if it is known. */
  readonly prompt: string | null
  /** The changed paths that contain one of the words; empty if all words were found in the texts. */
  readonly paths: readonly string[]
}

export type SearchResult = {
  /** Newest first. */
  readonly matches: readonly SearchMatch[]
  /** How many checkpoints were searched, from the newest on. */
  readonly searched: number
  /** False: there are older ones, or more that match. */
  readonly isComplete: boolean
}

const MAX_SEARCHED = 1000
const MAX_PATHS = 20

export const search = projectOperation({
  name: 'search',
  summary: 'Find checkpoints by words',
  effect: 'reads',
  input: () =>
    z.strictObject({
      words: z.string().check(z.trim(), z.minLength(1), z.maxLength(1000)),
      limit: z._default(z.int().check(z.positive()), 20),
    }),
  async run(context, { words, limit }, callbacks): Promise<SearchResult> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    if (project === undefined) return { matches: [], searched: 0, isComplete: true }
    const wanted = [...new Set(words.toLowerCase().split(/\s+/))]
    // A prune must not remove objects while they are compared.
    return context.objects.shared(() =>
      searchProject(context, project, { wanted, limit, callbacks }),
    )
  },
})

async function searchProject(
  context: ProjectContext,
  project: Project,
  {
    wanted,
    limit,
    callbacks,
  }: { readonly wanted: readonly string[]; readonly limit: number; readonly callbacks: Callbacks },
): Promise<SearchResult> {
  const { ledger } = context
  // One more than we search, to know whether there are older ones.
  const found = ledger.checkpoints.list({ project: project.id, limit: MAX_SEARCHED + 1 })
  const damaged = ledger.marks.damaged()
  const matches: SearchMatch[] = []
  let searched = 0
  for (const checkpoint of found.slice(0, MAX_SEARCHED)) {
    callbacks.signal?.throwIfAborted()
    if (matches.length === limit) break
    searched += 1
    const prompt = readPrompt(checkpoint)
    const texts = [checkpoint.name, checkpoint.reason, prompt].map((text) => lower(text))
    const missing = wanted.filter((word) => !texts.some((text) => text.includes(word)))
    const isDamaged = damaged.has(checkpoint.id)
    const paths =
      missing.length === 0 || isDamaged || !hasFiles(checkpoint)
        ? []
        : await findPaths(wanted, context, checkpoint)
    if (!missing.every((word) => paths.some((path) => lower(path).includes(word)))) continue
    const view = viewCheckpoint(checkpoint)
    const shown = paths.slice(0, MAX_PATHS)
    matches.push({ ...view, ...(isDamaged ? { damaged: true } : {}), prompt, paths: shown })
  }
  return { matches, searched, isComplete: searched === found.length }
}

async function findPaths(
  words: readonly string[],
  { ledger, snapshots }: ProjectContext,
  checkpoint: FilesCheckpoint,
): Promise<string[]> {
  const before = ledger.checkpoints.filesBefore(checkpoint)
  // A damaged snapshot cannot be compared.
  if (before !== undefined && ledger.marks.damageOf(before.id) !== undefined) return []
  const tree = checkpoint.snapshot.tree
  const changes = await snapshots.compare(before?.snapshot.tree, tree, { countLines: false })
  return changes
    .map(({ path }) => pathText(path))
    .filter((path) => words.some((word) => lower(path).includes(word)))
}

/** The hooks of agents store the prompt in the metadata. */
function readPrompt({ session }: Checkpoint): string | null {
  const metadata = session?.metadata
  const isNoted = typeof metadata === 'object' && metadata !== null && 'prompt' in metadata
  return isNoted && typeof metadata.prompt === 'string' ? metadata.prompt : null
}

function lower(text: string | null): string {
  return text?.toLowerCase() ?? ''
}
