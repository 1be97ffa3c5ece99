// A time that the user has typed: an age, or a date.
import { SavestateError } from '../../index.js'

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** `30m`, `2h`, `3d`, `1w`, or a date with or without a time; without a zone it is local. Throws BAD_INPUT. */
export function parseSince(text: string, now: Date): Date {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  if (unitMs !== undefined) return new Date(now.getTime() - Number(count) * unitMs)
  // Without a time, `Date.parse` would take the date in UTC.
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text
  const timeMs = /^\d{4}-/.test(text) ? Date.parse(date) : Number.NaN
  if (!Number.isNaN(timeMs)) return new Date(timeMs)
  throw new SavestateError(
    'BAD_INPUT',
    `--since takes an age or a date, not ${JSON.stringify(text)}`,
    {
      hint: 'Such as 30m, 2h, 3d, 1w, 2026-11-01 or 2026-11-01T14:00.',
    },
  )
}
