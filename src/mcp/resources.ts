// Timelines and diffs as MCP resources, read from the store on request.
import { type Project, SavestateError } from '../index.js'
import {
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  type ResourceTemplateType,
} from './library.js'
import { bounded, changeLine, cutPatch, listText, quoteText } from './text.js'
import { ofSession } from './tools.js'

const MAX_CHARS = 200_000
const MAX_LISTED = 200
const NEWEST = 20

const TIMELINE = 'savestate://timeline'
const PLAIN = 'text/plain'
const PATCH = 'text/x-diff'
const JSON_TYPE = 'application/json'

export const TEMPLATES: readonly ResourceTemplateType[] = [
  {
    uriTemplate: 'savestate://session/{session}/timeline',
    name: 'session-timeline',
    title: 'Checkpoints of a session',
    description: 'The checkpoints that one session of an agent has made here, newest first',
    mimeType: PLAIN,
  },
  {
    uriTemplate: 'savestate://checkpoint/{ref}',
    name: 'checkpoint',
    title: 'A checkpoint in full',
    description: 'Its contents, its skipped paths, and its changes',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'savestate://checkpoint/{ref}/diff',
    name: 'checkpoint-diff',
    title: 'Changes of a checkpoint',
    description: 'A patch from the checkpoint before it',
    mimeType: PATCH,
  },
  {
    uriTemplate: 'savestate://checkpoint/{ref}/since',
    name: 'checkpoint-since',
    title: 'Changes since a checkpoint',
    description: 'A patch from the checkpoint to the folder as it is',
    mimeType: PATCH,
  },
]

export async function listResources(project: Project): Promise<Resource[]> {
  const checkpoints = await project.list({ limit: NEWEST })
  return [
    {
      uri: TIMELINE,
      name: 'timeline',
      title: 'Checkpoints of the project',
      description: `The newest ${MAX_LISTED} checkpoints, newest first`,
      mimeType: PLAIN,
    },
    ...checkpoints
      .filter(({ hasFiles }) => hasFiles)
      .map(({ id, name, reason }) => ({
        uri: `savestate://checkpoint/${id}/diff`,
        name: `${id}-diff`,
        title: `Changes of ${id}`,
        description: quoteText(name ?? reason ?? 'a checkpoint without a reason'),
        mimeType: PATCH,
      })),
  ]
}

type Read = { readonly project: Project; readonly jsonOf: (value: unknown) => unknown }

export async function readResource(
  uri: string,
  { project, jsonOf }: Read,
): Promise<{ readonly mimeType: string; readonly text: string }> {
  const [kind, name, part, ...rest] = parseUri(uri)
  if (uri === TIMELINE) {
    const checkpoints = await project.list({ limit: MAX_LISTED })
    return { mimeType: PLAIN, text: listText(checkpoints) }
  }
  if (name === undefined || name === '' || rest.length > 0) throw unknown(uri)
  if (kind === 'session' && part === 'timeline') {
    const checkpoints = await project.list()
    const own = ofSession(checkpoints, name)
    if (own.length === 0) throw unknown(uri)
    return { mimeType: PLAIN, text: listText(own.slice(0, MAX_LISTED)) }
  }
  if (kind !== 'checkpoint') throw unknown(uri)
  if (part === undefined) {
    const { agent, ...details } = await project.show(name)
    const noted = agent === null ? null : { ...agent, metadata: jsonOf(agent.metadata) }
    const shown = bounded({ ...details, agent: noted })
    return { mimeType: JSON_TYPE, text: JSON.stringify(shown, null, 2) }
  }
  if (part === 'diff') return { mimeType: PATCH, text: await changesBy(project, name) }
  if (part !== 'since') throw unknown(uri)
  const { patch } = await project.diff(name)
  return { mimeType: PATCH, text: cutPatch(patch ?? '', MAX_CHARS) }
}

async function changesBy(project: Project, ref: string): Promise<string> {
  const { id, changes } = await project.show(ref)
  const checkpoints = await project.list()
  const at = checkpoints.findIndex((checkpoint) => checkpoint.id === id)
  const before = checkpoints.slice(at + 1).find(({ hasFiles }) => hasFiles)
  // The first checkpoint has nothing to compare with: list its changes instead.
  if (before === undefined) return changes.map((change) => `# ${changeLine(change)}\n`).join('')
  const { patch } = await project.diff(before.id, { to: id })
  return cutPatch(patch ?? '', MAX_CHARS)
}

function parseUri(uri: string): string[] {
  const match = /^savestate:\/\/([^?#]+)$/.exec(uri)
  try {
    return (match?.[1] ?? '').split('/').map(decodeURIComponent)
  } catch (error) {
    if (error instanceof URIError) throw unknown(uri)
    throw error
  }
}

/** The protocol error for an error of an operation; undefined for a bug. */
export function resourceError(error: unknown, uri: string): ProtocolError | undefined {
  if (error instanceof ProtocolError) return error
  if (!(error instanceof SavestateError)) return undefined
  const isUnknown = error.code === 'CHECKPOINT_UNKNOWN' || error.code === 'CHECKPOINT_AMBIGUOUS'
  const code = isUnknown ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, error.message, { uri, ...error.toJSON() })
}

function unknown(uri: string): ProtocolError {
  const text = `There is no resource ${uri.slice(0, 200)}`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, text, { uri })
}
