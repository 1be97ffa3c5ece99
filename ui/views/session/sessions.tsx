import type { VNode } from 'preact'

export function Sessions(): VNode {
  return <div class="view" data-view="sessions" data-state="loading" />
}
