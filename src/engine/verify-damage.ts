// Checkpoints that cannot be read whole, by objects or by state, and the marks that say so to everybody.
import type { Ledger } from '../ledger/index.js'
import { pathText } from '../model/index.js'
import type { Lacks, ObjectReport } from '../snapshot/index.js'
import { type Damage, damageOf, parseDamage } from './damage.js'
import { type Finding, some } from './findings.js'
import { removeCaches } from './verify-objects.js'

export function checkWholeness(
  ledger: Ledger,
  report: ObjectReport,
  states: ReadonlyMap<string, string>,
): Finding[] {
  const rows = ledger.rowChecks.filesRows()
  const lacksOf = new Map(rows.map(({ id, tree }) => [String(id), report.lacks.get(tree)]))
  const marked = ledger.marks.damaged()
  const wanted = new Map<string, Damage>()
  for (const id of new Set([...lacksOf.keys(), ...states.keys()])) {
    const damage = damageOf(lacksOf.get(id), states.get(id))
    if (damage !== undefined) wanted.set(id, damage)
  }
  // A state that is gone with its row is missed by nobody but the mark.
  for (const [id, text] of marked) {
    const damage = parseDamage(text)
    if (!damage.isStateLost) continue
    const now = wanted.get(id) ?? { ...damage, paths: [], fileCount: 0, isUnknown: false }
    wanted.set(id, { ...now, state: damage.state, isStateLost: true })
  }
  const lacking = [...lacksOf].flatMap(([checkpoint, lacks]): Finding[] =>
    lacks === undefined
      ? []
      : [
          {
            kind: 'objects',
            message: lackText(lacks),
            checkpoint,
            severity: 'damage',
            repairable: false,
          },
        ],
  )
  const lost = [...wanted].flatMap(([checkpoint, { isStateLost, state }]): Finding[] =>
    isStateLost
      ? [
          {
            kind: 'state',
            message: `its state is lost: ${state}`,
            checkpoint,
            severity: 'damage',
            repairable: false,
          },
        ]
      : [],
  )
  return [...lacking, ...lost, ...markFindings(marked, wanted)]
}

function markFindings(
  marked: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, Damage>,
): Finding[] {
  const texts = new Map([...wanted].map(([id, damage]) => [id, JSON.stringify(damage)]))
  const unmarked = [...texts.keys()].filter((id) => marked.get(id) !== texts.get(id))
  const healed = [...marked.keys()].filter((id) => !texts.has(id))
  if (unmarked.length === 0 && healed.length === 0) return []
  const message = [
    unmarked.length === 0 ? [] : `damaged, but not marked as such: ${some(unmarked)}`,
    healed.length === 0 ? [] : `marked as damaged, but intact again: ${some(healed)}`,
  ]
    .flat()
    .join('; ')
  return [
    {
      kind: 'ledger',
      message,
      checkpoint: null,
      severity: 'note',
      repairable: true,
      fix: {
        stage: 'marks',
        action: 'update which checkpoints are marked as damaged',
        run({ care }) {
          removeCaches(care)
          care.ledger?.marks.markDamaged(texts)
        },
      },
    },
  ]
}

function lackText({ lacks, count }: Lacks): string {
  const trees = lacks.filter(({ type }) => type !== 'file')
  const names = some(lacks.map(({ path }) => (path === '' ? 'the folder itself' : pathText(path))))
  const what = trees.length > 0 ? 'folders or modes' : count === 1 ? 'a file' : `${count} files`
  return `${what} cannot be restored: ${names}`
}
