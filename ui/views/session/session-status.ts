// The status of a session in words.
import { AGENT_NAMES } from '../../../src/base/agent-names.js'
import type { SessionPage } from '../../../src/ui/api.js'
import { visibleText } from '../../components/format.js'

export type SessionItem = SessionPage['session']
type StatusOf = Pick<SessionItem, 'agent' | 'status' | 'interrupted'>

/** No process has a coding agent's session between two prompts, so that it has none means nothing. */
export function isInterrupted({ agent, interrupted }: StatusOf): boolean {
  return interrupted && !AGENT_NAMES.some((name) => name === agent)
}

export function describeStatus(session: StatusOf): string {
  const { status, interrupted } = session
  if (isInterrupted(session)) return '⚠ interrupted'
  if (status === 'in_progress') return interrupted ? 'open' : 'in progress'
  if (status === 'completed') return '✓ finished'
  return status.startsWith('failed') ? `✗ ${visibleText(status)}` : visibleText(status)
}
