import type { VNode } from 'preact'

export function StoreView(): VNode {
  return <div class="view" data-view="store" data-state="loading" />
}
