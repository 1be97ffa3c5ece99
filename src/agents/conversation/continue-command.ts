// The commands that continue a conversation of a coding agent.
import { type AgentName } from '../../base/index.js'

/** Only agents with which this was tested. The id is the agent's own. */
const BY_ID: Readonly<Partial<Record<AgentName, (id: string) => readonly string[]>>> = {
  claude: (id) => ['claude', '--resume', id],
  codex: (id) => ['codex', 'resume', id],
  gemini: (id) => ['gemini', '--resume', id],
  opencode: (id) => ['opencode', '--session', id],
}

/** Null if the agent is unknown or has no such command. */
export function continueCommand({
  agent,
  session,
}: {
  readonly agent: string
  readonly session: string
}): readonly string[] | null {
  const known = Object.entries(BY_ID).find(([name]) => name === agent)
  return known?.[1](session) ?? null
}
