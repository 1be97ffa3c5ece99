// The versions of a path, read in pages. A change of the store reads the same number of pages again.
import { useRef, useState } from 'preact/hooks'
import type { Output } from '../../../src/ui/api.js'
import { project, storeVersion } from '../../app/model.js'
import { call } from '../../app/transport.js'
import { type Loaded, useLoaded } from '../../components/states.js'

export type Version = Output<'history'>['checkpoints'][number]
type Versions = {
  readonly versions: readonly Version[]
  readonly isComplete: boolean
  readonly pages: number
}

const PAGE = 500
const NONE: Versions = { versions: [], isComplete: false, pages: 0 }

export function useVersions(path: string): {
  readonly loaded: Loaded<Versions>
  /** Undefined if there are no older ones, or while they are read. */
  readonly readOlder: (() => void) | undefined
} {
  const [wanted, setWanted] = useState(1)
  const version = storeVersion.value
  // The pages of this version of the store are not read again for the next one.
  const known = useRef({ version, ...NONE })
  const loaded = useLoaded(
    async (signal) => {
      let found: Versions = known.current.version === version ? known.current : NONE
      while (path !== '' && !found.isComplete && found.pages < wanted) {
        const before = found.versions.at(-1)?.id
        const input = { project: project.peek(), path, limit: PAGE }
        const page = await call('history', before === undefined ? input : { ...input, before }, {
          signal,
        })
        const versions = [...found.versions, ...page.checkpoints]
        found = { versions, isComplete: page.isComplete, pages: found.pages + 1 }
      }
      known.current = { version, ...found }
      return found
    },
    [version, wanted],
  )
  const isRead =
    loaded.state === 'ready' && !loaded.value.isComplete && loaded.value.pages === wanted
  return { loaded, readOlder: isRead ? () => setWanted(wanted + 1) : undefined }
}
