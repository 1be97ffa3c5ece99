// Times as text.

const JUST_NOW_MS = 5000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `just now`, `12 s ago`, `3 min ago`, `2 h ago`, `yesterday`, `5 days ago`, else the date; in local time. */
export function relativeTime(time: string | Date, now: Date): string {
  const then = new Date(time)
  const agoMs = now.getTime() - then.getTime()
  // If our clock is a little behind, a fresh checkpoint seems to come from the future.
  if (agoMs < -MINUTE_MS) return localTime(time)
  if (agoMs < JUST_NOW_MS) return 'just now'
  if (agoMs < MINUTE_MS) return `${Math.floor(agoMs / 1000)} s ago`
  if (agoMs < HOUR_MS) return `${Math.floor(agoMs / MINUTE_MS)} min ago`
  if (agoMs < DAY_MS) return `${Math.floor(agoMs / HOUR_MS)} h ago`
  const days = Math.round((midnight(now) - midnight(then)) / DAY_MS)
  if (days <= 1) return 'yesterday'
  return days < 7 ? `${days} days ago` : dateOf(then)
}

/** Date and time to the second, in local time. */
export function localTime(time: string | Date): string {
  const then = new Date(time)
  const parts = [then.getHours(), then.getMinutes(), then.getSeconds()]
  return `${dateOf(then)} ${parts.map(twoDigits).join(':')}`
}

function dateOf(time: Date): string {
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`
}

function midnight(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}
