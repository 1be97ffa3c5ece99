// A case is a claim about an agent that a run of it proves or refutes.
import { type Command, run } from './drive.js'
import { makePlace, type Place } from './install-folder.js'
import type { Agent, AgentHere } from './programs/agent.js'

export interface Case {
  readonly claim: string
  /** May return a measurement to print. */
  prove(bed: Bed): Promise<string | undefined | void>
}

/** An agent that is installed, and another to run beside it. */
export interface Bed extends InstalledAgent {
  readonly partner: InstalledAgent
}

export interface InstalledAgent {
  readonly agent: Agent
  readonly folders: readonly string[]
}

export interface Scene {
  readonly agent: Agent
  readonly here: AgentHere
  readonly place: Place
}

/** For a claim about a feature that an agent lacks: reported as skipped, not as passed. */
export const NOT_HERE = Promise.resolve('not proven: this agent does not have it')

export const START_FILES = { 'b.txt': 'original\n', 'c.txt': 'to be deleted\n' }

/** A separate folder for one case, with the agent ready to run. A request that the model cannot answer is a failure. */
export async function withScene(
  { agent, folders }: Bed,
  prove: (scene: Scene) => Promise<void>,
): Promise<void> {
  const place = await makePlace(START_FILES)
  try {
    await prove({ agent, here: agent.at(place, folders), place })
    if (place.server.faults.length > 0) throw new Error(place.server.faults.join('\n'))
  } finally {
    await place.close()
  }
}

/** Runs one turn, from its prompt to the exit of the program, which must succeed. */
export async function turn({ here, place }: Scene, prompt: string): Promise<void> {
  await finish(place, here.ask(prompt))
}

export async function finish(place: Place, command: Command): Promise<void> {
  const outcome = await run(place, command)
  if (outcome.code === 0) return
  const said = `${outcome.stdout}\n${outcome.stderr}`.trim().slice(-2000)
  throw new Error(`The agent ended with ${outcome.code ?? outcome.signal}: ${said}`)
}
