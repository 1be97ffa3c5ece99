// The contents of a file of a checkpoint that are not text: images, and downloads of everything else.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { imageTypeOf } from '../../../src/ui/export/image-type.js'
import { project, start } from '../../app/model.js'
import { fetchFile } from '../../app/transport.js'
import { ErrorMessage, useLoaded } from '../states.js'
import { formatBytes, Line, visibleText } from '../text.js'

const MAX_IMAGE_BYTES = 10_000_000

export function imageType(path: string, sizeBytes: number | null): string | undefined {
  if (sizeBytes === null || sizeBytes > MAX_IMAGE_BYTES) return undefined
  return imageTypeOf(path)
}

export const nameOfPath = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

type FileOf = {
  readonly ref: string
  readonly path: string
  /** The file of the folder, which is compared with this checkpoint. */
  readonly now?: boolean
}

function readFile({ now = false, ...of }: FileOf, signal?: AbortSignal): Promise<Blob> {
  return fetchFile({ project: project.peek(), ...of, ...(now ? { now: '' } : {}) }, { signal })
}

/** Gives the bytes to the browser as a file. */
export async function download(of: FileOf): Promise<void> {
  const blob = await readFile(of)
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = nameOfPath(of.path)
  link.click()
  // The browser has read the address by then.
  window.setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

/** Not in an exported page, which has images only. */
export function DownloadButton({
  of,
  label = 'Download',
}: {
  readonly of: FileOf
  readonly label?: string
}): VNode | null {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  if (start.value?.isExport === true) return null
  const begin = async () => {
    setProblem(undefined)
    try {
      await download(of)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <>
      <button class="button" type="button" onClick={() => void begin()}>
        {label}
      </button>
      {problem === undefined ? null : <span role="alert">{problem}</span>}
    </>
  )
}

export function Picture({
  of,
  type,
  caption,
  version = 0,
}: {
  readonly of: FileOf
  readonly type: string
  readonly caption: string
  /** Reads the file again when it changes. */
  readonly version?: number
}): VNode {
  const { ref, path, now = false } = of
  const changes = [ref, path, now, now ? version : 0]
  const loaded = useLoaded(async (signal) => readFile(of, signal), changes)
  const [address, setAddress] = useState<string | undefined>(undefined)
  const [size, setSize] = useState('')
  const blob = loaded.state === 'ready' ? loaded.value : undefined
  useEffect(() => {
    if (blob === undefined) return undefined
    const made = URL.createObjectURL(new Blob([blob], { type }))
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [blob, type])
  if (loaded.state === 'error') return <ErrorMessage error={loaded.error} />
  return (
    <figure class="picture">
      <figcaption>
        {caption} {size}
        {blob === undefined ? '' : ` ${formatBytes(blob.size)}`}
      </figcaption>
      {address === undefined ? null : (
        <img
          src={address}
          alt={`${visibleText(nameOfPath(path))}, ${caption.toLowerCase()}`}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setSize(`${naturalWidth} × ${naturalHeight},`)
          }
          onError={() => setSize('cannot be shown,')}
        />
      )}
    </figure>
  )
}

/** The name of a file with its folder in a weaker color. */
export function PathText({ path }: { readonly path: string }): VNode {
  const name = nameOfPath(path)
  return (
    <span class="path" title={visibleText(path)}>
      <bdi dir="ltr">
        <span class="path-folder">
          <Line text={path.slice(0, path.length - name.length)} />
        </span>
        <span class="path-name">
          <Line text={name} />
        </span>
      </bdi>
    </span>
  )
}
