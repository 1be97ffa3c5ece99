// The row of a state: what stands under each key. As JSON, with a part for each:
//
//   12  "text"  null  true      a small primitive, as itself
//   ["element",7]               any other value: the id of an element
//   ["list",6000,2,41]          an array: length, height and topmost node of its tree
//   ["entries",50,1,9]          a large object: a list of [key, value]
//   {"key":part,…}              an object whose keys are stored one by one, in their order
//
// The row itself is [format, mark, root]. A sealed one is
// ["sealed", all of that as a sealed text, references], with every part of the root that leads to an element or a
// list: what is in use can be told without the key.
import type { StateId } from '../../model/index.js'
import { malformedError, newerFormError } from './gc/damage.js'

export type Primitive = string | number | boolean | null

/** An empty list has no node; its number is 0. */
export type Tree = { readonly length: number; readonly height: number; readonly node: number }

export type ObjectPart = {
  readonly kind: 'object'
  readonly entries: readonly (readonly [key: string, part: Part])[]
}

export type ListPart = { readonly kind: 'list' | 'entries'; readonly tree: Tree }

export type Part =
  | { readonly kind: 'primitive'; readonly value: Primitive }
  | { readonly kind: 'element'; readonly id: number }
  | ListPart
  | ObjectPart

export type StateBody = {
  /** Tells this row from any other that may once have had its id. */
  readonly mark: string
  readonly root: Part
}

const FORMAT = 2
/** No list that fits on a disk has a higher tree. */
const MAX_HEIGHT = 40

const SEALED = 'sealed'
/** What stands in front of the sealed text. */
export const SEALED_BODY = `["${SEALED}","`

export const EMPTY_TREE: Tree = { length: 0, height: 0, node: 0 }

/** `root` is what `partText` gives. */
export function bodyText({ mark, root }: { readonly mark: string; readonly root: string }): string {
  return `[${FORMAT},${JSON.stringify(mark)},${root}]`
}

export function partText(part: Part): string {
  switch (part.kind) {
    case 'primitive':
      return JSON.stringify(part.value)
    case 'element':
      return `["element",${part.id}]`
    case 'object':
      // As text, for a key may be `__proto__`.
      return `{${part.entries.map(([key, inner]) => `${JSON.stringify(key)}:${partText(inner)}`).join()}}`
    default:
      return `["${part.kind}",${part.tree.length},${part.tree.height},${part.tree.node}]`
  }
}

/** What a sealed row tells everybody. */
export function collectReferences(part: Part): readonly Part[] {
  if (part.kind === 'primitive') return []
  if (part.kind === 'object') return part.entries.flatMap(([, inner]) => collectReferences(inner))
  return [part]
}

export function referencesText(references: readonly Part[]): string {
  return `[${references.map(partText).join()}]`
}

export function sealedBodyText({ sealed, references }: SealedBody): string {
  return `${SEALED_BODY}${sealed}",${references}]`
}

export type SealedBody = {
  readonly sealed: string
  /** As JSON. */
  readonly references: string
}

/** Undefined for a row that is not sealed. */
export function parseSealedBody(text: string): SealedBody | undefined {
  if (!text.startsWith(SEALED_BODY)) return undefined
  const end = text.indexOf('"', SEALED_BODY.length)
  return {
    sealed: text.slice(SEALED_BODY.length, end),
    references: text.slice(end + 2, -1),
  }
}

/**
 * Of a sealed row only the references, without names and as one object: enough to tell what is in use.
 * Throws STATE_UNREADABLE for what no version, or only a newer one, has written.
 */
export function parseBody(text: string, state: StateId): StateBody {
  try {
    const [format, mark, root] = listIn(JSON.parse(text))
    if (typeof format === 'number' && format > FORMAT) throw newerFormError(state)
    if (format === SEALED) {
      const entries = listIn(root).map((part, index) => [String(index), partOf(part)] as const)
      return { mark: '', root: { kind: 'object', entries } }
    }
    if (format !== FORMAT || typeof mark !== 'string') throw new Misfit()
    return { mark, root: partOf(root) }
  } catch (cause) {
    if (cause instanceof SyntaxError || cause instanceof Misfit)
      throw malformedError('a row of another form', { state, cause })
    throw cause
  }
}

/** Thrown and caught here: text that is JSON, but no body. */
class Misfit extends Error {}

function partOf(json: unknown): Part {
  if (isPrimitive(json)) return { kind: 'primitive', value: json }
  if (!Array.isArray(json)) {
    const entries = Object.entries(Object(json)).map(([key, part]) => [key, partOf(part)] as const)
    return { kind: 'object', entries }
  }
  const [kind, ...rest]: readonly unknown[] = json
  switch (kind) {
    case 'element':
      return { kind, id: countIn(rest[0]) }
    case 'list':
    case 'entries':
      return { kind, tree: treeOf(rest) }
  }
  throw new Misfit()
}

function treeOf(json: readonly unknown[]): Tree {
  const [length, height, node] = [countIn(json[0]), countIn(json[1]), countIn(json[2])]
  if (height > MAX_HEIGHT || (length === 0) !== (node === 0)) throw new Misfit()
  return { length, height, node }
}

function countIn(json: unknown): number {
  if (typeof json === 'number' && Number.isSafeInteger(json) && json >= 0) return json
  throw new Misfit()
}

function listIn(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json
  throw new Misfit()
}

function isPrimitive(json: unknown): json is Primitive {
  return typeof json !== 'object' || json === null
}
