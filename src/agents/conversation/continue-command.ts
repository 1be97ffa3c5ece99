// The commands by which coding agents continue a conversation, and why some cannot.
import { type AgentName } from '../../base/index.js'

/** Continues a conversation by the agent's own id of it. Only agents on which this was tried. */
const BY_ID: Readonly<Partial<Record<AgentName, (id: string) => readonly string[]>>> = {
  claude: (id) => ['claude', '--resume', id],
  codex: (id) => ['codex', 'resume', id],
  gemini: (id) => ['gemini', '--resume', id],
  opencode: (id) => ['opencode', '--session', id],
}

/** Null for an agent without such a command, or an unknown one. */
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
