import type { VNode } from 'preact'

export function SessionView(): VNode {
  return <div class="view" data-view="session" data-state="loading" />
}
