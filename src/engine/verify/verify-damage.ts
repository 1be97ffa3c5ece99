// Checks which checkpoints lack objects or their state, and whether the marks in the ledger agree.
import type { Ledger } from '../../ledger/index.js'
import { pathText } from '../../model/index.js'
import type { MissingObjects, ObjectReport } from '../../snapshot/index.js'
import { type Damage, damageOf, parseDamage } from './damage-marks.js'
import { type Finding, finding, some } from './findings.js'
import { removeCaches } from './verify-objects.js'

export function checkCompleteness(
  ledger: Ledger,
  report: ObjectReport,
  { quick }: { readonly quick: boolean },
): Finding[] {
  const states = checkStates(ledger, { quick })
  const rows = ledger.rowChecks.filesRows()
  const lacksOf = new Map(rows.map(({ id, tree }) => [String(id), report.lacks.get(tree)]))
  const marked = ledger.marks.damaged()
  const wanted = new Map<string, Damage>()
  for (const id of new Set([...lacksOf.keys(), ...states.faults.keys()])) {
    const damage = damageOf(lacksOf.get(id), states.faults.get(id))
    if (damage !== undefined) wanted.set(id, damage)
  }
  // If the row of a state is lost, only the mark says that there was one.
  for (const [id, text] of marked) {
    const damage = parseDamage(text)
    if (!damage.isStateLost) continue
    const now = wanted.get(id) ?? { ...damage, paths: [], fileCount: 0, isUnknown: false }
    wanted.set(id, { ...now, state: damage.state, isStateLost: true })
  }
  const lacking = [...lacksOf].flatMap(([checkpoint, lacks]) =>
    lacks === undefined ? [] : [finding('objects', describeLacks(lacks), { checkpoint })],
  )
  const lost = [...wanted].flatMap(([checkpoint, { isStateLost, state }]) =>
    isStateLost ? [finding('state', `its state is lost: ${state}`, { checkpoint })] : [],
  )
  return [...states.findings, ...lacking, ...lost, ...checkMarks(marked, wanted)]
}

function checkStates(ledger: Ledger, { quick }: { readonly quick: boolean }) {
  /** By checkpoint id. */
  const faults = new Map<string, string>()
  const findings: Finding[] = []
  for (const { state, message } of ledger.rowChecks.stateFaults({ quick })) {
    const { checkpoints, graphs } = ledger.rowChecks.holdersOf(state)
    for (const checkpoint of checkpoints) {
      faults.set(checkpoint, message)
      findings.push(finding('state', `its state cannot be read: ${message}`, { checkpoint }))
    }
    if (graphs > 0)
      findings.push(
        finding('state', `the state ${state} of a graph thread cannot be read: ${message}`),
      )
  }
  return { faults, findings }
}

function checkMarks(
  marked: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, Damage>,
): Finding[] {
  const texts = new Map([...wanted].map(([id, damage]) => [id, JSON.stringify(damage)]))
  const unmarked = [...texts.keys()].filter((id) => marked.get(id) !== texts.get(id))
  const healed = [...marked.keys()].filter((id) => !texts.has(id))
  const parts = [
    ...(unmarked.length === 0 ? [] : [`damaged, but not marked as such: ${some(unmarked)}`]),
    ...(healed.length === 0 ? [] : [`marked as damaged, but intact again: ${some(healed)}`]),
  ]
  if (parts.length === 0) return []
  return [
    finding('ledger', parts.join('; '), {
      severity: 'note',
      fix: {
        stage: 'marks',
        action: 'update which checkpoints are marked as damaged',
        run({ store }) {
          removeCaches(store)
          store.ledger?.marks.markDamaged(texts)
        },
      },
    }),
  ]
}

function describeLacks({ lacks, count }: MissingObjects): string {
  const trees = lacks.filter(({ type }) => type !== 'file')
  const names = some(lacks.map(({ path }) => (path === '' ? 'the folder itself' : pathText(path))))
  const what = trees.length > 0 ? 'folders or modes' : count === 1 ? 'a file' : `${count} files`
  return `${what} cannot be restored: ${names}`
}
