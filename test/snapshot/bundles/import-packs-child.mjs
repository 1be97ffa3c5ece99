// Imports a pack: node import-packs-child.mjs '{"code":…,"home":…,"project":…,"tree":…,"pack":…}'. `code` is the built snapshot layer.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const { code, home, project, limits, tree, pack } = JSON.parse(process.argv[2] ?? '{}')
const { Snapshots } = await import(code)
const snapshots = new Snapshots({
  home,
  durability: 'fsync',
  limitsOf: () => limits,
  inProcess: true,
})
await snapshots.importPacks(project, { tree, packs: [{ chunks: [readFileSync(pack)] }] })
