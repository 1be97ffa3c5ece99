// A case is a claim about an agent that a run of it proves or refutes.
import { type Command, run } from './drive.js'
import { makeSandbox, type Sandbox } from './install-folder.js'
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
  readonly sandbox: Sandbox
}

/** For a claim about a feature that an agent lacks: reported as skipped, not as passed. */
export const NOT_HERE = Promise.resolve('not proven: this agent does not have it')

export const START_FILES = { 'b.txt': 'original\n', 'c.txt': 'to be deleted\n' }

/** A separate folder for one case, with the agent ready to run. A request that the model cannot answer is a failure. */
export async function withScene(
  { agent, folders }: Bed,
  prove: (scene: Scene) => Promise<void>,
): Promise<void> {
  const sandbox = await makeSandbox(START_FILES)
  try {
    await prove({ agent, here: agent.at(sandbox, folders), sandbox })
    if (sandbox.server.faults.length > 0) throw new Error(sandbox.server.faults.join('\n'))
  } finally {
    await sandbox.close()
  }
}

/** Runs one turn, from its prompt to the exit of the program, which must succeed. */
export async function turn({ here, sandbox }: Scene, prompt: string): Promise<void> {
  await finish(sandbox, here.ask(prompt))
}

export async function finish(sandbox: Sandbox, command: Command): Promise<void> {
  const outcome = await run(sandbox, command)
  if (outcome.code === 0) return
  const said = `${outcome.stdout}\n${outcome.stderr}`.trim().slice(-2000)
  throw new Error(`The agent ended with ${outcome.code ?? outcome.signal}: ${said}`)
}
