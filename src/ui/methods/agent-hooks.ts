// Which coding agents have our hooks, in the user's settings and in those of a project.
import { AGENT_NAMES } from '../../base/index.js'
import { type FoundHooks, installer } from '../../agents/index.js'
import type { PageContext } from './method.js'

type Hooks = FoundHooks & { readonly scope: 'user' | 'project' }

export async function hookedAgents(
  context: PageContext,
  root: string | undefined,
): Promise<readonly string[]> {
  const found = await findAllHooks(context, root)
  return AGENT_NAMES.filter((name) =>
    found.some(({ agent, found: how }) => agent === name && how !== 'unreadable'),
  )
}

export async function agentStates(context: PageContext) {
  const found = await findAllHooks(context, context.own?.path)
  return AGENT_NAMES.map((agent) => {
    const own = found.filter((one) => one.agent === agent)
    return {
      agent,
      installed: own.some((one) => one.found !== 'unreadable'),
      problem: own.map(problemOf).find((problem) => problem !== null) ?? null,
    }
  })
}

async function findAllHooks(
  { store, program, environment }: PageContext,
  root: string | undefined,
): Promise<readonly Hooks[]> {
  // Without a home there is no configuration of the user.
  if ((environment['HOME'] ?? environment['USERPROFILE']) === undefined) return []
  const { findHooks } = await installer()
  const common = { environment, ...program, storeHome: store.home }
  const scopes = [
    { type: 'user' } as const,
    ...(root === undefined ? [] : [{ type: 'project', root } as const]),
  ]
  const found = scopes.map(async (scope) =>
    (await findHooks({ ...common, scope })).map((one) => ({ ...one, scope: scope.type })),
  )
  return (await Promise.all(found)).flat()
}

function problemOf({ agent, found, trusted, scope }: Hooks): string | null {
  const option = scope === 'project' ? ' --project' : ''
  if (found === 'unreadable') return 'Its configuration cannot be read'
  if (found === 'outdated')
    return `Its hooks depend on PATH. Renew them: savestate install ${agent}${option}`
  return trusted === false
    ? `It does not trust the hooks yet: savestate install ${agent}${option} --trust`
    : null
}
