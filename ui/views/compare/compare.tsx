import type { VNode } from 'preact'

export function Compare(): VNode {
  return <div class="view" data-view="compare" data-state="loading" />
}
