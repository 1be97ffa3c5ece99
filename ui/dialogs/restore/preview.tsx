// What changed in one file since the target of the restore, or in the step that is undone.
import type { VNode } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Output } from '../../../src/ui/api.js'
import { call } from '../../app/transport.js'
import { DiffView } from '../../components/diff/diff-view.js'
import { readPatch } from '../../components/diff/rows.js'
import { ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import { Figures, formatBytes, Line, visibleText } from '../../components/text.js'

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
}): VNode {
  const { project, target, isStep, path, version, onClose } = props
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
  return (
    <section
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
        <button type="button" class="button" data-kind="plain" onClick={onClose}>
          Close
          <span class="visually-hidden"> the difference</span>
        </button>
      </header>
      <p class="muted">
        {isStep
          ? 'The changes of the step. Its undo removes the lines with + and brings back the lines with −.'
          : 'The changes since then. Going back removes the lines with + and brings back the lines with −.'}
      </p>
      {loaded.state === 'error' ? (
        <ErrorMessage error={loaded.error} />
      ) : loaded.state === 'loading' || isOther ? (
        <Loading what="the difference" />
      ) : (
        <Difference patch={loaded.value} />
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

function Difference({ patch }: { readonly patch: Patch }): VNode {
  const lines = useMemo(() => readPatch(patch.hunks), [patch])
  const words = KINDS[patch.kind]
  if (words === undefined) return <DiffView patch={lines} path={patch.path} layout="unified" />
  const { sizeBefore, sizeAfter, modeBefore, modeAfter } = patch
  const size = (bytes: number | null) => (bytes === null ? 'no file' : formatBytes(bytes))
  return (
    <p class="restore-summary">
      {words}: {size(sizeBefore)} then, {size(sizeAfter)} now
      {modeBefore === modeAfter ? '' : `; mode ${modeBefore ?? '–'} then, ${modeAfter ?? '–'} now`}.
    </p>
  )
}
