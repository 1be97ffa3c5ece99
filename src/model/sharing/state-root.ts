// The root part of a state in a segment: the JSON that src/ledger/states/state-body.ts describes, with numbers in place of row ids.
import { isRecord } from '../../base/index.js'
import { segmentFault } from './faults.js'

/** A part that leads to an element, or to the topmost node of a list. An empty list has no node, and is no reference. */
export type RootReference =
  | { readonly kind: 'element'; readonly id: number }
  | {
      readonly kind: 'list' | 'entries'
      readonly id: number
      readonly length: number
      readonly height: number
    }

/** Deeper than any state is divided (src/ledger/states/layout.ts). */
const MAX_DEPTH = 8
const MAX_HEIGHT = 40

/**
 * The same root with other ids: `replace` returns the new id of each reference, in order. Throws BAD_INPUT for a root of another form.
 */
export function mapRoot(root: unknown, replace: (reference: RootReference) => number): unknown {
  return mapPart(root, { replace, depth: 0 })
}

export function referencesOf(root: unknown): readonly RootReference[] {
  const references: RootReference[] = []
  mapRoot(root, (reference) => {
    references.push(reference)
    return reference.id
  })
  return references
}

type Mapping = {
  readonly replace: (reference: RootReference) => number
  readonly depth: number
}

function mapPart(part: unknown, { replace, depth }: Mapping): unknown {
  if (Array.isArray(part)) return mapReference(part, replace)
  if (!isRecord(part)) return part
  if (depth === MAX_DEPTH) throw segmentFault('a state is divided too deeply')
  const mapped = {}
  for (const [key, inner] of Object.entries(part)) {
    const value = mapPart(inner, { replace, depth: depth + 1 })
    // Not an assignment: the key may be `__proto__`.
    Object.defineProperty(mapped, key, { value, enumerable: true, writable: true })
  }
  return mapped
}

function mapReference(
  part: readonly unknown[],
  replace: (reference: RootReference) => number,
): unknown {
  const [kind, first, height, node] = part
  if (kind === 'element' && part.length === 2 && isCount(first))
    return [kind, replace({ kind, id: first })]
  const isTree =
    (kind === 'list' || kind === 'entries') &&
    part.length === 4 &&
    isCount(first) &&
    isCount(height) &&
    isCount(node)
  if (!isTree || height > MAX_HEIGHT || (first === 0) !== (node === 0))
    throw segmentFault('a part of a state has another form')
  if (node === 0) return part
  return [kind, first, height, replace({ kind, id: node, length: first, height })]
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
