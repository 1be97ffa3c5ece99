// Several threads of one real graph, in a process of their own, so that it can be killed:
//   node crash-graph.mjs '{"home":…,"log":…,"threads":["t0",…],"killAt":7,"project":…}'
// Each thread continues from where it stopped, to the end. `killAt` is the number of the event (just before or just
// after the saver stores something) at which the process kills itself. The log has a line when a node runs, one when
// the saver has confirmed its work, and one with the result of each thread that got to its end.
import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { SavestateSaver } from '../../dist/langgraph.js'

const request = JSON.parse(process.argv[2] ?? '{}')
const note = (line) => appendFileSync(request.log, `${JSON.stringify(line)}\n`)

let moments = 0
function moment() {
  moments += 1
  if (moments === request.killAt) process.kill(process.pid, 'SIGKILL')
}

const { home, project, durability } = request
const files = project === undefined ? {} : { project, files: true }
const saver = await SavestateSaver.open({ home, durability: 'process', inProcess: true, ...files })
const put = saver.put.bind(saver)
const putWrites = saver.putWrites.bind(saver)
saver.put = async (...args) => {
  moment()
  const config = await put(...args)
  moment()
  return config
}
saver.putWrites = async (config, writes, task) => {
  moment()
  await putWrites(config, writes, task)
  const work = writes.filter(([channel]) => channel === 'done').flatMap(([, value]) => value)
  for (const done of work) note({ confirmed: done, thread: config.configurable.thread_id })
  moment()
}

const State = Annotation.Root({
  done: Annotation({ reducer: (before, added) => before.concat(added), default: () => [] }),
  round: Annotation(),
})

const node =
  (name) =>
  async ({ round = 0 }, config) => {
    await new Promise((resolve) => setTimeout(resolve, name === 'slow' ? 4 : 1))
    const answer = name === 'ask' && round === 1 ? `:${interrupt('go on?')}` : ''
    const done = `${name}${round}${answer}`
    note({ ran: done, thread: config.configurable.thread_id })
    return { done: [done], ...(name === 'last' ? { round: round + 1 } : {}) }
  }

const graph = new StateGraph(State)
  .addNode('first', node('first'))
  .addNode('quick', node('quick'))
  .addNode('slow', node('slow'))
  .addNode('ask', node('ask'))
  .addNode('last', node('last'))
  .addEdge(START, 'first')
  .addEdge('first', 'quick')
  .addEdge('first', 'slow')
  .addEdge('first', 'ask')
  .addEdge(['quick', 'slow', 'ask'], 'last')
  .addConditionalEdges('last', ({ round }) => (round < 3 ? 'first' : END))
  .compile({ checkpointer: saver })

async function finish(thread_id) {
  const config = { configurable: { thread_id } }
  for (;;) {
    const state = await graph.getState(config)
    const isNew = state.config.configurable.checkpoint_id === undefined
    const isAsked = state.tasks.some(({ interrupts }) => interrupts.length > 0)
    // Not `next`: that leaves out tasks that are done, even if their checkpoint is still missing.
    if (!isNew && state.tasks.length === 0) {
      note({ finished: state.values, thread: thread_id })
      return
    }
    await graph.invoke(isNew ? { done: ['in'] } : isAsked ? new Command({ resume: 'yes' }) : null, {
      ...config,
      ...(durability && { durability }),
    })
  }
}

await Promise.all(request.threads.map(finish))
await saver.close()
process.stdout.write(String(moments))
