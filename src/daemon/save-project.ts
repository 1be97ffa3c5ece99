// The work of `savestate save`, in the daemon or in the process of the command.
import type { CallOptions, Project, Store } from '../internal.js'
import type { SaveAnswer, SaveInput } from './requests.js'

/** Saves, and collects what the command line prints about the result. */
export async function saveProject(
  project: Project,
  {
    store,
    input,
    hooks,
  }: { readonly store: Store; readonly input: SaveInput; readonly hooks: CallOptions },
): Promise<Pick<SaveAnswer, 'result' | 'shortId' | 'untrusted'>> {
  const result = await project.save({ ...input, ...hooks })
  const shortIds = await store.shortIds([result.id])
  const { untrusted } = await project.config()
  return { result, shortId: shortIds.get(result.id) ?? result.id, untrusted }
}
