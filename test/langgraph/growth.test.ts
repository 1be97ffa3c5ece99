// The cost of a growing thread, counted instead of timed: values serialized at a put, and bytes stored.
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { DatabaseSync } from '../support/own-sqlite.js'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { tries } from '../support/test-budget.js'
import { scratch } from '../support/scratch.js'
import { at, put, SavestateSaver, valuesAt } from './saver.js'

type Message = BaseMessage | { readonly role: string; readonly content: string }

const STEPS = tries(300, 100)

const kinds: Readonly<Record<string, (step: number) => Message[]>> = {
  plain: (step) => [
    { role: 'user', content: `question ${step} `.repeat(30) },
    { role: 'assistant', content: `answer ${step} `.repeat(30) },
  ],
  LangChain: (step) => [
    new HumanMessage({ content: `question ${step} `.repeat(30), id: `h${step}` }),
    new AIMessage({ content: `answer ${step} `.repeat(30), id: `a${step}` }),
  ],
}

test.each(Object.keys(kinds))(
  'with %s messages, only new ones are serialized and stored',
  async (kind) => {
    await using it = await scratch()
    const { home } = it
    const saver = await SavestateSaver.open({ home, durability: 'process', inProcess: true })
    const dumps = vi.spyOn(saver.serde, 'dumpsTyped')
    let messages: Message[] = []
    let config = at('t')
    const calls = new Set<number>()
    for (let step = 0; step < STEPS; step += 1) {
      messages = [...messages, ...(kinds[kind]?.(step) ?? [])]
      dumps.mockClear()
      config = await put(saver, config, { values: { messages, done: false } })
      calls.add(dumps.mock.calls.length)
    }
    // The two messages and the metadata; at first `done` too.
    expect([...calls]).toEqual([4, 3])

    // A value that was read is not serialized either.
    const { messages: read } = (await valuesAt(saver, at('t'))) ?? {}
    if (!Array.isArray(read)) throw new Error('There are no messages')
    expect(read).toEqual(messages)
    dumps.mockClear()
    await put(saver, config, { values: { messages: [...read, 'new'], done: false } })
    expect(dumps.mock.calls.length).toBe(2)
    await saver.close()

    const contentBytes = JSON.stringify(messages).length
    // Stored as a whole each time, the lists would take their content times half the number of steps.
    expect(storedBytes(home)).toBeLessThan(contentBytes * 2 + STEPS * 1000 + 200_000)
  },
)

function storedBytes(home: string): number {
  const database = new DatabaseSync(join(home, 'ledger.db'))
  const sql = 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()'
  const row = database.prepare(sql).get()
  database.close()
  return Number(Object(row).bytes)
}
