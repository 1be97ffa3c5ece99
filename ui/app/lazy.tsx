// Loads a view when it is first shown. Preact's own `lazy` is in preact/compat, which is larger than the rest of Preact.
import type { ComponentChildren, ComponentType, VNode } from 'preact'
import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'

const Fallback = createContext<ComponentChildren>(null)

export function Suspense(props: {
  readonly fallback: ComponentChildren
  readonly children: ComponentChildren
}): VNode {
  return <Fallback.Provider value={props.fallback}>{props.children}</Fallback.Provider>
}

export function lazy(load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | undefined
  return function Lazy(): VNode {
    const fallback = useContext(Fallback)
    const [, setReady] = useState(loaded !== undefined)
    useEffect(() => {
      if (loaded !== undefined) return
      void load().then((component) => {
        loaded = component
        setReady(true)
      })
    }, [])
    const Shown = loaded
    return Shown === undefined ? <>{fallback}</> : <Shown />
  }
}
