// Binds the Virtualizer of @tanstack/virtual-core to Preact: a list of which only the visible rows are in the document.
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

export type VirtualList = Virtualizer<HTMLElement, HTMLElement>
type Options = Omit<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'observeElementRect' | 'observeElementOffset' | 'scrollToFn'
>

/** Renders the component again when other rows become visible. A row has `data-index` and `virtualizer.measureElement` as its ref. */
export function useVirtualizer(options: Options): VirtualList {
  const [, update] = useReducer<number, undefined>((count) => count + 1, 0)
  const whole: VirtualizerOptions<HTMLElement, HTMLElement> = {
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    // Otherwise browsers report "ResizeObserver loop completed with undelivered notifications" as an error of the page.
    useAnimationFrameWithResizeObserver: true,
    ...options,
    onChange: (instance, sync) => {
      // Preact renders in a microtask, which is before the next paint.
      update(undefined)
      options.onChange?.(instance, sync)
    },
  }
  const [virtualizer] = useState(() => new Virtualizer(whole))
  virtualizer.setOptions(whole)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}
