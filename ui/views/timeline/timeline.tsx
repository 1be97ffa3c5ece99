import type { VNode } from 'preact'

export function Timeline(): VNode {
  return <div class="view" data-view="timeline" data-state="loading" />
}
