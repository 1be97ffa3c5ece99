// Operations and functions that most programs never call: each is loaded on first use.
import type { Remote } from '../../remote/index.js'
import type { StoreContext } from './context.js'
import type { LazyOperation, OperationOf } from './operation.js'

function loadLater<Context, Result>(
  load: () => Promise<OperationOf<Context, unknown, Result>>,
): LazyOperation<Context, Result> {
  return { load }
}

export const addRemote = loadLater(
  async () => (await import('../remotes/edit-remotes.js')).addRemote,
)
export const blame = loadLater(async () => (await import('../blame/blame.js')).blame)
export const adopt = loadLater(async () => (await import('../attempts/adopt.js')).adopt)
export const bisect = loadLater(async () => (await import('../bisect/bisect.js')).bisect)
export const compare = loadLater(async () => (await import('../attempts/compare.js')).compare)
export const lastGreen = loadLater(
  async () => (await import('../checkpoints/last-green.js')).lastGreen,
)
export const open = loadLater(async () => (await import('../attempts/open.js')).open)
export const clearProject = loadLater(
  async () => (await import('../store/clear-project.js')).clearProject,
)
export const commits = loadLater(async () => (await import('../commits/commits.js')).commits)
export const drop = loadLater(async () => (await import('../prune/drop.js')).drop)
export const dropFromRemote = loadLater(
  async () => (await import('../remotes/drop-sessions.js')).dropFromRemote,
)
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
export const handoff = loadLater(
  async () => (await import('../remotes/transfer/handoff.js')).handoff,
)
export const history = loadLater(async () => (await import('../checkpoints/history.js')).history)
export const importCheckpoints = loadLater(
  async () => (await import('../import/import-checkpoints.js')).importCheckpoints,
)
export const listRemotes = loadLater(
  async () => (await import('../remotes/edit-remotes.js')).listRemotes,
)
export const initRemote = loadLater(
  async () => (await import('../remotes/init-remote.js')).initRemote,
)
export const initSql = loadLater(async () => (await import('../remotes/init-remote.js')).initSql)
export const listAt = loadLater(async () => (await import('../sessions/stored-lists.js')).listAt)
export const listLengths = loadLater(
  async () => (await import('../sessions/stored-lists.js')).listLengths,
)
export const moveProject = loadLater(
  async () => (await import('../projects/move-project.js')).moveProject,
)
export const notes = loadLater(async () => (await import('../commits/notes.js')).notes)
export const prune = loadLater(async () => (await import('../prune/prune.js')).prune)
export const pruneSession = loadLater(
  async () => (await import('../prune/prune-session.js')).pruneSession,
)
export const pull = loadLater(async () => (await import('../remotes/transfer/pull.js')).pull)
export const push = loadLater(async () => (await import('../remotes/transfer/push.js')).push)
export const rekey = loadLater(async () => (await import('../store/rekey.js')).rekey)
export const remoteSessions = loadLater(
  async () => (await import('../remotes/remote-sessions.js')).remoteSessions,
)
export const removeRemote = loadLater(
  async () => (await import('../remotes/edit-remotes.js')).removeRemote,
)
export const setRemote = loadLater(
  async () => (await import('../remotes/edit-remotes.js')).setRemote,
)
export const reversals = loadLater(async () => (await import('../restore/reversals.js')).reversals)
export const search = loadLater(async () => (await import('../search/search.js')).search)
export const status = loadLater(async () => (await import('../store/status.js')).status)
export const undoSteps = loadLater(async () => (await import('../merge/undo-steps.js')).undoSteps)
export const verify = loadLater(async () => (await import('../verify/verify.js')).verify)

// Functions that are not operations. The last four also work on a damaged store.
export const setStoreConfig: typeof import('../store/set-config.js')['setStoreConfig'] = async (
  ...given
) => (await import('../store/set-config.js')).setStoreConfig(...given)
export const setProjectConfig: typeof import('../store/set-config.js')['setProjectConfig'] = async (
  ...given
) => (await import('../store/set-config.js')).setProjectConfig(...given)

export const autoPush: typeof import('../remotes/transfer/auto-push.js')['autoPush'] = async (
  ...given
) => (await import('../remotes/transfer/auto-push.js')).autoPush(...given)

export const pruneRemote: typeof import('../remotes/prune-remote.js')['pruneRemote'] = async (
  ...given
) => (await import('../remotes/prune-remote.js')).pruneRemote(...given)
export const verifyRemote: typeof import('../remotes/verify-remote.js')['verifyRemote'] = async (
  ...given
) => (await import('../remotes/verify-remote.js')).verifyRemote(...given)
/** Shares everything in the store through a remote (mode wait). */
export const openFleet = async (
  context: StoreContext,
  remote: Remote,
): Promise<import('../sharing/fleet.js').Fleet> => {
  const { Fleet } = await import('../sharing/fleet.js')
  return new Fleet(context, remote)
}

export const verifyDamaged: typeof import('../verify/verify.js')['verifyDamaged'] = async (
  ...given
) => (await import('../verify/verify.js')).verifyDamaged(...given)
export const hasForeignFiles = async (home: string): Promise<boolean> =>
  (await import('../verify/verify-file-types.js')).checkFileTypes({ home }).length > 0
export const repair: typeof import('../verify/repair.js')['repair'] = async (...given) =>
  (await import('../verify/repair.js')).repair(...given)
export const doctor: typeof import('../verify/doctor.js')['doctor'] = async (...given) =>
  (await import('../verify/doctor.js')).doctor(...given)
