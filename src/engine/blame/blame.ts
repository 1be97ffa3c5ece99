// Finds the checkpoint, the author, the prompt and the tool call of each line of a file, as the file is now. Changes that are not
// saved yet count as one more step after the newest checkpoint. Lines that are older than the first checkpoint are looked up in
// the user's own git history, which is only read.
import * as z from 'zod/mini'
import { plural } from '../../base/index.js'
import {
  type BytePath,
  isInside,
  joinPath,
  pathText,
  printablePath,
  type Project,
  ROOT,
  SavestateError,
  SKIP_REASONS,
} from '../../model/index.js'
import type { Blamed, BlamedFile, Captured } from '../../snapshot/index.js'
import { captureNow } from '../checkpoints/capture.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded, withRecoveredProject } from '../restore/recover.js'
import { parseProjectPath } from '../operation/project-path.js'
import { type BlameStep, describeStep, type LineOrigin, listSteps } from './blame-steps.js'

export type BlameLine = LineOrigin & {
  /** Starts at 1. */
  readonly number: number
  /** Without its newline. */
  readonly text: string
}

export type BlameResult = {
  /** Relative to the project. */
  readonly path: string
  readonly lines: readonly BlameLine[]
}

export const blame = projectOperation({
  name: 'blame',
  summary: 'Show who wrote each line of a file',
  effect: 'reads',
  input: () =>
    z.strictObject({
      path: z.string(),
      /** The first and the last line, counted from 1; the whole file if left out. */
      from: z._default(z.int().check(z.positive()), 1),
      to: z.optional(z.int().check(z.positive())),
    }),
  async run(context, { path: text, from, to }, callbacks): Promise<BlameResult> {
    const path = parseProjectPath(text)
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    const newest = project && context.ledger.checkpoints.newestFiles(project.id)
    if (project === undefined || newest === undefined)
      throw new SavestateError('CHECKPOINT_UNKNOWN', 'Nothing has been saved in this folder yet', {
        hint: 'Save it with: savestate save',
      })
    // A prune must not remove objects while they are compared.
    return context.objects.shared(async () => {
      const captured = await withRecoveredProject(context, project, {
        purpose: 'blame',
        callbacks,
        work: () =>
          captureNow(context, project, { named: { tree: newest.snapshot.tree }, callbacks }),
      })
      const steps = listSteps(context, project, captured.snapshot.tree)
      const restored = steps.flatMap(({ isRestored }, n) => (isRestored ? [n] : []))
      const trees = steps.map(({ tree }) => tree)
      const last = to ?? Number.MAX_SAFE_INTEGER
      const traced = await context.snapshots.traceLines(
        { trees, restored, path, from, to: last },
        { signal: callbacks.signal },
      )
      if (traced.kind !== 'text') throw unblamable(path, { kind: traced.kind, captured })
      const count = traced.starts.length - 1
      if (from > Math.max(count, 1))
        throw new SavestateError(
          'BAD_INPUT',
          `${printablePath(path)} has only ${count} ${plural(count, 'line')}`,
        )
      const originOf = await describeOrigins(context, project, { traced, steps })
      const lines: BlameLine[] = []
      for (let line = from - 1; line < Math.min(count, last); line += 1)
        lines.push({ number: line + 1, text: textOf(traced, line), ...originOf(line) })
      return { path: pathText(path), lines }
    })
  },
})

function textOf({ content, starts }: BlamedFile, line: number): string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  return bytes.toString('utf8', starts[line], starts[line + 1]).replace(/\n$/, '')
}

async function describeOrigins(
  context: ProjectContext,
  project: Project,
  { traced, steps }: { readonly traced: BlamedFile; readonly steps: readonly BlameStep[] },
): Promise<(line: number) => LineOrigin> {
  const described = new Map<number, LineOrigin>()
  const committed = await findCommitted(context, project, { traced, oldest: steps.at(-1) })
  return (line) => {
    const at = traced.origins[line] ?? 0
    if (at === steps.length - 1) return committed(line)
    const known = described.get(at) ?? describeStep(context, steps[at])
    described.set(at, known)
    return known
  }
}

const UNKNOWN: LineOrigin = {
  source: 'older',
  checkpoint: null,
  author: null,
  prompt: null,
  tool: null,
  commit: null,
  createdAt: null,
}

/** The origins of the lines that the oldest checkpoint has. */
async function findCommitted(
  { ledger, snapshots }: ProjectContext,
  { path: root }: Project,
  { traced, oldest }: { readonly traced: BlamedFile; readonly oldest: BlameStep | undefined },
): Promise<(line: number) => LineOrigin> {
  const file = traced.oldest
  if (file === undefined || oldest?.id === undefined) return () => UNKNOWN
  const { repositories = [] } = ledger.checkpoints.details(oldest.id) ?? {}
  const repository = repositories
    .filter(({ path }) => isInside(file.path, path))
    .sort((a, b) => b.path.length - a.path.length)[0]
  const commit = repository?.commit ?? null
  if (repository === undefined || commit === null) return () => UNKNOWN
  const folder = repository.path === ROOT ? root : joinPath(root, repository.path)
  const path = belowFolder(file.path, repository.path)
  const found = await snapshots.findCommittedLines({
    folder,
    path,
    commit,
    content: file.content,
    lines: [...new Set(file.lines)].filter((line) => line >= 0),
  })
  return (line) => {
    const one = found.get(file.lines[line] ?? -1)
    if (one === undefined) return UNKNOWN
    const { atMs, ...written } = one
    const createdAt = atMs === null ? null : new Date(atMs)
    return { ...UNKNOWN, source: 'commit', ...written, createdAt }
  }
}

function belowFolder(path: BytePath, folder: BytePath): BytePath {
  return folder === ROOT ? path : (path.slice(folder.length + 1) as BytePath)
}

const REFUSED = {
  binary: 'is a binary file',
  large: 'has more than 10 MB',
  link: 'is a symbolic link',
  folder: 'is a folder',
} as const

function unblamable(
  path: BytePath,
  {
    kind,
    captured,
  }: { readonly kind: Exclude<Blamed['kind'], 'text'>; readonly captured: Captured },
): SavestateError {
  const shown = path === ROOT ? 'The project' : printablePath(path)
  if (kind !== 'absent')
    return new SavestateError('BAD_INPUT', `${shown} ${REFUSED[kind]}`, {
      hint: 'Only the lines of text files have authors.',
    })
  const skipped = captured.snapshot.skippedPaths.find((one) => isInside(path, one.path))
  if (skipped !== undefined) {
    const which = skipped.path === path ? '' : `${printablePath(skipped.path)} is `
    const why = `${which}${SKIP_REASONS[skipped.reason]}`
    return new SavestateError(
      'CHECKPOINT_PARTIAL',
      `Nothing is known about the lines of ${shown}, because it is not saved: ${why}`,
    )
  }
  return new SavestateError('BAD_INPUT', `The folder has no ${shown}`, {
    hint: 'Check the spelling. Paths are relative to the current folder, or to DIR with `-C DIR`.',
  })
}
