/**
 * The state under test: a conversation that grows by a pair of messages in each step, a tool call of
 * the assistant's and its result. Every pair is 1,060 bytes of JSON, the same in every run, and no two
 * are equal.
 */
import { createHash } from 'node:crypto'
import type { Message } from '../../src/index.js'
import { type Random, seededRandom } from '../trees/random.js'
import { word } from '../trees/source-text.js'

export type { Message } from '../../src/index.js'
export type Conversation = { readonly messages: readonly Message[] }

const PAIR_BYTES = 1_060
/** The assistant's share of a pair's text; the rest is the tool result. */
const SPOKEN = 0.3

/** The messages that a step adds; the first step is 1. */
export function pairOf(step: number): readonly [Message, Message] {
  const random = seededRandom(step)
  const path = `src/${word(random)}/${word(random)}-${step}.ts`
  const bare = Buffer.byteLength(JSON.stringify(pair({ step, path, said: '', found: '' })))
  const spoken = Math.round((PAIR_BYTES - bare) * SPOKEN)
  const said = proseOf(random, spoken)
  const found = proseOf(random, PAIR_BYTES - bare - spoken)
  return pair({ step, path, said, found })
}

/** The state after `steps` steps, which follow `after` others. */
export function conversationOf(steps: number, { after = 0 } = {}): Conversation {
  return { messages: Array.from({ length: steps }, (_, index) => pairOf(after + index + 1)).flat() }
}

/** A hash of the JSON, to compare with a state that was read back. */
export function digestOf(state: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(state) ?? '')
    .digest('hex')
}

type PairParts = {
  readonly step: number
  readonly path: string
  readonly said: string
  readonly found: string
}

function pair({ step, path, said, found }: PairParts): readonly [Message, Message] {
  const call = `call_${step.toString().padStart(6, '0')}`
  return [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: said },
        { type: 'tool_use', id: call, name: 'read_file', input: { path, lines: [1, 20 + step] } },
      ],
      usage: { input: 1_200 + step * 265, output: 90 },
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool_result',
          id: call,
          isError: false,
          content: [{ type: 'text', text: found }],
        },
      ],
    },
  ]
}

function proseOf(random: Random, length: number): string {
  let text = ''
  while (text.length < length) text += `${word(random)} `
  return text.slice(0, length)
}
