import type { VNode } from 'preact'

export function Checkpoint(): VNode {
  return <div class="view" data-view="checkpoint" data-state="loading" />
}
