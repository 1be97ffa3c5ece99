// Texts of the view of the store. Pure.
import type { Output, StorePage } from '../../../src/ui/api.js'
import { count } from '../../components/format.js'

type Limits = StorePage['status']['limits']
type PruneResult = Output<'prunePreview'>['result']
type Points = PruneResult['plan']['unattached']
type Why = Points['drop'][number]['why']

export function retentionText({ retention, maxSizeMb, maxCheckpoints }: Limits): string {
  const size = `${maxSizeMb.toLocaleString('en')} MB`
  return retention === 'hermes'
    ? `Kept: the newest ${count(maxCheckpoints, 'checkpoint')} of each project, within ${size}. Pinned and named ones stay.`
    : `Kept: every checkpoint for two days, then one per prompt for a month, then one per day for a year, all within ${size}, unless your settings say otherwise. Pinned and named ones stay.`
}

const REASONS: Readonly<Record<Why, string>> = {
  orphan: 'the folder is gone',
  prompts: 'thinned to one per prompt',
  days: 'thinned to one per day',
  age: 'too old',
  count: 'over the number to keep',
  size: 'to come under the size limit',
}

export type Removal = { readonly reason: string; readonly checkpoints: number }

/** How many checkpoints would be removed, by reason, the largest number first. */
export function removalsOf({ plan }: PruneResult): readonly Removal[] {
  const counts = new Map<string, number>()
  const drops = [...plan.projects, plan.unattached].flatMap(({ drop }) => drop)
  for (const { why, keepsState } of drops) {
    const reason = keepsState === true ? 'only their files, the conversation stays' : REASONS[why]
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts]
    .map(([reason, checkpoints]) => ({ reason, checkpoints }))
    .sort((a, b) => b.checkpoints - a.checkpoints)
}

/** A whole number of at least 1; undefined for an empty field, null for anything else. */
export function parseLimit(text: string): number | undefined | null {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^[1-9]\d{0,8}$/.test(trimmed) ? Number(trimmed) : null
}
