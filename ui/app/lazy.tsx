// Loads a view or dialog when it is first shown. Preact's own `lazy` is in preact/compat, which is larger than the rest of Preact.
import type { ComponentChildren, ComponentType, VNode } from 'preact'
import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { ErrorMessage } from '../components/states.js'
import { reportError } from './errors.js'
import { serverGone } from './transport.js'

const Fallback = createContext<ComponentChildren>(null)

export function Suspense(props: {
  readonly fallback: ComponentChildren
  readonly children: ComponentChildren
}): VNode {
  return <Fallback.Provider value={props.fallback}>{props.children}</Fallback.Provider>
}

export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props): VNode {
    const fallback = useContext(Fallback)
    const [, setReady] = useState(loaded !== undefined)
    const [isGone, setGone] = useState(false)
    useEffect(() => {
      if (loaded !== undefined) return
      load().then(
        (component) => {
          loaded = component
          setReady(true)
        },
        (error: unknown) => {
          // The file could not be loaded.
          if (error instanceof TypeError) setGone(true)
          else reportError(error)
        },
      )
    }, [])
    const Shown = loaded
    if (isGone && Shown === undefined) return <ErrorMessage error={serverGone()} />
    return Shown === undefined ? <>{fallback}</> : <Shown {...props} />
  }
}
