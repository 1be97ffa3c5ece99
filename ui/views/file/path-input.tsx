// The path whose history is shown, with suggestions from the folders of the newest checkpoint.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { project, rows } from '../../app/model.js'
import { call, RequestError } from '../../app/transport.js'
import { Combobox } from '../../components/combobox.js'
import { Line } from '../../components/text.js'

const MAX_OFFERED = 50

type Offered = { readonly path: string; readonly isFolder: boolean }

export function PathInput(props: {
  readonly path: string
  readonly onChoose: (path: string) => void
}): VNode {
  const { path, onChoose } = props
  const [text, setText] = useState(path)
  useEffect(() => setText(path), [path])
  const offered = useOffered(text)
  return (
    <Combobox
      id="path"
      label="Path of a file or folder"
      placeholder="src/login.ts"
      text={text}
      suggestions={offered.map(({ path: one, isFolder }) => ({
        key: one,
        content: (
          <>
            <Line text={one} />
            {isFolder ? '/' : ''}
          </>
        ),
        // A folder is entered; its own history is there with Enter.
        onTake: () => (isFolder ? setText(`${one}/`) : onChoose(one)),
      }))}
      onInput={setText}
      onSubmit={() => onChoose(text.trim().replace(/\/+$/, ''))}
    />
  )
}

/** The entries of the folder that the text names so far. */
function useOffered(text: string): readonly Offered[] {
  const folder = text.slice(0, Math.max(0, text.lastIndexOf('/')))
  const newest = rows.value.find((row) => row.hasFiles && row.damaged !== true)?.id
  const [entries, setEntries] = useState<readonly Offered[]>([])
  useEffect(() => {
    if (newest === undefined) return undefined
    const controller = new AbortController()
    call('folder', { project: project.peek(), ref: newest, path: folder }, controller).then(
      (listing) =>
        setEntries(
          listing.entries.map(({ name, type }) => ({
            path: folder === '' ? name : `${folder}/${name}`,
            isFolder: type === 'folder',
          })),
        ),
      (error: unknown) => {
        if (controller.signal.aborted) return
        // There is no such folder now: the path may be one that was deleted.
        if (!(error instanceof RequestError)) throw error
        setEntries([])
      },
    )
    return () => controller.abort()
  }, [newest, folder])
  const wanted = text.toLowerCase()
  return entries.filter((one) => one.path.toLowerCase().startsWith(wanted)).slice(0, MAX_OFFERED)
}
