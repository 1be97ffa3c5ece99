// The context of all methods: the open store, and the only projects that they may touch.
import type { Project, Store } from '../../internal.js'
import { SavestateError } from '../../internal.js'
import type { PageContext } from './method.js'
import { PlanTokens } from './plan-tokens.js'

export function openPageContext(given: Omit<PageContext, 'project' | 'tokens'>): PageContext {
  return { ...given, tokens: new PlanTokens(), project: findProjects(given.store, given.own) }
}

/** A project that was known once stays allowed: its rows may be removed, but its path is still the user's choice. */
function findProjects(store: Store, own: Project | undefined): (path: string) => Promise<Project> {
  const known = new Set(own === undefined ? [] : [own.path])
  return async (path) => {
    if (!known.has(path)) for (const one of await store.projects()) known.add(one.path)
    if (!known.has(path))
      throw new SavestateError('PROJECT_REFUSED', 'The store has no project with this path')
    return path === own?.path ? own : store.project(path)
  }
}
