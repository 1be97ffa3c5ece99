// What is known of each path of a project: how it looked when it was last read, and what it became.
import type { BigIntStats } from 'node:fs'
import type { BytePath, ObjectId, SkipReason } from '../../model/index.js'
import { treeOrder } from '../objects/tree.js'

/** Enough of `lstat` to tell whether anything about a path has changed. */
export type Stamp = {
  size: number
  mtimeNs: bigint
  ctimeNs: bigint
  ino: bigint
}

type Common = Stamp & {
  readonly name: BytePath
  /** Read late enough after its last change that a further change must show in the stamp. */
  settled: boolean
  /** Held by a recorded checkpoint: what has this can be taken to be in the store. */
  kept: boolean
}

export type ContentNode = Common & {
  readonly kind: 'file' | 'link'
  mode: number
  /** Undefined while it waits to be hashed. */
  id: ObjectId | undefined
  /** Number of lines, if it was read in this process. */
  lines: number | undefined
  /** Captured only because the project's own git tracks it. */
  readonly viaIndex: boolean
}

export type FolderNode = Common & {
  readonly kind: 'folder'
  mode: number
  children: Node[]
  /** Undefined when something inside has changed. */
  id: ObjectId | undefined
  /** The ignore rules that `children` was decided by; empty when it must be decided anew. */
  rulesKey: string
  /** Identity and content hash of the ignore files in this folder. */
  ignoreStamp: string
  ignoreKey: string
  readonly viaIndex: boolean
}

export type SkippedNode = Common & {
  readonly kind: 'skipped'
  readonly reason: SkipReason
  readonly isFolder: boolean
}

export type Node = ContentNode | FolderNode | SkippedNode

export const NO_STAMP: Stamp = { size: 0, mtimeNs: 0n, ctimeNs: 0n, ino: 0n }

export function newFolder(name: BytePath, options: { readonly viaIndex: boolean }): FolderNode {
  return {
    ...NO_STAMP,
    kind: 'folder',
    name,
    settled: false,
    kept: false,
    mode: 0o755,
    children: [],
    id: undefined,
    rulesKey: '',
    ignoreStamp: '',
    ignoreKey: '',
    viaIndex: options.viaIndex,
  }
}

export function newContent(
  name: BytePath,
  options: { readonly kind: 'file' | 'link'; readonly viaIndex: boolean },
): ContentNode {
  return {
    ...NO_STAMP,
    ...options,
    name,
    settled: false,
    kept: false,
    mode: 0o644,
    id: undefined,
    lines: undefined,
  }
}

export function newSkipped(
  name: BytePath,
  options: {
    readonly reason: SkipReason
    readonly isFolder: boolean
    readonly stats?: BigIntStats
  },
): SkippedNode {
  const { reason, isFolder, stats } = options
  const stamp =
    stats === undefined
      ? NO_STAMP
      : { size: Number(stats.size), mtimeNs: stats.mtimeNs, ctimeNs: stats.ctimeNs, ino: stats.ino }
  return { ...stamp, kind: 'skipped', name, reason, isFolder, settled: true, kept: true }
}

export function isCaptured(node: Node): node is ContentNode | FolderNode {
  return node.kind !== 'skipped'
}

export function byTreeOrder(a: Node, b: Node): number {
  return treeOrder(a.name, a.kind === 'folder') < treeOrder(b.name, b.kind === 'folder') ? -1 : 1
}

/** Every node below, with its path; a folder before what it holds. */
export function* nodesBelow(folder: FolderNode, path = ''): Generator<readonly [BytePath, Node]> {
  for (const child of folder.children) {
    const childPath = (path === '' ? child.name : `${path}/${child.name}`) as BytePath
    yield [childPath, child]
    if (child.kind === 'folder') yield* nodesBelow(child, childPath)
  }
}

export function findNode(root: FolderNode, path: BytePath): Node | undefined {
  let node: Node = root
  for (const name of path.split('/')) {
    if (node.kind !== 'folder') return undefined
    const child: Node | undefined = node.children.find((candidate) => candidate.name === name)
    if (child === undefined) return undefined
    node = child
  }
  return node
}
