// Operations that most programs never call: each is loaded when it is first asked for.
import type { ClearResult } from './clear-project.js'
import type { ProjectContext, StoreContext } from './context.js'
import type { DropResult } from './drop.js'
import type { ExportPage } from './export-session.js'
import type { FileResult } from './file.js'
import type { ForgetResult } from './forget.js'
import type { HistoryResult } from './history.js'
import type { ImportOutlook, ImportResult } from './import-exported.js'
import type { ImportCheckpointsResult } from './import-checkpoints.js'
import type { MoveResult } from './move-project.js'
import type { Later } from './operation.js'
import type { PruneResult } from './prune-result.js'
import type { SessionPruneResult } from './prune-session.js'
import type { RekeyResult } from './rekey.js'
import type { SearchResult } from './search.js'
import type { SessionContext } from './session-context.js'
import type { StatusResult } from './status.js'
import type { VerifyResult } from './verify.js'

export const clearProject: Later<ProjectContext, ClearResult> = {
  load: async () => (await import('./clear-project.js')).clearProject,
}
export const drop: Later<ProjectContext, DropResult> = {
  load: async () => (await import('./drop.js')).drop,
}
export const exportSession: Later<SessionContext, ExportPage> = {
  load: async () => (await import('./export-session.js')).exportSession,
}
export const importSession: Later<SessionContext, ImportResult> = {
  load: async () => (await import('./import-exported.js')).importSession,
}
export const planImport: Later<StoreContext, ImportOutlook> = {
  load: async () => (await import('./import-exported.js')).planImport,
}
export const file: Later<ProjectContext, FileResult> = {
  load: async () => (await import('./file.js')).file,
}
export const forget: Later<ProjectContext, ForgetResult> = {
  load: async () => (await import('./forget.js')).forget,
}
export const history: Later<ProjectContext, HistoryResult> = {
  load: async () => (await import('./history.js')).history,
}
export const importCheckpoints: Later<StoreContext, ImportCheckpointsResult> = {
  load: async () => (await import('./import-checkpoints.js')).importCheckpoints,
}
export const moveProject: Later<StoreContext, MoveResult> = {
  load: async () => (await import('./move-project.js')).moveProject,
}
export const prune: Later<StoreContext, PruneResult> = {
  load: async () => (await import('./prune.js')).prune,
}
export const pruneSession: Later<SessionContext, SessionPruneResult> = {
  load: async () => (await import('./prune-session.js')).pruneSession,
}
export const rekey: Later<StoreContext, RekeyResult> = {
  load: async () => (await import('./rekey.js')).rekey,
}
export const search: Later<ProjectContext, SearchResult> = {
  load: async () => (await import('./search.js')).search,
}
export const status: Later<StoreContext, StatusResult> = {
  load: async () => (await import('./status.js')).status,
}
export const verify: Later<StoreContext, VerifyResult> = {
  load: async () => (await import('./verify.js')).verify,
}

/** The same for what is no operation. */
export const setStoreConfig: typeof import('./set-config.js')['setStoreConfig'] = async (
  ...given
) => (await import('./set-config.js')).setStoreConfig(...given)
export const setProjectConfig: typeof import('./set-config.js')['setProjectConfig'] = async (
  ...given
) => (await import('./set-config.js')).setProjectConfig(...given)

/** The same for what works on a store that may be damaged. */
export const verifyCare: typeof import('./verify.js')['verifyCare'] = async (...given) =>
  (await import('./verify.js')).verifyCare(...given)
export const hasStrangers = async (home: string): Promise<boolean> =>
  (await import('./verify-kinds.js')).checkKinds({ home }).length > 0
export const repair: typeof import('./repair.js')['repair'] = async (...given) =>
  (await import('./repair.js')).repair(...given)
export const doctor: typeof import('./doctor.js')['doctor'] = async (...given) =>
  (await import('./doctor.js')).doctor(...given)
