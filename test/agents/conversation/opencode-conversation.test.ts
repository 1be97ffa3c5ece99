// Truncates a handwritten export in the format of opencode.
import { expect, test } from 'vitest'
import { cutExport } from '../../../src/agents/conversation/opencode-conversation.js'

const SESSION = 'ses_019a0000000000000001'
const message = (number: number, role: string) => {
  const id = `msg_019a00000000000${number}0000aaaa`
  const part = { id: `prt_019a00000000000${number}0000aaaa`, messageID: id, sessionID: SESSION }
  return { info: { id, role, sessionID: SESSION }, parts: [{ ...part, text: `about ${SESSION}` }] }
}
const MESSAGES = [message(1, 'user'), message(2, 'assistant'), message(3, 'user')]
const EXPORT = { info: { id: SESSION, directory: '/project' }, messages: MESSAGES }
const THIRD = MESSAGES[2]?.info.id ?? ''

test('the part before the prompt gets new ids, consistently and in the same order', () => {
  const cut = cutExport(EXPORT, THIRD)
  expect(cut?.count).toBe(2)
  const { session = '', text = '' } = cut ?? {}
  expect(session).not.toBe(SESSION)
  const mark = session.slice(-8)
  const renamed = (id: string) => id.slice(0, -8) + mark
  const expected = MESSAGES.slice(0, 2).map(({ info, parts }) => ({
    info: { ...info, id: renamed(info.id), sessionID: session },
    parts: parts.map((part) => ({
      ...part,
      id: renamed(part.id),
      messageID: renamed(info.id),
      sessionID: session,
    })),
  }))
  expect(JSON.parse(text)).toEqual({
    info: { id: session, directory: '/project' },
    messages: expected,
  })
})

test('nothing precedes the first prompt, and an unknown prompt is not found', () => {
  expect(cutExport(EXPORT, MESSAGES[0]?.info.id ?? '')?.count).toBe(0)
  for (const odd of [undefined, [], {}, { info: {}, messages: [] }, { ...EXPORT, messages: 7 }])
    expect(cutExport(odd, THIRD)).toBeUndefined()
  expect(cutExport(EXPORT, 'msg_of another session')).toBeUndefined()
})
