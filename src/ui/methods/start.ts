// The first view: projects, the newest checkpoints, and where the folder is.
import * as z from 'zod/mini'
import type { Project } from '../../internal.js'
import { hookedAgents } from './agent-hooks.js'
import { inProject, limit, optional, text } from './inputs.js'
import type { MethodOf } from './method.js'

const FIRST_ROWS = 200
const MAX_ROWS = 5000

export const start: MethodOf<'start'> = {
  input: z.strictObject({ project: optional(text()) }),
  changes: false,
  async run(input, context) {
    const { store, version, isReadOnly, own } = context
    const known = (await store.projects()).map(({ path, checkpoints, state, lastTouch }) => ({
      path,
      checkpoints,
      isMissing: state !== 'live',
      lastAt: lastTouch,
    }))
    const isListed = own === undefined || known.some(({ path }) => path === own.path)
    const projects = isListed
      ? known
      : [{ path: own.path, checkpoints: 0, isMissing: false, lastAt: null }, ...known]
    const path = input.project ?? own?.path ?? projects[0]?.path ?? null
    const project = path === null ? undefined : await context.project(path)
    const total = (await project?.count()) ?? 0
    return {
      version,
      isReadOnly,
      isExport: false,
      projects,
      project: path,
      total,
      ...(await readRows(project, { limit: FIRST_ROWS })),
      // Reads the configurations of all agents: too slow for every first view.
      hookedAgents: total === 0 ? await hookedAgents(context, path ?? undefined) : [],
    }
  },
}

export const here: MethodOf<'here'> = {
  input: z.strictObject(inProject()),
  changes: false,
  async run({ project: path }, context) {
    const project = await context.project(path)
    const newest = await newestWithFiles(project)
    const { files, insertions, deletions } =
      newest === undefined ? NONE : await project.diff(newest, { patch: 'none' })
    return {
      newest: newest ?? null,
      changed: { files, insertions, deletions },
      ...(await project.reversals()),
    }
  },
}

const NONE = { files: 0, insertions: 0, deletions: 0 }

async function newestWithFiles(project: Project): Promise<string | undefined> {
  for await (const { id, hasFiles } of project.iterate()) if (hasFiles) return id
  return undefined
}

export const rows: MethodOf<'rows'> = {
  input: z.strictObject({
    ...inProject(),
    before: optional(text()),
    limit: limit(MAX_ROWS),
    session: optional(text()),
  }),
  changes: false,
  run: async ({ project, ...query }, context) => readRows(await context.project(project), query),
}

async function readRows(
  project: Project | undefined,
  query: { readonly before?: string; readonly limit: number; readonly session?: string },
) {
  // One more than asked for says whether there are more.
  const found = (await project?.list({ ...query, limit: query.limit + 1 })) ?? []
  return { rows: found.slice(0, query.limit), hasMore: found.length > query.limit }
}
