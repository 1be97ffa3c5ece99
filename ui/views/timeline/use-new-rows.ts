// Which rows have just appeared: they are highlighted for a moment, and a screen reader hears how many there are.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Row } from '../../../src/ui/api.js'
import { count } from '../../components/text.js'

const HIGHLIGHT_MS = 2500
/** A busy agent saves several times a second; a reader needs time to speak. */
const ANNOUNCE_MS = 10_000
const NONE: ReadonlySet<string> = new Set()

export type NewRows = { readonly ids: ReadonlySet<string>; readonly announcement: string }

export function useNewRows(rows: readonly Row[], project: string): NewRows {
  const [ids, setIds] = useState(NONE)
  const [announcement, setAnnouncement] = useState('')
  const seen = useRef({ project: '', newest: '' })
  const waiting = useRef({ added: 0, timer: 0, lastAt: Number.NEGATIVE_INFINITY })
  useEffect(() => {
    const newest = rows[0]?.id ?? ''
    const before = seen.current
    seen.current = { project, newest }
    if (before.project !== project || before.newest === newest || before.newest === '') return
    const at = rows.findIndex(({ id }) => id === before.newest)
    // The newest row was removed: the rest is not new.
    if (at <= 0) return
    setIds((known) => new Set([...known, ...rows.slice(0, at).map(({ id }) => id)]))
    announce(waiting.current, at, setAnnouncement)
  }, [rows, project])
  useEffect(() => {
    if (ids.size === 0) return undefined
    const timer = window.setTimeout(() => setIds(NONE), HIGHLIGHT_MS)
    return () => window.clearTimeout(timer)
  }, [ids])
  useEffect(() => () => window.clearTimeout(waiting.current.timer), [])
  return { ids, announcement }
}

function announce(
  state: { added: number; timer: number; lastAt: number },
  added: number,
  say: (text: string) => void,
): void {
  state.added += added
  if (state.timer !== 0) return
  const wait = Math.max(0, state.lastAt + ANNOUNCE_MS - performance.now())
  state.timer = window.setTimeout(() => {
    say(count(state.added, 'new checkpoint'))
    Object.assign(state, { added: 0, timer: 0, lastAt: performance.now() })
  }, wait)
}
