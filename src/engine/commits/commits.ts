// Turns a range of checkpoints into commits that the user's git takes, as an mbox or a bundle. Writes nothing to the user's repository (I4):
// the commits are built in a temporary one.
import * as z from 'zod/mini'
import {
  type BytePath,
  type FilesCheckpoint,
  type ObjectId,
  pathText,
  ROOT,
} from '../../model/index.js'
import { type ChainState, CommitChain, mailCommits } from '../../snapshot/index.js'
import { bringNamedFiles } from '../checkpoints/files-here.js'
import type { Callbacks } from '../operation/callbacks.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { wholeText } from '../operation/input-schemas.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { groupSteps, type Per, type StepGroup } from './group-steps.js'
import {
  checkTemplate,
  commitMessage,
  DEFAULT_TEMPLATE,
  encodeUserCommit,
  type Identity,
  parseIdentity,
  subjectOf,
} from './message.js'
import { type CheckpointRange, resolveRange } from './range.js'

export type CommitView = {
  /** The last checkpoint that the commit contains. */
  readonly checkpoint: string
  readonly subject: string
  /** How many files it changes. */
  readonly files: number
}

export type CommitsResult = {
  /** Oldest first. */
  readonly commits: readonly CommitView[]
  /** The commit of the user's repository that they follow; null if none is recorded. */
  readonly base: string | null
  /** The mbox or bundle; empty without commits. */
  readonly content: Uint8Array
}

type Input = {
  readonly range: string
  readonly per: Per
  readonly format: 'mbox' | 'bundle'
  readonly template: string
  readonly author?: string | undefined
}

export const commits = projectOperation({
  name: 'commits',
  summary: 'Turn checkpoints into commits',
  effect: 'reads',
  input: () =>
    z.strictObject({
      range: z.string(),
      per: z._default(z.enum(['prompt', 'step', 'all']), 'prompt'),
      format: z._default(z.enum(['mbox', 'bundle']), 'mbox'),
      /** The message; the trailers are added to it. */
      template: z._default(wholeText(), DEFAULT_TEMPLATE),
      /** `Name <mail>`; by default that of the user's git. */
      author: z.optional(wholeText()),
    }),
  async run(context, input, callbacks): Promise<CommitsResult> {
    checkTemplate(input.template)
    const identity = input.author === undefined ? undefined : parseIdentity(input.author)
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    const named = resolveRange(context, project, input.range)
    await bringNamedFiles(context, [named.from?.id, named.steps.at(-1)?.id])
    // A prune must not remove objects while they are read.
    return context.objects.shared(async () => {
      const range = resolveRange(context, project, input.range)
      const first = range.from ?? range.steps[0]
      if (first === undefined) return NONE
      const chain = await CommitChain.open({
        gitDir: context.snapshots.gitDir,
        folder: context.path,
        commit: headAt(context, first),
      })
      try {
        return await writeCommits(context, { chain, range, input, identity, callbacks })
      } finally {
        chain.close()
      }
    })
  },
})

const NONE: CommitsResult = { commits: [], base: null, content: new Uint8Array() }
const UNKNOWN_IDENTITY: Identity = { name: 'Savestate', email: 'savestate@localhost' }
const BEFORE_ALL = 'Work before the first of these commits'

type Work = {
  readonly chain: CommitChain
  readonly range: CheckpointRange
  readonly input: Input
  readonly identity: Identity | undefined
  readonly callbacks: Callbacks
}

async function writeCommits(context: ProjectContext, work: Work): Promise<CommitsResult> {
  const { chain, range, input, callbacks } = work
  const { settings } = chain.user ?? {}
  const setting = (key: string) => settings?.get(`author.${key}`) ?? settings?.get(`user.${key}`)
  const [name, email] = [setting('name'), setting('email')]
  const isKnown = name !== undefined && email !== undefined
  const identity =
    work.identity ?? (isKnown ? parseIdentity(`${name} <${email}>`) : UNKNOWN_IDENTITY)
  if (work.identity === undefined && !isKnown)
    callbacks.onWarning?.(
      'git has no user.name and user.email here; choose an author for the commits.',
    )
  const made: { readonly id: ObjectId; readonly view: CommitView; readonly isOwn: boolean }[] = []
  let tip = chain.base
  const add = async (group: StepGroup, title?: string) => {
    callbacks.signal?.throwIfAborted()
    const last = group.at(-1) ?? group[0]
    const { tree, files } = await chain.advance(stateOf(context, last))
    // Without a base, even an empty first commit is needed: the others follow it.
    if (files === 0 && (tip !== undefined || title === undefined)) return
    const message = commitMessage(group, {
      template: title === undefined ? input.template : DEFAULT_TEMPLATE,
      title,
    })
    tip = await chain.commit(encodeUserCommit({ tree, parent: tip, identity, last, message }))
    const view = { checkpoint: last.id, subject: subjectOf(message), files }
    made.push({ id: tip, view, isOwn: title === undefined })
  }
  if (range.from !== undefined) await add([range.from], BEFORE_ALL)
  const withoutRoot =
    chain.base === undefined && range.from !== undefined && input.format === 'mbox'
  const before = withoutRoot ? made.length : 0
  for (const group of groupSteps(range, input.per)) await add(group)
  if (made.at(-1)?.isOwn !== true) return NONE
  const listed = made.slice(before)
  warnAbout(chain, callbacks)
  const ids = listed.map(({ id }) => id)
  return {
    commits: listed.map(({ view }) => view),
    base: chain.base ?? null,
    content:
      input.format === 'bundle' && tip !== undefined
        ? await chain.bundle(tip)
        : await mailCommits(chain.repository, ids),
  }
}

function warnAbout({ base, filtered }: CommitChain, { onWarning }: Callbacks): void {
  if (base === undefined)
    onWarning?.(
      'No commit of your repository is recorded before the first of these checkpoints, so the first commit has no parent.',
    )
  const [first] = filtered
  if (first === undefined) return
  const more = filtered.size === 1 ? '' : ` and ${filtered.size - 1} more`
  onWarning?.(
    `Left out, because a git filter such as LFS converts them: ${pathText(first)}${more}.`,
  )
}

/** The user's commit at that time. */
function headAt({ ledger }: ProjectContext, { id }: FilesCheckpoint): ObjectId | undefined {
  const notes = ledger.checkpoints.details(id)?.repositories ?? []
  const commit = notes.find(({ path }) => path === ROOT)?.commit
  return commit !== null && commit !== undefined && /^[0-9a-f]{40}$/.test(commit)
    ? (commit as ObjectId)
    : undefined
}

function stateOf({ ledger }: ProjectContext, { id, snapshot }: FilesCheckpoint): ChainState {
  const details = ledger.checkpoints.details(id)
  const nested: readonly BytePath[] = (details?.repositories ?? []).map(({ path }) => path)
  return { tree: snapshot.tree, skippedPaths: details?.skippedPaths ?? [], nested }
}
