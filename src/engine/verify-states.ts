// States: each that a checkpoint holds can be read whole, and its elements hash right.
import type { Ledger } from '../ledger/index.js'
import type { Finding } from './findings.js'

export type StateDamage = {
  /** By checkpoint. */
  readonly faults: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

export function checkStates(ledger: Ledger, { quick }: { readonly quick: boolean }): StateDamage {
  const faults = new Map<string, string>()
  const findings: Finding[] = []
  for (const { state, message } of ledger.rowChecks.stateFaults({ quick })) {
    const { checkpoints, graphs } = ledger.rowChecks.holdersOf(state)
    const found = { kind: 'state', severity: 'damage', repairable: false } as const
    for (const checkpoint of checkpoints) {
      faults.set(checkpoint, message)
      findings.push({ ...found, message: `its state cannot be read: ${message}`, checkpoint })
    }
    if (graphs > 0)
      findings.push({
        ...found,
        message: `the state ${state} of a graph thread cannot be read: ${message}`,
        checkpoint: null,
      })
  }
  return { faults, findings }
}
