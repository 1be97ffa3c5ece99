// The body of a state: JSON with one part for each of its keys.
//
//   12  "text"  null  true      a small primitive, as itself
//   ["element",7]               any other value: the id of an element
//   ["list",6000,2,41]          an array: length, height and topmost node of its tree
//   ["entries",50,1,9]          a large object: a list of [key, value]
//   {"key":part,…}              an object whose keys are stored one by one, in their order
//
// The body is [format, mark, root]. A sealed body is ["sealed", sealed text of all that, references]. The references are the parts
// that lead to elements and lists, so that a collection finds the rows in use without the key.
import type { StateId } from '../../model/index.js'
import type { SealContext, SealingKey, Vault } from '../encryption/index.js'
import { malformedError, newerFormError } from './gc/damage.js'

export type Primitive = string | number | boolean | null

/** `node` is 0 for an empty list, which has no node. */
export type Tree = { readonly length: number; readonly height: number; readonly node: number }

export type ObjectPart = {
  readonly kind: 'object'
  readonly entries: readonly (readonly [key: string, part: Part])[]
}

export type ListPart = { readonly kind: 'list' | 'entries'; readonly tree: Tree }

export type Reference = { readonly kind: 'element'; readonly id: number } | ListPart

export type Part =
  | { readonly kind: 'primitive'; readonly value: Primitive }
  | Reference
  | ObjectPart

export type StateBody = {
  /** Distinguishes this row from a rolled back one that had the same id. */
  readonly mark: string
  readonly root: Part
}

const FORMAT = 2
/** Higher than the tree of any list that fits on a disk. */
const MAX_HEIGHT = 40

const SEALED = 'sealed'
/** The start of a sealed body, before the sealed text. */
const SEALED_BODY = `["${SEALED}","`

export const EMPTY_TREE: Tree = { length: 0, height: 0, node: 0 }

/** `root` is the result of `partText`. */
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
      // Not JSON.stringify of an object: a key may be `__proto__`.
      return `{${part.entries.map(([key, inner]) => `${JSON.stringify(key)}:${partText(inner)}`).join()}}`
    default:
      return `["${part.kind}",${part.tree.length},${part.tree.height},${part.tree.node}]`
  }
}

/** The parts that lead to elements and lists, in order. */
export function collectReferences(part: Part): readonly Reference[] {
  if (part.kind === 'primitive') return []
  if (part.kind === 'object') return part.entries.flatMap(([, inner]) => collectReferences(inner))
  return [part]
}

/** `body` is the result of `bodyText`. Without a key, returns it unchanged. */
export function sealBody(
  body: string,
  { id, root, key }: { readonly id: StateId; readonly root: Part; key: SealingKey | undefined },
): string {
  if (key === undefined) return body
  const references = `[${collectReferences(root).map(partText).join()}]`
  return `${SEALED_BODY}${key.seal(body, bodyContext(id, references))}",${references}]`
}

/** The body without its seal; undefined if it was altered. Throws KEY_MISSING, KEY_WRONG. */
export function openBody(body: string, id: StateId, vault: Vault): string | undefined {
  if (!body.startsWith(SEALED_BODY)) return body
  const end = body.indexOf('"', SEALED_BODY.length)
  return vault.open(body.slice(SEALED_BODY.length, end), bodyContext(id, body.slice(end + 2, -1)))
}

/** The references are not encrypted, but a change of them makes the seal invalid. */
function bodyContext(id: StateId, references: string): SealContext {
  return ['states', id, references]
}

/**
 * Reads only the references of a sealed body, as an object with their indexes as keys. Throws STATE_UNREADABLE if the body is
 * malformed, or of a newer format.
 */
export function parseBody(text: string, state: StateId): StateBody {
  try {
    const [format, mark, root] = listIn(JSON.parse(text))
    if (typeof format === 'number' && format > FORMAT) throw newerFormError(state)
    if (format === SEALED) {
      const entries = listIn(root).map((part, index) => [String(index), partOf(part)] as const)
      return { mark: '', root: { kind: 'object', entries } }
    }
    if (format !== FORMAT || typeof mark !== 'string') throw new InvalidBody()
    return { mark, root: partOf(root) }
  } catch (cause) {
    if (cause instanceof SyntaxError || cause instanceof InvalidBody)
      throw malformedError('a row of another form', { state, cause })
    throw cause
  }
}

/** Thrown and caught here, for JSON that is not a body. */
class InvalidBody extends Error {}

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
  throw new InvalidBody()
}

function treeOf(json: readonly unknown[]): Tree {
  const [length, height, node] = [countIn(json[0]), countIn(json[1]), countIn(json[2])]
  if (height > MAX_HEIGHT || (length === 0) !== (node === 0)) throw new InvalidBody()
  return { length, height, node }
}

function countIn(json: unknown): number {
  if (typeof json === 'number' && Number.isSafeInteger(json) && json >= 0) return json
  throw new InvalidBody()
}

function listIn(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json
  throw new InvalidBody()
}

function isPrimitive(json: unknown): json is Primitive {
  return typeof json !== 'object' || json === null
}
