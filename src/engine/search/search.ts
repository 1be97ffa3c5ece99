// Finds checkpoints by words: in prompts, answers, arguments of tool calls, reasons, names and changed paths, and with `content` in the
// contents of changed files. The index (project-index.ts) names the candidates, and this file reads their texts to be certain.
import * as z from 'zod/mini'
import type { IndexedCheckpoint, SearchIndex } from '../../ledger/index.js'
import {
  type BytePath,
  type Checkpoint,
  isInside,
  parseCheckpointId,
  parsePathText,
} from '../../model/index.js'
import { SnapshotFiles } from '../../snapshot/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { parseProjectPath } from '../operation/project-path.js'
import { type CheckpointView, viewCheckpoint } from '../checkpoints/views.js'
import { ContentReader } from './content-reader.js'
import { mayReadConversations, textsOf } from './checkpoint-texts.js'
import { withProjectIndex } from './project-index.js'
import { matchText, wordsOf } from './words.js'

export type SearchMatch = CheckpointView & {
  /** The user's prompt, if it is known. */
  readonly prompt: string | null
  /** The changed paths that contain one of the words; empty if all words were found in the name, the reason and the prompt. */
  readonly paths: readonly string[]
}

/** A text with one of the words. */
export type SearchHit = {
  readonly checkpoint: string
  readonly session: string | null
  readonly where: 'prompt' | 'answer' | 'tool' | 'reason' | 'name' | 'path' | 'content'
  /** The line with most of the words, cut around them if it is long. */
  readonly text: string
  /** Only for `content`: the file, and the number of the line. */
  readonly path?: string
  readonly line?: number
}

export type SearchResult = {
  /** Newest first. */
  readonly matches: readonly SearchMatch[]
  /** The texts that matched, at most 20 of each checkpoint, in the order of the checkpoints. */
  readonly hits: readonly SearchHit[]
  /** How many checkpoints were searched, from the newest on. */
  readonly searched: number
  /** False: there may be older ones that match. */
  readonly isComplete: boolean
  /** Present if prompts and conversations are encrypted, and the user has not allowed an index of them. */
  readonly notSearched?: 'encrypted'
}

const MAX_PATHS = 20
const MAX_HITS = 20

type Wanted = {
  readonly words: readonly string[]
  readonly limit: number
  readonly path: BytePath | undefined
  readonly by: string | undefined
  readonly since: Date | undefined
  readonly content: boolean
}

export const search = projectOperation({
  name: 'search',
  summary: 'Find checkpoints by words',
  effect: 'reads',
  input: () =>
    z.strictObject({
      words: z.string().check(z.trim(), z.minLength(1), z.maxLength(1000)),
      limit: z._default(z.int().check(z.positive()), 20),
      /** Only checkpoints that changed this file, or a file below this folder. */
      path: z.optional(z.string()),
      /** Only checkpoints with changes of this author, or of sessions of this agent. */
      by: z.optional(z.string()),
      since: z.optional(z.date()),
      /** Also the contents of changed files. */
      content: z._default(z.boolean(), false),
      /** Without effect: the index has all paths. */
      maxCompared: z.optional(z.int().check(z.nonnegative())),
    }),
  async run(context, { words, path, by, since, ...rest }, callbacks): Promise<SearchResult> {
    const wanted: Wanted = {
      ...rest,
      words: wordsOf(words),
      path: path === undefined ? undefined : parseProjectPath(path),
      by,
      since,
    }
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    const isEncrypted = !mayReadConversations(context)
    const note = isEncrypted ? ({ notSearched: 'encrypted' } as const) : {}
    if (project === undefined)
      return { matches: [], hits: [], searched: 0, isComplete: true, ...note }
    // A prune must not remove objects while they are compared.
    return context.objects.shared(() =>
      withProjectIndex(context, project, {
        callbacks,
        read: async (index) => ({
          ...(await find(context, { index, wanted, callbacks })),
          ...note,
        }),
      }),
    )
  },
})

type Finding = {
  readonly index: SearchIndex
  readonly wanted: Wanted
  readonly callbacks: Callbacks
}

async function find(
  context: ProjectContext,
  { index, wanted, callbacks }: Finding,
): Promise<Omit<SearchResult, 'notSearched'>> {
  const { words, limit } = wanted
  const matches: SearchMatch[] = []
  const hits: SearchHit[] = []
  const damaged = context.ledger.marks.damaged()
  const contents = wanted.content
    ? new ContentReader(new SnapshotFiles(context.snapshots.gitDir))
    : undefined
  try {
    // The index has no contents of files, so all checkpoints are candidates then.
    for (const seq of index.candidates(wanted.content ? [] : words)) {
      callbacks.signal?.throwIfAborted()
      if (matches.length === limit || contents?.isExhausted === true)
        return { matches, hits, searched: index.countFrom(seq + 1), isComplete: false }
      const indexed = index.get(seq)
      const checkpoint = indexed && context.ledger.checkpoints.get(parseCheckpointId(indexed.id))
      // Another process may have removed it meanwhile.
      if (indexed === undefined || checkpoint === undefined) continue
      if (!isWanted(checkpoint, indexed, wanted)) continue
      const texts = [
        ...textsOf(context, checkpoint, indexed),
        ...((await contents?.textsOf(indexed, wanted.path)) ?? []),
      ]
      const found = texts.flatMap((one) => {
        const match = matchText(one.text, words)
        return match === undefined ? [] : [{ ...one, match }]
      })
      const all = new Set(found.flatMap(({ match }) => match.words))
      if (!words.every((word) => all.has(word))) continue
      const isSaid = new Set(
        found.flatMap(({ where, match }) =>
          where === 'name' || where === 'reason' || where === 'prompt' ? match.words : [],
        ),
      )
      const paths = found.flatMap(({ where, text }) => (where === 'path' ? [text] : []))
      const { session } = checkpoint
      matches.push({
        ...viewCheckpoint(checkpoint),
        ...(damaged.has(checkpoint.id) ? { damaged: true } : {}),
        prompt: promptOf(texts),
        paths: words.every((word) => isSaid.has(word)) ? [] : paths.slice(0, MAX_PATHS),
      })
      const unique = new Map(
        found.map(({ match, where, ...file }) => [
          JSON.stringify([where, match.text, 'path' in file ? [file.path, match.line] : []]),
          {
            checkpoint: checkpoint.id,
            session: session?.id ?? null,
            where,
            text: match.text,
            ...('path' in file ? { path: file.path, line: match.line } : {}),
          },
        ]),
      )
      hits.push(...[...unique.values()].slice(0, MAX_HITS))
    }
  } finally {
    contents?.close()
  }
  return { matches, hits, searched: index.countFrom(0), isComplete: true }
}

function promptOf(texts: readonly { readonly where: string; readonly text: string }[]) {
  return texts.find(({ where }) => where === 'prompt')?.text ?? null
}

function isWanted(
  { authors, session, createdAtMs }: Checkpoint,
  { changes }: IndexedCheckpoint,
  { path, by, since }: Wanted,
): boolean {
  if (since !== undefined && createdAtMs < since.getTime()) return false
  if (by !== undefined && session?.agent !== by && authors?.includes(by) !== true) return false
  return path === undefined || changes.some(([changed]) => isInside(parsePathText(changed), path))
}
