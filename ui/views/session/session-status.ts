// The status of a session in words.
import type { SessionPage } from '../../../src/ui/api.js'
import { visibleText } from '../../components/text.js'

export type SessionItem = SessionPage['session']

export function describeStatus({
  status,
  interrupted,
}: Pick<SessionItem, 'status' | 'interrupted'>): string {
  if (interrupted) return '⚠ interrupted'
  if (status === 'in_progress') return 'in progress'
  if (status === 'completed') return '✓ finished'
  return status.startsWith('failed') ? `✗ ${visibleText(status)}` : visibleText(status)
}
