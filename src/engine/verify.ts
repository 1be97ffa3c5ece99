// Whether the store holds what it says it holds.
import { statSync } from 'node:fs'
import * as z from 'zod/mini'
import { hasFiles, pathText } from '../model/index.js'
import { ifProjectIsFree, type StoreContext } from './context.js'
import { Journals } from './journal.js'
import { storeOperation } from './operation.js'
import { recoverAll } from './recover.js'

export type Problem = {
  readonly kind: 'objects' | 'ref' | 'ledger' | 'interrupted' | 'permissions'
  readonly message: string
  readonly checkpoint: string | null
}
export type VerifyResult = { readonly checkpoints: number; readonly problems: readonly Problem[] }

export const verify = storeOperation({
  name: 'verify',
  summary: 'Check that the store is whole',
  effect: 'reads',
  input: z.object({}),
  async run(context, _input, hooks): Promise<VerifyResult> {
    await recoverAll(context, hooks)
    const { home, ledger, snapshots } = context
    const problems: Problem[] = []
    for (const message of await snapshots.fsck())
      problems.push({ kind: 'objects', message, checkpoint: null })
    for (const message of ledger.integrityProblems())
      problems.push({ kind: 'ledger', message, checkpoint: null })
    for (const { project } of ledger.projects()) {
      if (!new Journals(home).pending().includes(project.id)) continue
      const message = `a rewind of ${pathText(project.path)} is unfinished`
      // A rewind that is still going on is none of our business.
      const work = async () =>
        void problems.push({ kind: 'interrupted', message, checkpoint: null })
      await ifProjectIsFree(context, project, { purpose: 'verify', work })
    }
    if ((statSync(home).mode & 0o077) !== 0 && process.platform !== 'win32') {
      problems.push({
        kind: 'permissions',
        message: 'other users can enter the store',
        checkpoint: null,
      })
    }
    problems.push(...(await refProblems(context)))
    return {
      checkpoints: ledger.checkpoints.list({}).length,
      problems,
    }
  },
})

/** Every row has its ref, its commit and its tree (I1). A ref without a row is garbage, not damage (I2). */
async function refProblems({ ledger, snapshots }: StoreContext): Promise<Problem[]> {
  const refs = await snapshots.refs()
  const projects = new Map(ledger.projects().map(({ project }) => [project.id, project]))
  return ledger.checkpoints
    .list({})
    .filter(hasFiles)
    .flatMap((checkpoint): Problem[] => {
      const project = projects.get(checkpoint.project)
      if (project === undefined)
        return [{ kind: 'ledger', message: 'its project is missing', checkpoint: checkpoint.id }]
      const held = refs.get(snapshots.refOf(project, checkpoint.id))
      const wanted = { commit: checkpoint.commit, tree: checkpoint.snapshot.tree }
      if (held?.commit === wanted.commit && held.tree === wanted.tree) return []
      const message =
        held === undefined
          ? `no ref holds this checkpoint of ${pathText(project.path)}`
          : `its ref holds commit ${held.commit} with tree ${held.tree}, not ${wanted.commit} with ${wanted.tree}`
      return [{ kind: 'ref', message, checkpoint: checkpoint.id }]
    })
}
