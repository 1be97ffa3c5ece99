// What changed in one file: a toolbar, and the diff, two images, or a sentence. Loads the patch when it is shown.
import type { ComponentChildren, VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Output, Range } from '../../../src/ui/api.js'
import { call } from '../../app/transport.js'
import { ErrorMessage, Loading, useLoaded } from '../states.js'
import { Figures, formatBytes, visibleText } from '../text.js'
import { DiffView } from './diff-view.js'
import { DownloadButton, imageType, PathText, Picture } from './file-bytes.js'
import { canSplit, chooseLayout, layout, type Layout } from './layout.js'
import { WrapChoice } from './wrap-choice.js'
import { readPatch } from './rows.js'

type FilePatch = Output<'patch'>

/** Lines of context: the first, and after each press of "show more". The last one is the whole file. */
const CONTEXTS = [3, 25, 200, 100_000]

export function FileDiff(props: {
  readonly range: Range
  readonly path: string
  /** The checkpoints of the two sides; null: that side is the folder, or there is none. */
  readonly before: string | null
  readonly after: string | null
  /** Loads the patch again when it changes, for comparisons with the folder. */
  readonly version?: number | undefined
  /** `patch` is undefined until it is loaded. */
  readonly actions?: (patch: FilePatch | undefined) => ComponentChildren
}): VNode {
  const { range, path, before, after, version, actions } = props
  const address = JSON.stringify([range, path])
  const [context, setContext] = useState({ address, step: 0 })
  const step = context.address === address ? context.step : 0
  const loaded = useLoaded(
    async (signal) => call('patch', { ...range, path, context: CONTEXTS[step] ?? 3 }, { signal }),
    [address, step, version],
  )
  const more =
    step + 1 < CONTEXTS.length ? () => setContext({ address, step: step + 1 }) : undefined
  const patch = loaded.state === 'ready' ? loaded.value : undefined
  const isStale = patch !== undefined && patch.path !== path
  return (
    <section class="file-diff" aria-label={`Changes of ${visibleText(path)}`} aria-busy={isStale}>
      <div class="file-toolbar">
        <h2 class="file-title">
          <PathText path={path} />
        </h2>
        {patch === undefined || isStale ? null : (
          <Figures insertions={patch.insertions} deletions={patch.deletions} />
        )}
        <span class="spacer" />
        {patch?.kind === 'text' ? (
          <>
            {more === undefined || !hasHiddenLines(patch) ? null : (
              <button
                class="button"
                data-kind="plain"
                type="button"
                onClick={() => setContext({ address, step: CONTEXTS.length - 1 })}
              >
                Whole file
              </button>
            )}
            <WrapChoice />
            <LayoutChoice />
          </>
        ) : null}
        {actions?.(isStale ? undefined : patch)}
      </div>
      {loaded.state === 'error' ? (
        <ErrorMessage error={loaded.error} />
      ) : patch === undefined ? (
        <Loading what="the changes" />
      ) : (
        <PatchContent {...{ patch, before, after, more, version }} />
      )}
    </section>
  )
}

/** A file that exists on one side only is complete in its patch. */
function hasHiddenLines({ sizeBefore, sizeAfter }: FilePatch): boolean {
  return sizeBefore !== null && sizeAfter !== null
}

const LAYOUTS: readonly (readonly [Layout, string])[] = [
  ['unified', 'Unified'],
  ['split', 'Split'],
]

function LayoutChoice(): VNode | null {
  if (!canSplit.value) return null
  return (
    <span class="choice" role="group" aria-label="Layout of the diff">
      {LAYOUTS.map(([one, label]) => (
        <button
          key={one}
          type="button"
          aria-pressed={layout.value === one}
          onClick={() => chooseLayout(one)}
        >
          {label}
        </button>
      ))}
    </span>
  )
}

type Sides = {
  readonly before: string | null
  readonly after: string | null
  readonly version: number | undefined
}

function PatchContent(
  props: Sides & { readonly patch: FilePatch; readonly more: (() => void) | undefined },
): VNode {
  const { patch, more } = props
  const read = useMemo(() => readPatch(patch.hunks), [patch])
  const note = modeNote(patch)
  const isEmpty = patch.hunks.length === 0
  return (
    <>
      {note === undefined ? null : <p class="file-note">{note}</p>}
      {read.isCrlf ? <p class="file-note">All lines end with CR LF.</p> : null}
      {patch.kind === 'text' || patch.kind === 'link' ? (
        <>
          {patch.kind === 'link' ? <p class="file-note">A link. Its target:</p> : null}
          {isEmpty ? (
            <p class="file-note">{emptySentence(patch)}</p>
          ) : (
            <DiffView
              patch={read}
              path={patch.path}
              layout={layout.value}
              onMore={hasHiddenLines(patch) ? more : undefined}
            />
          )}
        </>
      ) : (
        <Uncompared {...props} />
      )}
    </>
  )
}

function modeNote({ modeBefore, modeAfter }: FilePatch): string | undefined {
  if (modeBefore === null || modeAfter === null || modeBefore === modeAfter) return undefined
  return `The mode changed from ${modeBefore} to ${modeAfter}.`
}

function emptySentence({ sizeBefore, sizeAfter }: FilePatch): string {
  if (sizeBefore === null) return 'An empty file was added.'
  return sizeAfter === null ? 'An empty file was removed.' : 'The contents are the same.'
}

const SENTENCES: Readonly<Record<Exclude<FilePatch['kind'], 'text' | 'link'>, string>> = {
  binary: 'A binary file.',
  large: 'The changes are too large to show: more than 10 MB.',
  folder: 'A folder.',
  unchanged: 'The contents are the same.',
}

function Uncompared({
  patch,
  before,
  after,
  version = 0,
}: Sides & { readonly patch: FilePatch }): VNode {
  const { path, kind, sizeBefore, sizeAfter } = patch
  // Without a checkpoint of its own, the second side is the folder.
  const isNow = after === null && before !== null
  const sides = [
    { caption: 'Before', ref: before, size: sizeBefore, now: false },
    { caption: isNow ? 'Now' : 'After', ref: after ?? before, size: sizeAfter, now: isNow },
  ].filter(({ size }) => size !== null)
  const isImage = kind === 'binary' && sides.some(({ size }) => imageType(path, size) !== undefined)
  if (kind === 'text' || kind === 'link') throw new TypeError(kind)
  return (
    <div class="uncompared">
      {isImage ? null : <p>{SENTENCES[kind]}</p>}
      <div class="uncompared-sides">
        {sides.map(({ caption, ref, size, now }) => {
          const type = imageType(path, size)
          return (
            <div key={caption} class="uncompared-side">
              {ref !== null && isImage && type !== undefined ? (
                <Picture of={{ ref, path, now }} {...{ type, version }} caption={`${caption}:`} />
              ) : (
                <p>
                  {caption}: {formatBytes(size ?? 0)}
                </p>
              )}
              {ref === null ? null : now ? (
                <p class="muted">This side is the file in your folder.</p>
              ) : (
                <DownloadButton of={{ ref, path }} />
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}
