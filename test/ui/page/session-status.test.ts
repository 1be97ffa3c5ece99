// The status of a session in words.
import { expect, test } from 'vitest'
import { describeStatus, isInterrupted } from '../../../ui/views/session/session-status.js'

test('a session of a coding agent is open between two prompts, not interrupted', () => {
  const session = { agent: 'claude', status: 'in_progress', interrupted: true } as const
  expect([describeStatus(session), isInterrupted(session)]).toEqual(['open', false])
})

test('a session of a program without its process is interrupted', () => {
  for (const agent of [null, 'my-program']) {
    const session = { agent, status: 'in_progress', interrupted: true } as const
    expect([describeStatus(session), isInterrupted(session)]).toEqual(['⚠ interrupted', true])
  }
})

test('other states are shown as they are', () => {
  const words = (['in_progress', 'completed', 'failed: no key', 'halted: limit'] as const).map(
    (status) => describeStatus({ agent: 'codex', status, interrupted: false }),
  )
  expect(words).toEqual(['in progress', '✓ finished', '✗ failed: no key', 'halted: limit'])
})
