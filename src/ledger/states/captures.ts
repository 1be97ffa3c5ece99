// A save that must wait, for files or for an earlier call, stores the state as it was when the call was made: the caller may
// change it meanwhile. So the state is copied element by element at the call. The copy of an element is kept, and used
// again by the next such save if the element has not changed.
import { isObject, isUnchanged, recordShape, type ShapeRecord } from '../../base/index.js'
import type { EncodeOptions } from '../../model/index.js'
import { copyValue } from './copy-value.js'
import type { Layout, Spread } from './layout.js'
import { isOrdinary } from './match-slots.js'

export type Capture = {
  /** The caller's object. */
  readonly original: object
  readonly copy: unknown
  /** Of the original, when it was copied. */
  readonly record: ShapeRecord | undefined
}

/** One per session and process. */
export class Captures {
  readonly #byOriginal = new WeakMap<object, Capture>()
  readonly #byCopy = new WeakMap<object, Capture>()

  /** Undefined for a value that is not a copy made here. */
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
