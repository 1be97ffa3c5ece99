// What the items of an append refer to must be stored as they hold it now. What was changed since it was stored
// becomes free, and the items take it: the older elements keep what they had. An element that is as it was but leads to
// something that is not becomes free as well, because what is stored of it leads to the old content.
//
// Only what the items reach is looked at.
import { type Growth, othersIn } from './as-stored.js'
import { isPresent, leaveBlock } from './blocks.js'
import { objectsHeldBy } from './children.js'
import { isObject } from './ownership.js'
import type { Owner } from './state-memory.js'
import type { Pass } from './store-fresh.js'

export function releaseChanged(pass: Pass, growth: Growth): void {
  const { beliefs, classes } = pass
  const met = new Set(growth.items.filter(isObject))
  const looked = new Set<Owner>()
  const changed = new Set<Owner>()
  const leadingTo = new Map<Owner, Owner[]>()
  for (const object of met) {
    const owner = beliefs.owners.get(object)
    if (isPresent(owner, beliefs)) {
      look(owner)
      if (!changed.has(owner)) continue
    }
    for (const held of objectsHeldBy(object, classes)) met.add(held.object)
  }
  for (const owner of changed) {
    release(owner)
    for (const other of leadingTo.get(owner) ?? []) changed.add(other)
  }
  // They may lead to what was released.
  pass.paths.clear()

  function look(owner: Owner): void {
    if (looked.has(owner)) return
    looked.add(owner)
    const others = othersIn(pass, { owner, growth })
    if (others === undefined) changed.add(owner)
    for (const object of others ?? []) {
      met.add(object)
      const other = beliefs.owners.get(object)
      if (isPresent(other, beliefs)) note(other, owner)
      else changed.add(owner)
    }
  }

  function note(owner: Owner, leading: Owner): void {
    const known = leadingTo.get(owner)
    if (known === undefined) leadingTo.set(owner, [leading])
    else known.push(leading)
  }
}

/** It is not in the present state any more: what it owns is free. */
function release(owner: Owner): void {
  if (owner.kind === 'slot') leaveBlock(owner)
  owner.pass = 0
}
