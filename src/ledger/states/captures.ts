// Copies the state for a save that must wait for files or for an earlier call: the caller may change the state meanwhile. It copies
// element by element, and the next such save reuses the copy of an element that has not changed.
import { isObject, isUnchanged, recordShape, type ShapeRecord } from '../../base/index.js'
import { decodeValue, type EncodeOptions, encodeValue } from '../../model/index.js'
import type { Layout, Spread } from './layout.js'
import { isOrdinary } from './match-slots.js'

export type Capture = {
  /** The caller's object. */
  readonly original: object
  readonly copy: unknown
  /** The shape of the original when it was copied. */
  readonly record: ShapeRecord | undefined
}

/** Returns the value that a read would return after a write of this one. Throws STATE_UNSTORABLE. */
export function copyValue(value: unknown, options: EncodeOptions = {}): unknown {
  const { text, plain } = encodeValue(value, options)
  return decodeValue(text, { plain, classes: options.classes })
}

/** One per session and process. */
export class Captures {
  readonly #byOriginal = new WeakMap<object, Capture>()
  readonly #byCopy = new WeakMap<object, Capture>()

  /** Undefined if the value is not a copy from here. */
  of(value: object): Capture | undefined {
    return this.#byCopy.get(value)
  }

  /** Throws STATE_UNSTORABLE, with the path, for a value that cannot be copied. */
  copyLayout(layout: Layout, classes: EncodeOptions['classes']): Layout {
    if (layout.kind === 'primitive') return layout
    if (layout.kind !== 'object') return { ...layout, values: this.#copySpread(layout, classes) }
    const entries = layout.entries.map(
      ([key, inner]) => [key, this.copyLayout(inner, classes)] as const,
    )
    return { kind: 'object', entries }
  }

  copyElement(value: unknown, options: EncodeOptions): unknown {
    const known = isObject(value) ? this.#byOriginal.get(value) : undefined
    if (known?.record !== undefined && isUnchanged(known.record)) return known.copy
    const copy = copyValue(value, options)
    if (!isObject(value) || !isObject(copy)) return copy
    const record = recordShape(value, (object) => isOrdinary(object, options.classes))
    const capture = { original: value, copy, record }
    this.#byOriginal.set(value, capture)
    this.#byCopy.set(copy, capture)
    return copy
  }

  #copySpread(
    { kind, path, values, keys, containers }: Spread,
    classes: EncodeOptions['classes'],
  ): unknown[] {
    return values.map((value, index) => {
      const inside = kind === 'value' ? path : [...path, keys?.[index] ?? index]
      return this.copyElement(value, { path: inside, containers, classes })
    })
  }
}
