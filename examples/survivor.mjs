// Kill it whenever you like and run it again: it continues where it stopped.
import { openStore } from 'savestate'

const store = await openStore()
const { session, state, inFlight } = await store.resume('ten thoughts', { create: true })
// A call that was running at the kill may or may not have taken effect. This tool may run twice; others may not.
for (const call of inFlight) await session.resolveToolCall(call.id, { as: 'retry' })

const messages = [...(state?.messages ?? [])]
console.log(`Continuing at step ${messages.length}.`)
while (messages.length < 10) {
  const step = messages.length
  const call = { id: `think-${step}`, name: 'think', args: { step } }
  const content = await session.tool(call, () => think(step))
  messages.push({ role: 'assistant', content })
  await session.save({ state: { messages } })
  console.log(`Step ${step} is saved: ${content}.`)
}
await session.complete()
await store.close()

/** Simulates a model: slow, and every answer costs something. */
async function think(step) {
  await new Promise((resolve) => setTimeout(resolve, 100))
  return `thought ${step}`
}
