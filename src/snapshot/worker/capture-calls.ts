// The calls of the capture thread: all work on files and objects. This table is the only statement of that API;
// `CaptureCalls` is derived from it. It runs on a thread of its own, so that the caller's event loop stays free (I12),
// or on the main thread of a one-shot command.
import { join } from 'node:path'
import {
  type BytePath,
  type ChangeCounts,
  isInside,
  type ObjectId,
  planRestore,
  type ProjectId,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { type OnProgress, ProgressCounter } from '../capture/progress.js'
import { StatWorkerClient } from '../capture/stat-cache/stat-worker-client.js'
import type {
  ApplyRequest,
  CaptureData,
  CaptureRequest,
  ExpectRequest,
  FindAsidesRequest,
  PlanRequest,
  RecordRequest,
  RewriteRequest,
  SettleRequest,
  SettleResult,
} from './capture-requests.js'
import { blameCalls } from '../blame/blame-calls.js'
import { packCalls } from '../bundles/pack-calls.js'
import { mergeCalls } from '../merge/merge-calls.js'
import type { ExamineRequest } from '../repair/examine.js'
import type { ObjectRepair } from '../repair/repair-objects.js'
import { SnapshotComparer } from '../compare/compare.js'
import { BlobReader } from '../git/blob-reader.js'
import { TreeDiff } from '../git/tree-diff.js'
import { encodeCommit, refName, StagedRef } from '../objects/commit.js'
import { ObjectSink, ObjectStore } from '../objects/object-store.js'
import { readHistory } from '../import/source-history.js'
import { type SourceRequest, Sources } from '../import/sources.js'
import { patchCalls } from '../compare/patch-calls.js'
import { ProjectCapture } from '../capture/project-capture.js'
import { applyPlan, openRoot } from '../restore/apply.js'
import { findAsides, removeAsides } from '../restore/asides.js'
import { ownerLookupFrom } from '../restore/permissions.js'
import { type MaterializeRequest, materialize } from '../restore/materialize.js'
import { closedFolders, restoreMaps } from '../restore/plan-inputs.js'
import { Recheck } from '../restore/recheck.js'
import { uncapturedThen } from '../restore/rules-of-target.js'
import { countChanges, expectPaths, findNamedPaths } from './path-queries.js'
import { EventQueue } from '../watch/event-queue.js'
import { WatchFolder } from '../watch/watch-folder.js'
import { rewriteCommits, SnapshotRewriter } from '../compare/rewrite-snapshot.js'

export type CaptureCalls = ReturnType<typeof captureCalls>

export function captureCalls({ home, durable }: CaptureData) {
  const gitDir = join(home, 'objects.git')
  const store = new ObjectStore(join(gitDir, 'objects'))
  const blobs = new BlobReader(gitDir)
  const headers = new BlobReader(gitDir, { headersOnly: true })
  const comparer = new SnapshotComparer(gitDir, blobs)
  const plainDiff = new TreeDiff(gitDir, { countLines: false })
  const countingDiff = new TreeDiff(gitDir, { countLines: true })
  const sources = new Sources(gitDir)
  const captures = new Map<ProjectId, ProjectCapture>()
  /** The tags of rewinds whose moved-aside files still exist. */
  const rewinding = new Map<ProjectId, string>()
  const watchFolder = new WatchFolder(home)
  const events = new EventQueue(watchFolder)
  const hashThread = new URL('./hash-thread.js', import.meta.url)
  const statThread = new URL('./stat-thread.js', import.meta.url)
  const compare = (before: ObjectId | undefined, after: ObjectId) =>
    comparer.compare(before, after, plainDiff)

  return {
    async capture(request: CaptureRequest, report: OnProgress) {
      const { project, target, knownTrees, watch, deferObjects, named } = request
      const capture = captureOf(project)
      if (watch) capture.watch(target.root)
      const inRewind = { ...target, rewinding: rewinding.get(project) }
      const captured = await capture.capture(inRewind, { knownTrees, deferObjects, report })
      if (named === undefined) return captured
      const paths = await findNamedPaths(captured.snapshot.tree, named, compare)
      return capture.addNamed(inRewind, captured, paths)
    },

    unwatch: (project: ProjectId) => captures.get(project)?.unwatch(),

    /** Frees the memory of a project. No other call may be working on it: a plan uses its nodes. */
    async unload(project: ProjectId) {
      const capture = captures.get(project)
      captures.delete(project)
      capture?.writeCache()
      capture?.close()
    },

    /** Undefined if the project is not watched. */
    activity: (project: ProjectId) => captures.get(project)?.watched?.activity,

    /** Runs the background scan now. */
    lookAtAll: async (project: ProjectId) => captures.get(project)?.watched?.scanAll(),

    /** Writes the commit and the ref that keep a snapshot. Only afterwards may a row refer to it (I1). */
    async record({ facts, since }: RecordRequest) {
      const { project, tree } = facts
      const temporary = join(home, 'tmp', project)
      const capture = captureOf(project)
      const sink = capture.takeDeferred(tree) ?? new ObjectSink(store, { temporary, durable })
      const commit = sink.add('commit', encodeCommit(facts))
      const name = refName(project, facts.checkpoint)
      const ref = new StagedRef(gitDir, { name, commit, temporary: `${sink.temporary}.ref` })
      let changes: Promise<ChangeCounts | undefined> = Promise.resolve(undefined)
      try {
        // Git counts the changes while the disk writes the rest.
        const onNamed = () => {
          const counted = capture.countsSince(since?.tree, tree)
          if (counted !== undefined) changes = Promise.resolve(counted)
          else if (since !== undefined)
            changes = countChanges(comparer, {
              before: since.tree,
              after: tree,
              diff: countingDiff,
            })
          // Promise.all below reports the error, once everything is written.
          changes.catch(() => undefined)
        }
        await sink.finish({ ref, onNamed })
      } catch (error) {
        ref.abandon()
        throw error
      }
      failpoint('record:commit-written')
      const [, counted] = await Promise.all([ref.name({ durable }), changes])
      failpoint('record:ref-written')
      capture.keep(tree)
      return { commit, changes: counted }
    },

    /** Writes new snapshots and commits without a path. The caller holds the project's lock and updates refs and rows. */
    async rewrite({ project, path, checkpoints }: RewriteRequest) {
      const sink = new ObjectSink(store, { temporary: join(home, 'tmp', project), durable })
      if (path === undefined) return rewriteCommits(sink, checkpoints)
      return new SnapshotRewriter({ blobs, comparer, sink }).withoutPath(path, checkpoints)
    },

    /** Throws for a path that is neither in a snapshot nor in the folder. */
    expectSomewhere: (request: ExpectRequest) => expectPaths(comparer, request),

    /** One text per snapshot; two texts are equal only if nothing at or below the paths differs. */
    fingerprints: (of: { snapshots: readonly ObjectId[]; paths: readonly BytePath[] }) =>
      comparer.fingerprints(of.snapshots, of.paths),

    compare: (of: { before: ObjectId | undefined; after: ObjectId; countLines: boolean }) =>
      comparer.compare(of.before, of.after, of.countLines ? countingDiff : plainDiff),

    /** Plans how to turn the project, as just captured, into a snapshot. Changes nothing. */
    async plan({ project, target, now, goal, leftOut, paths, only, leave }: PlanRequest) {
      const { root } = captureOf(project)
      await expectPaths(comparer, { target, trees: [goal], paths: paths ?? [] })
      const changes = await compare(now, goal)
      const maps = restoreMaps(changes, target, root)
      const keepers =
        leftOut === undefined
          ? () => undefined
          : await uncapturedThen({ project: target, changes, leftOut }, blobs)
      const allowed = only === undefined ? undefined : new Set(only)
      const includes = (path: BytePath) =>
        (paths === undefined || paths.some((limit) => isInside(path, limit))) &&
        (allowed?.has(path) ?? true)
      const scope = { includes, uncapturedThen: keepers, leave: new Set(leave) }
      const plan = planRestore(maps.now, maps.target, scope)
      return { ...plan, write: [...closedFolders(plan, root), ...plan.write] }
    },

    apply({ project, root, tag, plan, sweep, ownersThen }: ApplyRequest, report: OnProgress) {
      const capture = captureOf(project)
      const progress = new ProgressCounter(report)
      progress.toStore(plan.write.length)
      rewinding.set(project, tag)
      const given = { root, tag, sweep, blobs, durable }
      const { ino: rootIno } = capture.root
      const lastCheck = new Recheck(capture.root)
      const lookupOwner = ownerLookupFrom(ownersThen)
      const onProgress = (files: number, bytes: number) => progress.stored(files, bytes)
      return applyPlan(plan, { ...given, rootIno, lastCheck, lookupOwner, onProgress })
    },

    materialize: (request: MaterializeRequest, report: OnProgress) =>
      materialize(request, { comparer, diff: plainDiff, blobs, report }),

    /** The last step of a rewind: removes the files it moved aside, and stores contents that no checkpoint has. */
    async removeAsides(request: SettleRequest): Promise<SettleResult> {
      const { project, root, rootInode, asides, base } = request
      const sink = new ObjectSink(store, { temporary: join(home, 'tmp', project), durable })
      const folders = openRoot({ root, rootIno: BigInt(rootInode) })
      try {
        const add = (content: Buffer) => sink.add('blob', content)
        const { rest, stored } = removeAsides(asides, { folders, store: add })
        rewinding.delete(project)
        if (stored.size === 0) return { rest, saved: undefined }
        const rewriter = new SnapshotRewriter({ blobs, comparer, sink })
        const tree = await rewriter.withEntries(base, stored)
        await sink.finish()
        return { rest, saved: { tree, paths: [...stored.keys()] } }
      } finally {
        folders.close()
      }
    },

    /** Finds the files that an interrupted rewind moved aside. */
    findAsides({ root, rootInode, ...left }: FindAsidesRequest) {
      const folders = openRoot({ root, rootIno: BigInt(rootInode) })
      try {
        return findAsides(folders, left)
      } finally {
        folders.close()
      }
    },

    ...patchCalls({ gitDir, blobs, headers, comparer }),

    /** Checks objects, refs and caches. Changes nothing. */
    async examine(request: ExamineRequest, report: OnProgress) {
      const { examineObjects } = await import('../repair/examine.js')
      return examineObjects(home, request, report)
    },

    /** Repairs one problem that `examine` found. `aside`: the folder for files that are in the way. */
    async mend({ aside, what }: { readonly aside: string; readonly what: ObjectRepair }) {
      const { mend } = await import('../repair/repair-objects.js')
      // The repair may move files aside that are open here.
      for (const resource of [blobs, headers, plainDiff, countingDiff, store]) resource.close()
      return mend({ home, aside }, what)
    },

    /** The history of a commit in another repository, whose objects folder is `objects`. */
    readHistory: ({ tip, ...request }: SourceRequest & { readonly tip: ObjectId }) =>
      readHistory(tip, sources.of(request)),

    /** Copies a tree of that repository into the store, for the caller to record. The caller holds the project's lock. */
    adopt: ({
      project,
      tree,
      ...request
    }: SourceRequest & { project: ProjectId; tree: ObjectId }) =>
      sources.of(request).adopter.store(tree, {
        store,
        temporary: join(home, 'tmp', project),
        durable,
      }),

    ...packCalls({ home, gitDir, store, blobs, durable }),
    ...mergeCalls({ home, gitDir, store, blobs, headers, comparer, compare, durable }),
    ...blameCalls({ gitDir, comparer, blobs }),

    /** Closes that repository and forgets what was read from it. */
    closeSource: () => sources.close(),

    writeCaches: () => {
      for (const capture of captures.values()) capture.writeCache()
    },

    async close() {
      for (const resource of [blobs, headers, plainDiff, countingDiff, store, sources])
        resource.close()
      for (const capture of captures.values()) capture.close()
      events.close()
      watchFolder.remove()
    },
  }

  function captureOf(project: ProjectId): ProjectCapture {
    let capture = captures.get(project)
    if (capture === undefined) {
      capture = new ProjectCapture(project, {
        home,
        store,
        durable,
        hashThread,
        statWorker: new StatWorkerClient(statThread),
        events,
        watchFolder,
      })
      captures.set(project, capture)
    }
    return capture
  }
}
