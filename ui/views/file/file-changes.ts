// The figures of one path in each of its versions. The history has those of whole checkpoints only, so they are read from the
// patches, one after the other, newest first.
import { useEffect, useState } from 'preact/hooks'
import { project } from '../../app/model.js'
import { call, RequestError } from '../../app/transport.js'

export type FileChange = {
  readonly insertions: number | null
  readonly deletions: number | null
  readonly isAdded: boolean
  readonly isDeleted: boolean
}

/** Each takes a few milliseconds of the server. */
const MAX_READ = 40

export function useFileChanges(
  path: string,
  versions: readonly { readonly id: string; readonly paths: readonly string[] }[],
): ReadonlyMap<string, FileChange> {
  const [changes, setChanges] = useState<ReadonlyMap<string, FileChange>>(new Map())
  const newest = versions.slice(0, MAX_READ)
  useEffect(() => {
    const controller = new AbortController()
    void readAll(controller.signal)
    return () => controller.abort()
  }, [path, newest.map(({ id }) => id).join(' ')])

  async function readAll(signal: AbortSignal): Promise<void> {
    for (const { id, paths } of newest) {
      if (!paths.includes(path)) continue
      try {
        const range = { project: project.peek(), ref: id, with: 'previous' } as const
        const patch = await call('patch', { ...range, path, context: 0 }, { signal })
        // A folder has no sizes.
        if (patch.kind === 'folder') continue
        const { insertions, deletions, sizeBefore, sizeAfter } = patch
        const isAdded = sizeBefore === null
        const isDeleted = sizeAfter === null
        setChanges((old) => new Map(old).set(id, { insertions, deletions, isAdded, isDeleted }))
      } catch (error) {
        if (signal.aborted) return
        // The selected version shows the error of its patch; the list shows no figures for it.
        if (!(error instanceof RequestError)) throw error
      }
    }
  }
  return changes
}
