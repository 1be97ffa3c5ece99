// Loads a view or dialog when it is first shown. Preact's own `lazy` is in preact/compat, which is larger than the rest of Preact.
import type { ComponentChildren, ComponentType, VNode } from 'preact'
import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { reportError } from './errors.js'

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
    useEffect(() => {
      if (loaded !== undefined) return
      load().then((component) => {
        loaded = component
        setReady(true)
      }, reportError)
    }, [])
    const Shown = loaded
    return Shown === undefined ? <>{fallback}</> : <Shown {...props} />
  }
}
