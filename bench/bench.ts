/**
 * Shared by the rows: trees and arenas, created on first use.
 * An arena is one tree with the stores of all contestants.
 */
import { join } from 'node:path'
import { type Child, startChild } from './child-process.js'
import { type Contestant, timed } from './measure.js'
import {
  capturedPaths,
  type HermesPeer,
  hermesPeer,
  hermesWithoutReadTree,
  opencodePeer,
  type Peer,
  shadowPeer,
} from './peers/peers.js'
import type { Scratch } from './scratch.js'
import { changeableOf, changeFile, SHAPES, type ShapeName, type TreeFacts } from './trees/tree.js'

export interface Tree {
  readonly name: string
  readonly path: string
  readonly facts: TreeFacts
  /** Changes a file that was not changed before, and returns its path. */
  change(): string
}

export interface Arena {
  readonly tree: Tree
  readonly dir: string
  readonly home: string
  readonly hermes: HermesPeer
  readonly shadow: Peer
  readonly opencode: Peer
}

/** A tree is generated from a shape, or is a copy of a real folder. */
export type TreeSource = { readonly shape: ShapeName } | { readonly copyOf: string; name: string }

export interface Bench {
  readonly scratch: Scratch
  readonly quick: boolean
  readonly log: (text: string) => void
  tree(source: TreeSource): Promise<Tree>
  /** The stores of all contestants for a tree, with at least one save in each. */
  arena(source: TreeSource): Promise<Arena>
  /** Lets later rows reuse an arena whose first saves this row made. */
  keep(arena: Arena): void
}

export function openBench(common: Pick<Bench, 'scratch' | 'quick' | 'log'>): Bench {
  const trees = new Map<string, Promise<Tree>>()
  const arenas = new Map<string, Arena>()

  const bench: Bench = {
    ...common,
    tree(source) {
      const name = treeName(source)
      const made = trees.get(name) ?? makeTree(bench, source)
      trees.set(name, made)
      return made
    },
    async arena(source) {
      const tree = await bench.tree(source)
      const kept = arenas.get(tree.name)
      if (kept !== undefined) return kept
      bench.log(`first saves of ${tree.name}, not counted`)
      const arena = await newArena(bench, tree)
      for (const peer of [arena.hermes, arena.shadow, arena.opencode]) await peer.save()
      await withOurs(arena, (child) => child.ask({ kind: 'save', probed: false }))
      bench.keep(arena)
      return arena
    },
    keep(arena) {
      arenas.set(arena.tree.name, arena)
    },
  }
  return bench
}

/** Values for several rows, created on first use. */
export function shared<T>(make: (bench: Bench) => Promise<T>): (bench: Bench) => Promise<T> {
  const made = new WeakMap<Bench, Promise<T>>()
  return (bench) => {
    const result = made.get(bench) ?? make(bench)
    made.set(bench, result)
    return result
  }
}

export function treeName(source: TreeSource): string {
  return 'shape' in source ? source.shape : source.name
}

async function makeTree({ scratch, log }: Bench, source: TreeSource): Promise<Tree> {
  const name = treeName(source)
  const path = scratch.path(`tree-${name}`)
  const child = startChild()
  try {
    log(`making tree ${name}`)
    if ('shape' in source) {
      const facts = await child.ask({ kind: 'grow', root: path, shape: SHAPES[source.shape] })
      return changingTree({ name, path, facts })
    }
    const facts = await child.ask({ kind: 'copy', from: source.copyOf, to: path })
    const listed = await capturedPaths({ tree: path, dir: scratch.folder('listing') })
    const changeable = changeableOf(path, listed)
    return changingTree({ name, path, facts: { ...facts, changeable } })
  } finally {
    await child.end()
  }
}

function changingTree(tree: Omit<Tree, 'change'>): Tree {
  let changes = 0
  return {
    ...tree,
    change() {
      const path = tree.facts.changeable[changes]
      if (path === undefined) throw new Error(`Every file of ${tree.name} has been changed once`)
      changes += 1
      changeFile(path, changes)
      return path
    },
  }
}

/** New, empty stores for all contestants. */
export async function newArena({ scratch }: Bench, tree: Tree): Promise<Arena> {
  const dir = scratch.folder(`arena-${tree.name}`)
  const place = { tree: tree.path, dir }
  return {
    tree,
    dir,
    home: join(dir, 'savestate'),
    hermes: await hermesPeer(place),
    shadow: await shadowPeer(place),
    opencode: await opencodePeer(place),
  }
}

/** The peers as contestants in saving one change; (a) also without its `read-tree`. */
export function warmPeers({ hermes, shadow, opencode }: Arena): readonly Contestant[] {
  return [hermes, hermesWithoutReadTree(hermes), shadow, opencode].map(asContestant)
}

/** Times a peer, and checks that it stores a new tree each time. */
export function asContestant(peer: Peer): Contestant {
  let last: string | undefined
  return {
    name: peer.name,
    async time() {
      let saved: string | undefined
      const ms = await timed(async () => {
        saved = await peer.save()
      })
      if (saved === last) throw new Error(`${peer.name} saved nothing`)
      last = saved
      return ms
    },
  }
}

export const OURS = 'savestate'

/** Runs work with a new child in which the store is open. */
export async function withOurs<T>(
  { home, tree }: { home: string; tree: Tree },
  work: (child: Child) => Promise<T>,
  { watch }: { readonly watch: boolean } = { watch: false },
): Promise<T> {
  const child = startChild()
  try {
    await child.ask({ kind: 'open', home, tree: tree.path, watch })
    const result = await work(child)
    await child.ask({ kind: 'close' })
    return result
  } finally {
    await child.end()
  }
}

/** The milliseconds of one save in a child, which must create a checkpoint. */
export async function saveInChild(child: Child): Promise<number> {
  const { ms, created } = await child.ask({ kind: 'save', probed: false })
  if (!created) throw new Error('Savestate made no checkpoint of a changed tree')
  return ms
}
