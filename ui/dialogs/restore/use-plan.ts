// Keeps the plan of the restore dialog current while the dialog is open: makes it again every two seconds and after each change of
// the store. Nothing can be applied that is not the plan on the screen.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Plan, PlanInput } from '../../../src/ui/api.js'
import { storeVersion } from '../../app/model.js'
import { call, RequestError } from '../../app/transport.js'
import { showsSame } from './selection.js'

const AGAIN_MS = 2000
/** Most errors last, such as that there is nothing to undo. */
const AFTER_ERROR_MS = 10_000
/** A plan that replaced another one must be on the screen for this long before it can be applied. */
const SHOWN_MS = 1000

export type CurrentPlan = {
  /** The last one; undefined until the first answer. */
  readonly plan: Plan | undefined
  /** The plan is for other choices than the current ones: a new one is being made. */
  readonly isOutdated: boolean
  /** The folder or the store has changed, and this plan replaced another one. */
  readonly hasChanged: boolean
  /** It is on the screen for long enough. */
  readonly isShown: boolean
  readonly error: RequestError | undefined
  /** Stops making plans while one is applied. */
  readonly pause: () => void
  /** Makes a new plan. `isStale`: it is shown as a changed one even if it is equal. */
  readonly resume: (options: { readonly isStale: boolean }) => void
}

type Shown = {
  readonly plan: Plan
  readonly key: string
  readonly hasChanged: boolean
}

export function usePlan(input: PlanInput): CurrentPlan {
  const key = JSON.stringify(input)
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  const [error, setError] = useState<RequestError | undefined>(undefined)
  // How many plans replaced another one, and how many of these were on the screen for long enough.
  const [changes, setChanges] = useState(0)
  const [seen, setSeen] = useState(0)
  const isPaused = useRef(false)
  const isStale = useRef(false)
  const known = useRef<Shown | undefined>(undefined)
  const wake = useRef<() => void>(() => undefined)

  useEffect(() => {
    const receive = (plan: Plan) => {
      const before = known.current
      const isForSameChoices = before?.key === key
      const isSame = isForSameChoices && showsSame(before.plan, plan) && !isStale.current
      const hasChanged = isSame ? before.hasChanged : isForSameChoices
      isStale.current = false
      const next = { plan, key, hasChanged }
      known.current = next
      setShown(next)
      setError(undefined)
      if (!isSame && isForSameChoices) setChanges((number) => number + 1)
    }
    const controller = new AbortController()
    const stop = repeat(async () => {
      if (document.visibilityState === 'hidden' || isPaused.current) return AGAIN_MS
      try {
        const plan = await call('plan', JSON.parse(key) as PlanInput, {
          signal: controller.signal,
        })
        if (!controller.signal.aborted && !isPaused.current) receive(plan)
      } catch (reason) {
        if (controller.signal.aborted) return AGAIN_MS
        if (!(reason instanceof RequestError)) throw reason
        setError(reason)
        return AFTER_ERROR_MS
      }
      return AGAIN_MS
    })
    wake.current = stop.wake
    return () => {
      controller.abort()
      stop.end()
    }
  }, [key])

  const version = storeVersion.value
  const plannedVersion = useRef(version)
  useEffect(() => {
    if (plannedVersion.current === version) return
    plannedVersion.current = version
    // A plan that fails may record its failure in the store: it must not cause the next one.
    if (error === undefined) wake.current()
  }, [version])

  useEffect(() => {
    const timer = window.setTimeout(() => setSeen(changes), SHOWN_MS)
    return () => window.clearTimeout(timer)
  }, [changes])

  return {
    plan: shown?.plan,
    isOutdated: shown?.key !== key,
    hasChanged: shown?.hasChanged === true && shown.key === key,
    isShown: seen === changes,
    error,
    pause: useCallback(() => {
      isPaused.current = true
    }, []),
    resume: useCallback((options: { readonly isStale: boolean }) => {
      isPaused.current = false
      isStale.current = options.isStale
      wake.current()
    }, []),
  }
}

/** Runs the task now, after the time that it returns, and as soon as possible after each `wake`; never twice at once. */
function repeat(task: () => Promise<number>): {
  readonly wake: () => void
  readonly end: () => void
} {
  let timer = 0
  let isRunning = false
  let isAwake = false
  let isEnded = false
  const run = async () => {
    window.clearTimeout(timer)
    isRunning = true
    let waitMs: number
    do {
      isAwake = false
      waitMs = await task()
    } while (isAwake && !isEnded)
    isRunning = false
    if (!isEnded) timer = window.setTimeout(() => void run(), waitMs)
  }
  void run()
  return {
    wake: () => {
      if (isRunning) isAwake = true
      else if (!isEnded) void run()
    },
    end: () => {
      isEnded = true
      window.clearTimeout(timer)
    },
  }
}
