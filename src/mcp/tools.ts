// The tools. Each calls one operation and says its result.
import { type CheckpointView, projectEffects } from '../index.js'
import type { ArgumentSpec } from './arguments.js'
import { REWIND_TOOL, type RewindRules, runRewind } from './rewind-tool.js'
import { counted, diffText, listText, quoted, searchText, showText } from './text.js'
import { projectPaths, type Tool } from './tool.js'

const MAX_LISTED = 200

const REF: ArgumentSpec = {
  type: 'text',
  description:
    'Checkpoint: its id, the first 4 or more letters of it, its name, or 1 for the newest',
  isRequired: true,
}
const LIMIT: ArgumentSpec = {
  type: 'count',
  max: MAX_LISTED,
  description: 'At most this many (default 20)',
}

export async function toolsFor(
  rules: RewindRules,
  /** What an agent has noted with a checkpoint, as JSON. */
  jsonOf: (value: unknown) => unknown,
): Promise<readonly Tool[]> {
  const effects = await projectEffects()
  return [
    {
      name: 'checkpoint_save',
      title: 'Save a checkpoint',
      description:
        'Save what the project folder holds, so that it can be looked at and gone back to later. Do this before risky work. If nothing has changed, the newest checkpoint is named and none is added.',
      effect: effects.save,
      specs: {
        reason: { type: 'text', max: 2000, description: 'Why, in a few words' },
        name: { type: 'text', max: 200, description: 'A name to find it by; it is then kept' },
      },
      async run({ project, given, hooks }) {
        const [reason, name] = [given.text('reason'), given.text('name')]
        const input = {
          ...(reason === undefined ? {} : { reason }),
          ...(name === undefined ? {} : { name }),
        }
        const result = await project.save(input, hooks)
        const { id, files, insertions, deletions, skipped } = result
        const text = result.created
          ? `Saved ${id}: ${counted(files, 'file')} changed, +${insertions} -${deletions}; ${counted(skipped, 'path')} left out.`
          : `Nothing has changed since ${id}, which is the newest checkpoint.`
        return { text, result }
      },
    },
    {
      name: 'checkpoint_list',
      title: 'List checkpoints',
      description:
        'The checkpoints of the project, newest first: id, time, what changed, reason, session.',
      effect: effects.list,
      specs: {
        limit: LIMIT,
        session: { type: 'text', description: 'Only those of this session of an agent' },
      },
      async run({ project, given, hooks }) {
        const [session, limit] = [given.text('session'), given.count('limit') ?? 20]
        const all = await project.list(session === undefined ? { limit } : {}, hooks)
        const checkpoints = ofSession(all.checkpoints, session).slice(0, limit)
        const text =
          session === undefined || checkpoints.length > 0
            ? listText(checkpoints)
            : `No checkpoint of the session ${quoted(session)} here.`
        return { text, result: { checkpoints } }
      },
    },
    {
      name: 'checkpoint_show',
      title: 'Show a checkpoint',
      description:
        'One checkpoint in full: what it holds, what it left out and why, what it changed, and what is known of the agent.',
      effect: effects.show,
      specs: { ref: REF },
      async run({ project, given, hooks }) {
        const { agent, ...details } = await project.show(given.needed('ref'), hooks)
        const noted = agent === null ? null : { ...agent, metadata: jsonOf(agent.metadata) }
        return { text: showText({ agent, ...details }), result: { ...details, agent: noted } }
      },
    },
    {
      name: 'checkpoint_diff',
      title: 'Compare checkpoints',
      description:
        'What changed from a checkpoint to the folder as it is now, or to another checkpoint, as a patch.',
      effect: effects.diff,
      specs: {
        from: REF,
        to: { ...omitRequired(REF), description: 'Checkpoint; the folder as it is if left out' },
        paths: {
          type: 'texts',
          description: 'Only these files or folders, relative to the project',
        },
        patch: {
          type: 'choice',
          choices: ['full', 'stat', 'none'],
          description: 'The whole patch (default), a summary for each file, or only the names',
        },
      },
      async run({ project, given, hooks }) {
        const [to, patch] = [given.text('to'), given.text('patch')]
        const result = await project.diff(
          {
            from: given.needed('from'),
            ...(to === undefined ? {} : { to }),
            paths: projectPaths(project, given.texts('paths')),
            patch: patch === 'stat' || patch === 'none' ? patch : 'full',
          },
          hooks,
        )
        return { text: diffText(result), result }
      },
    },
    {
      name: 'checkpoint_search',
      title: 'Search checkpoints',
      description:
        'Find checkpoints by words in their names, reasons, prompts and changed paths. All words must be there; case does not matter.',
      effect: effects.search,
      specs: {
        words: { type: 'text', max: 1000, description: 'Words, with blanks', isRequired: true },
        limit: LIMIT,
      },
      async run({ project, given, hooks }) {
        const limit = given.count('limit') ?? 20
        const result = await project.search({ words: given.needed('words'), limit }, hooks)
        return { text: searchText(result), result }
      },
    },
    { ...REWIND_TOOL, effect: effects.rewind, run: (call) => runRewind(call, rules) },
  ]
}

export function ofSession(
  checkpoints: readonly CheckpointView[],
  session: string | undefined,
): readonly CheckpointView[] {
  return session === undefined
    ? checkpoints
    : checkpoints.filter((checkpoint) => checkpoint.session === session)
}

function omitRequired({ type, description }: ArgumentSpec): ArgumentSpec {
  return { type, description }
}
