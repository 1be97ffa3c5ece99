// What changed in one file since the target of the restore, or in the step that is undone.
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Output } from '../../../src/ui/api.js'
import { call } from '../../app/transport.js'
import { DiffView } from '../../components/diff/diff-view.js'
import type { HunkTicks } from '../../components/diff/line.js'
import { readPatch } from '../../components/diff/rows.js'
import { ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import { Figures, formatBytes, Line, visibleText } from '../../components/text.js'
import type { ChosenHunks } from './selection.js'

type Patch = Output<'patch'>

/** `version`: differs if the file may have changed. */
export function Preview(props: {
  readonly project: string
  readonly target: string
  /** Shows what the target itself changed, instead of the changes since. */
  readonly isStep: boolean
  readonly path: string
  readonly version: string
  readonly onClose: () => void
  /** Undefined: single changes cannot be chosen. */
  readonly onChoose?: ((chosen: ChosenHunks) => void) | undefined
  /** The changes that are chosen now; undefined if the whole file goes back. */
  readonly chosen?: ChosenHunks | undefined
}): VNode {
  const { project, target, isStep, path, version, onClose, onChoose, chosen } = props
  const shown = useRef<Patch | undefined>(undefined)
  const loaded = useLoaded(
    async (signal) => {
      const range = { project, ref: target, with: isStep ? 'previous' : 'now' } as const
      const patch = await call('patch', { ...range, path }, { signal })
      // The same object as before, so that an equal patch is not rendered again and keeps its scroll position.
      if (JSON.stringify(shown.current) !== JSON.stringify(patch)) shown.current = patch
      return shown.current ?? patch
    },
    [project, target, isStep, path, version],
  )
  const isOther = loaded.state === 'ready' && loaded.value.path !== path
  const patch = loaded.state === 'ready' && !isOther ? loaded.value : undefined
  const choose = (hunks: readonly number[], isVoid = false) =>
    patch === undefined ? undefined : onChoose?.({ target, path, mark: patch.mark, hunks, isVoid })
  // The numbers of another patch mean other changes.
  useEffect(() => {
    if (chosen !== undefined && patch !== undefined && patch.mark !== chosen.mark) choose([], true)
  }, [patch?.mark])
  // The button that opened the choice is gone.
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    if (chosen !== undefined) section.current?.focus()
  }, [])
  const ticks = chosen === undefined || patch === undefined ? undefined : ticksOf(chosen, choose)
  return (
    <section
      ref={section}
      tabIndex={-1}
      class="restore-preview"
      aria-label={`What changed in ${visibleText(path)}`}
      data-preview
    >
      <header>
        <h3>
          <Line text={path} />
        </h3>
        {loaded.state === 'ready' && !isOther ? (
          <Figures insertions={loaded.value.insertions} deletions={loaded.value.deletions} />
        ) : null}
        {onChoose === undefined || chosen !== undefined || !hasChoice(patch) ? null : (
          <button
            type="button"
            class="button"
            data-kind="plain"
            onClick={() => choose(patch.hunks.map((_, index) => index))}
          >
            Choose changes
          </button>
        )}
        <button type="button" class="button" data-kind="plain" onClick={onClose}>
          {chosen === undefined ? 'Close' : 'All files again'}
          {chosen === undefined ? <span class="visually-hidden"> the difference</span> : null}
        </button>
      </header>
      <p class="muted">
        {chosen !== undefined
          ? 'Only the ticked changes of this file go back, and no other file: lines with + go away, lines with − come back.'
          : isStep
            ? 'The changes of the step. Its undo removes the lines with + and brings back the lines with −.'
            : 'The changes since then. Going back removes the lines with + and brings back the lines with −.'}
      </p>
      {loaded.state === 'error' ? (
        <ErrorMessage error={loaded.error} />
      ) : loaded.state === 'loading' || isOther ? (
        <Loading what="the difference" />
      ) : (
        <Difference patch={loaded.value} ticks={ticks} />
      )}
    </section>
  )
}

const KINDS: Readonly<Partial<Record<Patch['kind'], string>>> = {
  binary: 'A binary file',
  large: 'The difference is too large to show',
  unchanged: 'The contents are equal; only the mode differs',
  folder: 'A folder',
}

/** A file that exists on one side only comes or goes as a whole. */
function hasChoice(patch: Patch | undefined): patch is Patch {
  return patch?.kind === 'text' && patch.sizeBefore !== null && patch.sizeAfter !== null
}

function ticksOf({ hunks }: ChosenHunks, choose: (hunks: readonly number[]) => void): HunkTicks {
  return {
    isTicked: (hunk) => hunks.includes(hunk),
    onTick: (hunk, ticked) => {
      const others = hunks.filter((one) => one !== hunk)
      choose(ticked ? [...others, hunk].toSorted((a, b) => a - b) : others)
    },
  }
}

function Difference(props: {
  readonly patch: Patch
  readonly ticks: HunkTicks | undefined
}): VNode {
  const { patch, ticks } = props
  const lines = useMemo(() => readPatch(patch.hunks), [patch])
  const words = KINDS[patch.kind]
  if (words === undefined)
    return <DiffView patch={lines} path={patch.path} layout="unified" choice={ticks} />
  const { sizeBefore, sizeAfter, modeBefore, modeAfter } = patch
  const size = (bytes: number | null) => (bytes === null ? 'no file' : formatBytes(bytes))
  return (
    <p class="restore-summary">
      {words}: {size(sizeBefore)} then, {size(sizeAfter)} now
      {modeBefore === modeAfter ? '' : `; mode ${modeBefore ?? '–'} then, ${modeAfter ?? '–'} now`}.
    </p>
  )
}
