import type { VNode } from 'preact'

export function FileHistory(): VNode {
  return <div class="view" data-view="file" data-state="loading" />
}
