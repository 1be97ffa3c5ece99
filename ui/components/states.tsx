// The states that every view has besides its content: loading, error, empty.
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { RequestError } from '../app/transport.js'

export type Loaded<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'error'; readonly error: RequestError }
  | { readonly state: 'ready'; readonly value: Value }

/** Loads again when one of `changes` differs, and keeps the old value until the new one is there. */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  changes: readonly unknown[],
): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' })
  useEffect(() => {
    const controller = new AbortController()
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setLoaded({ state: 'ready', value })
      },
      (error: unknown) => {
        if (controller.signal.aborted) return
        if (!(error instanceof RequestError)) throw error
        setLoaded({ state: 'error', error })
      },
    )
    return () => controller.abort()
  }, changes)
  return loaded
}

export function Loading({ what }: { readonly what: string }): VNode {
  return (
    <p class="state-message" role="status">
      Loading {what} …
    </p>
  )
}

export function ErrorMessage({ error }: { readonly error: RequestError }): VNode {
  return (
    <div class="state-message" data-kind="error" role="alert">
      <p>{error.message}.</p>
      {error.hint === null ? null : <p class="hint">{error.hint}</p>}
      <p class="code">{error.code}</p>
    </div>
  )
}

export function EmptyMessage(props: {
  readonly title: string
  readonly children?: ComponentChildren
}): VNode {
  return (
    <div class="state-message" data-kind="empty">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  )
}
