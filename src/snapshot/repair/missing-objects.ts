// Which objects of a snapshot are missing from the store, with their paths in the project.
import { type BytePath, joinPath, type ObjectId, ROOT, SavestateError } from '../../model/index.js'
import { decodeModes } from '../objects/modes.js'
import { EMPTY_TREE } from '../objects/object-id.js'
import { decodeTree, GIT_MODE, type TreeEntry } from '../objects/tree.js'
import { TolerantReader } from './tolerant-reader.js'

export type Lack = {
  readonly id: ObjectId
  /** `tree`: its entries are unknown, so nothing can be compared with the snapshot. */
  readonly type: 'tree' | 'modes' | 'file'
  readonly path: BytePath
}

export type MissingObjects = {
  readonly lacks: readonly Lack[]
  readonly count: number
}

const MAX_LACKS = 1000
const NONE: MissingObjects = { lacks: [], count: 0 }

/** Checks only that commits and the topmost objects of snapshots exist. */
export async function findMissingQuickly(
  gitDir: string,
  { snapshots, commits }: Record<'snapshots' | 'commits', readonly ObjectId[]>,
): Promise<{ lacks: Map<ObjectId, MissingObjects>; commits: Map<ObjectId, 'there' | null> }> {
  const reader = new TolerantReader(gitDir)
  try {
    const lacks = new Map<ObjectId, MissingObjects>()
    for (const id of snapshots) {
      if (!(await reader.exists(`${id}:files`)))
        lacks.set(id, one({ id, type: 'tree', path: ROOT }))
      else if (!(await reader.exists(`${id}:modes`)))
        lacks.set(id, one({ id, type: 'modes', path: ROOT }))
    }
    const found = new Map<ObjectId, 'there' | null>()
    for (const id of commits) found.set(id, (await reader.exists(id)) ? 'there' : null)
    return { lacks, commits: found }
  } finally {
    reader.close()
  }
}

export class SnapshotWalk {
  readonly #reader: TolerantReader
  readonly #unreadable: ReadonlySet<ObjectId>
  /** By tree, with paths relative to it. Snapshots have most trees in common. */
  readonly #known = new Map<ObjectId, MissingObjects>()

  /** `unreadable`: objects that git finds, but whose content is damaged. */
  constructor(reader: TolerantReader, unreadable: ReadonlySet<ObjectId>) {
    this.#reader = reader
    this.#unreadable = unreadable
  }

  async lacksOf(snapshot: ObjectId): Promise<MissingObjects> {
    const entries = await this.#entriesOf(snapshot)
    const idOf = (name: string) => entries?.find((entry) => entry.name === name)?.id
    const [files, modes] = [idOf('files'), idOf('modes')]
    if (files === undefined || modes === undefined)
      return one({ id: snapshot, type: 'tree', path: ROOT })
    const ofModes = (await this.#areModes(modes))
      ? NONE
      : one({ id: modes, type: 'modes', path: ROOT })
    return join([ofModes, await this.#lacksOfTree(files)])
  }

  async #lacksOfTree(tree: ObjectId): Promise<MissingObjects> {
    const known = this.#known.get(tree)
    if (known !== undefined) return known
    const entries = await this.#entriesOf(tree)
    const lacks =
      entries === undefined
        ? one({ id: tree, type: 'tree', path: ROOT })
        : join(await this.#lacksOfEntries(entries))
    this.#known.set(tree, lacks)
    return lacks
  }

  async #lacksOfEntries(entries: readonly TreeEntry[]): Promise<MissingObjects[]> {
    const parts: MissingObjects[] = []
    for (const { mode, id, name } of entries) {
      if (mode === GIT_MODE.folder) {
        const { lacks, count } = await this.#lacksOfTree(id)
        parts.push({ lacks: lacks.map((it) => ({ ...it, path: pathIn(name, it.path) })), count })
      } else if (this.#unreadable.has(id) || !(await this.#reader.exists(id)))
        parts.push(one({ id, type: 'file', path: name }))
    }
    return parts
  }

  async #entriesOf(tree: ObjectId): Promise<TreeEntry[] | undefined> {
    // Git knows the empty tree without storing it.
    if (tree === EMPTY_TREE) return []
    const content = await this.#reader.read('tree', tree)
    return content === undefined ? undefined : decodeTree(content)
  }

  async #areModes(id: ObjectId): Promise<boolean> {
    const content = await this.#reader.read('blob', id)
    try {
      if (content !== undefined) decodeModes(content)
      return content !== undefined
    } catch (error) {
      if (error instanceof SavestateError && error.code === 'STORE_DAMAGED') return false
      throw error
    }
  }
}

function pathIn(folder: BytePath, path: BytePath): BytePath {
  return path === ROOT ? folder : joinPath(folder, path)
}

function one(lack: Lack): MissingObjects {
  return { lacks: [lack], count: 1 }
}

function join(parts: readonly MissingObjects[]): MissingObjects {
  return {
    lacks: parts.flatMap(({ lacks }) => lacks).slice(0, MAX_LACKS),
    count: parts.reduce((sum, { count }) => sum + count, 0),
  }
}
