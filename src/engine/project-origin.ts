// Where the checkpoints of a folder may be if it has none of its own: in a project above that captures it, or in one
// that was moved here.
import { type BytePath, nameOf, parentOf, pathText } from '../model/index.js'
import { knownProject, type ProjectContext } from './context.js'
import { enclosingProject } from './project-places.js'
import { projectStateOf } from './project-state.js'

export type ProjectOrigin = {
  /** The project above that saves this folder too. */
  readonly partOf: string | null
  /** Projects whose folders are gone, with the same name or in the same folder. */
  readonly maybeMovedFrom: readonly string[]
}

const OWN: ProjectOrigin = { partOf: null, maybeMovedFrom: [] }

export function projectOrigin(context: ProjectContext): ProjectOrigin {
  const { ledger, path } = context
  const known = knownProject(context)
  if (known !== undefined && ledger.checkpoints.count({ project: known.id }) > 0) return OWN
  const partOf = enclosingProject(context, path)
  const gone = ledger
    .projects()
    .filter(({ project, checkpoints }) => checkpoints > 0 && isAlike(project.path, path))
    .filter((summary) => projectStateOf(summary.project.path, summary) !== 'live')
  return {
    partOf: partOf === undefined ? null : pathText(partOf),
    maybeMovedFrom: gone.map(({ project }) => pathText(project.path)),
  }
}

function isAlike(one: BytePath, other: BytePath): boolean {
  return one !== other && (nameOf(one) === nameOf(other) || parentOf(one) === parentOf(other))
}
