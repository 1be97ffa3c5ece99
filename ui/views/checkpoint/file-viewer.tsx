// One file of a checkpoint: text with line numbers, an image, or its size and a download.
import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { project } from '../../app/model.js'
import { fetchFileUpTo } from '../../app/transport.js'
import { DiffView } from '../../components/diff/diff-view.js'
import { DownloadButton, imageType, PathText, Picture } from '../../components/diff/file-bytes.js'
import { WrapChoice } from '../../components/diff/wrap-choice.js'
import { readPatch } from '../../components/diff/rows.js'
import { ErrorMessage, Loading, useLoaded } from '../../components/states.js'
import { formatBytes, visibleText } from '../../components/text.js'
import { FileActions } from './changes.js'

const MAX_TEXT_BYTES = 10_000_000

export function FileViewer({ id, path }: { readonly id: string; readonly path: string }): VNode {
  const loaded = useLoaded(
    async (signal) => {
      const { sizeBytes, blob } = await fetchFileUpTo(
        { project: project.peek(), ref: id, path },
        { signal, maxBytes: MAX_TEXT_BYTES },
      )
      return { path, sizeBytes, text: blob && readText(await blob.arrayBuffer()) }
    },
    [id, path],
  )
  const isStale = loaded.state === 'ready' && loaded.value.path !== path
  return (
    <section class="file-diff" aria-label={visibleText(path)} aria-busy={isStale}>
      <div class="file-toolbar">
        <h2 class="file-title">
          <PathText path={path} />
        </h2>
        {loaded.state === 'ready' ? (
          <span class="muted">{formatBytes(loaded.value.sizeBytes)}</span>
        ) : null}
        <span class="spacer" />
        {loaded.state === 'ready' && loaded.value.text ? <WrapChoice /> : null}
        <DownloadButton of={{ ref: id, path }} />
        <FileActions id={id} path={path} />
      </div>
      {loaded.state === 'error' ? (
        <ErrorMessage error={loaded.error} />
      ) : loaded.state === 'loading' ? (
        <Loading what="the file" />
      ) : (
        <Content id={id} {...loaded.value} />
      )}
    </section>
  )
}

function Content(props: {
  readonly id: string
  readonly path: string
  readonly sizeBytes: number
  readonly text: string | undefined
}): VNode {
  const { id, path, sizeBytes, text } = props
  const type = imageType(path, sizeBytes)
  const patch = useMemo(() => readPatch(text === undefined ? [] : [asHunk(text)]), [text])
  if (type !== undefined && text === undefined)
    return <Picture of={{ ref: id, path }} type={type} caption="As it was:" />
  if (text === undefined)
    return (
      <p class="file-note">
        {sizeBytes > MAX_TEXT_BYTES ? 'This file is too large to show.' : 'A binary file.'}
      </p>
    )
  if (text === '') return <p class="file-note">This file is empty.</p>
  return <DiffView patch={patch} path={path} layout="plain" />
}

/** Undefined for a file that is not text, by the rule of git: a NUL at its beginning. */
function readText(bytes: ArrayBuffer): string | undefined {
  if (new Uint8Array(bytes, 0, Math.min(8000, bytes.byteLength)).includes(0)) return undefined
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

function asHunk(text: string) {
  const lines = text.replace(/\n$/, '').split('\n')
  const range = { oldStart: 1, oldLines: lines.length, newStart: 1, newLines: lines.length }
  return { ...range, heading: '', lines: lines.map((line) => ` ${line}`) }
}
