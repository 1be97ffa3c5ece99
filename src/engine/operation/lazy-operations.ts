// Operations that most programs never call: each is loaded when it is first asked for.
import type { ClearResult } from '../store/clear-project.js'
import type { ProjectContext, StoreContext } from './context.js'
import type { DropResult } from '../prune/drop.js'
import type { ExportPage } from '../sessions/export-session.js'
import type { FileResult } from '../checkpoints/file.js'
import type { ForgetResult } from '../prune/forget.js'
import type { HistoryResult } from '../checkpoints/history.js'
import type { ImportOutlook, ImportResult } from '../sessions/import-session-json.js'
import type { ImportCheckpointsResult } from '../import/import-checkpoints.js'
import type { MoveResult } from '../projects/move-project.js'
import type { Later } from './operation.js'
import type { PruneResult } from '../prune/prune-result.js'
import type { SessionPruneResult } from '../prune/prune-session.js'
import type { RekeyResult } from '../store/rekey.js'
import type { SearchResult } from '../checkpoints/search.js'
import type { SessionContext } from '../sessions/session-context.js'
import type { StatusResult } from '../store/status.js'
import type { VerifyResult } from '../verify/verify.js'

export const clearProject: Later<ProjectContext, ClearResult> = {
  load: async () => (await import('../store/clear-project.js')).clearProject,
}
export const drop: Later<ProjectContext, DropResult> = {
  load: async () => (await import('../prune/drop.js')).drop,
}
export const exportSession: Later<SessionContext, ExportPage> = {
  load: async () => (await import('../sessions/export-session.js')).exportSession,
}
export const importSession: Later<SessionContext, ImportResult> = {
  load: async () => (await import('../sessions/import-session-json.js')).importSession,
}
export const planImport: Later<StoreContext, ImportOutlook> = {
  load: async () => (await import('../sessions/import-session-json.js')).planImport,
}
export const file: Later<ProjectContext, FileResult> = {
  load: async () => (await import('../checkpoints/file.js')).file,
}
export const forget: Later<ProjectContext, ForgetResult> = {
  load: async () => (await import('../prune/forget.js')).forget,
}
export const history: Later<ProjectContext, HistoryResult> = {
  load: async () => (await import('../checkpoints/history.js')).history,
}
export const importCheckpoints: Later<StoreContext, ImportCheckpointsResult> = {
  load: async () => (await import('../import/import-checkpoints.js')).importCheckpoints,
}
export const moveProject: Later<StoreContext, MoveResult> = {
  load: async () => (await import('../projects/move-project.js')).moveProject,
}
export const prune: Later<StoreContext, PruneResult> = {
  load: async () => (await import('../prune/prune.js')).prune,
}
export const pruneSession: Later<SessionContext, SessionPruneResult> = {
  load: async () => (await import('../prune/prune-session.js')).pruneSession,
}
export const rekey: Later<StoreContext, RekeyResult> = {
  load: async () => (await import('../store/rekey.js')).rekey,
}
export const search: Later<ProjectContext, SearchResult> = {
  load: async () => (await import('../checkpoints/search.js')).search,
}
export const status: Later<StoreContext, StatusResult> = {
  load: async () => (await import('../store/status.js')).status,
}
export const verify: Later<StoreContext, VerifyResult> = {
  load: async () => (await import('../verify/verify.js')).verify,
}

/** The same for what is no operation. */
export const setStoreConfig: typeof import('../store/set-config.js')['setStoreConfig'] = async (
  ...given
) => (await import('../store/set-config.js')).setStoreConfig(...given)
export const setProjectConfig: typeof import('../store/set-config.js')['setProjectConfig'] = async (
  ...given
) => (await import('../store/set-config.js')).setProjectConfig(...given)

/** The same for what works on a store that may be damaged. */
export const verifyCare: typeof import('../verify/verify.js')['verifyCare'] = async (...given) =>
  (await import('../verify/verify.js')).verifyCare(...given)
export const hasStrangers = async (home: string): Promise<boolean> =>
  (await import('../verify/verify-file-types.js')).checkKinds({ home }).length > 0
export const repair: typeof import('../verify/repair.js')['repair'] = async (...given) =>
  (await import('../verify/repair.js')).repair(...given)
export const doctor: typeof import('../verify/doctor.js')['doctor'] = async (...given) =>
  (await import('../verify/doctor.js')).doctor(...given)
