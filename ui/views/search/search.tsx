import type { VNode } from 'preact'

export function Search(): VNode {
  return <div class="view" data-view="search" data-state="loading" />
}
