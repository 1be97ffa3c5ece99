// Operations and functions that most programs never call: each is loaded on first use.
import type { LazyOperation, OperationOf } from './operation.js'

function loadLater<Context, Result>(
  load: () => Promise<OperationOf<Context, unknown, Result>>,
): LazyOperation<Context, Result> {
  return { load }
}

export const clearProject = loadLater(
  async () => (await import('../store/clear-project.js')).clearProject,
)
export const drop = loadLater(async () => (await import('../prune/drop.js')).drop)
export const exportSession = loadLater(
  async () => (await import('../sessions/session-exchange.js')).exportSession,
)
export const importSession = loadLater(
  async () => (await import('../sessions/session-exchange.js')).importSession,
)
export const planImport = loadLater(
  async () => (await import('../sessions/session-exchange.js')).planImport,
)
export const file = loadLater(async () => (await import('../checkpoints/file.js')).file)
export const fileNow = loadLater(async () => (await import('../checkpoints/file.js')).fileNow)
export const filePatch = loadLater(
  async () => (await import('../checkpoints/file-patch.js')).filePatch,
)
export const folder = loadLater(async () => (await import('../checkpoints/folder.js')).folder)
export const forget = loadLater(async () => (await import('../prune/forget.js')).forget)
export const history = loadLater(async () => (await import('../checkpoints/search.js')).history)
export const importCheckpoints = loadLater(
  async () => (await import('../import/import-checkpoints.js')).importCheckpoints,
)
export const listAt = loadLater(async () => (await import('../sessions/stored-lists.js')).listAt)
export const listLengths = loadLater(
  async () => (await import('../sessions/stored-lists.js')).listLengths,
)
export const moveProject = loadLater(
  async () => (await import('../projects/move-project.js')).moveProject,
)
export const prune = loadLater(async () => (await import('../prune/prune.js')).prune)
export const pruneSession = loadLater(
  async () => (await import('../prune/prune-session.js')).pruneSession,
)
export const rekey = loadLater(async () => (await import('../store/rekey.js')).rekey)
export const reversals = loadLater(async () => (await import('../restore/reversals.js')).reversals)
export const search = loadLater(async () => (await import('../checkpoints/search.js')).search)
export const status = loadLater(async () => (await import('../store/status.js')).status)
export const verify = loadLater(async () => (await import('../verify/verify.js')).verify)

// Functions that are not operations. The last four also work on a damaged store.
export const setStoreConfig: typeof import('../store/set-config.js')['setStoreConfig'] = async (
  ...given
) => (await import('../store/set-config.js')).setStoreConfig(...given)
export const setProjectConfig: typeof import('../store/set-config.js')['setProjectConfig'] = async (
  ...given
) => (await import('../store/set-config.js')).setProjectConfig(...given)

export const verifyDamaged: typeof import('../verify/verify.js')['verifyDamaged'] = async (
  ...given
) => (await import('../verify/verify.js')).verifyDamaged(...given)
export const hasForeignFiles = async (home: string): Promise<boolean> =>
  (await import('../verify/verify-file-types.js')).checkFileTypes({ home }).length > 0
export const repair: typeof import('../verify/repair.js')['repair'] = async (...given) =>
  (await import('../verify/repair.js')).repair(...given)
export const doctor: typeof import('../verify/doctor.js')['doctor'] = async (...given) =>
  (await import('../verify/doctor.js')).doctor(...given)
