// Converts a step of a script to a call of the agent's tools, with the names and arguments listed in its request.
import type { Call, Tool } from './conversation.js'
import { asList, asRecord, asText, type Json } from './json.js'
import type { Step } from './script.js'

const SHELLS = ['Bash', 'bash', 'exec_command', 'run_shell_command', 'shell_command', 'shell']
const WRITERS = ['Write', 'write', 'write_file']
const PATCHERS = ['apply_patch']
/** Tools that start a subagent, and their names for the unrestricted one. */
const SPAWNERS: Readonly<Record<string, string>> = {
  Agent: 'general-purpose',
  task: 'general',
  spawn_agent: 'default',
  invoke_agent: 'generalist',
}
const WAITERS = ['wait_agent', 'wait']
/** A tool that runs code which calls the other tools. */
const CODE = ['exec']

export function callsFor(step: Step, tools: readonly Tool[]): Call[] {
  switch (step.kind) {
    case 'write':
      return [writeCall(step, tools)]
    case 'delete':
      return [deleteCall(step.path, tools)]
    case 'shell':
      return [shellCall(step.command, tools)]
    case 'agent':
      return [spawnCall(step.prompt, tools)]
    case 'tool':
      return [serverCall(step, tools)]
    case 'wait':
      return [filledCall(required(tools, { names: WAITERS, purpose: 'wait for a subagent' }), {})]
    default:
      throw new Error(`A step "${step.kind}" is no call of a tool`)
  }
}

export function waitsForAgents(tools: readonly Tool[]): boolean {
  return find(tools, ['spawn_agent']) !== undefined && find(tools, WAITERS) !== undefined
}

function writeCall(
  { path, content }: { readonly path: string; readonly content: string },
  tools: readonly Tool[],
): Call {
  const writer = find(tools, WRITERS)
  if (writer !== undefined) return filledCall(writer, { path, content })
  const lines = content.replace(/\n$/, '').split('\n')
  const patch = ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map((line) => `+${line}`)]
  return patchCall([...patch, '*** End Patch', ''].join('\n'), tools)
}

function deleteCall(path: string, tools: readonly Tool[]): Call {
  const patch = `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch\n`
  const canPatch = find(tools, PATCHERS) ?? (find(tools, SHELLS) ? undefined : find(tools, CODE))
  return canPatch === undefined ? shellCall(`rm ${path}`, tools) : patchCall(patch, tools)
}

function patchCall(patch: string, tools: readonly Tool[]): Call {
  const patcher = find(tools, PATCHERS)
  if (patcher?.schema === undefined && patcher !== undefined) {
    return { tool: patcher, input: patch }
  }
  if (patcher !== undefined) return filledCall(patcher, { input: patch })
  const code = required(tools, { names: CODE, purpose: 'write a file' })
  return { tool: code, input: `text(await tools.apply_patch(${JSON.stringify(patch)}))` }
}

function shellCall(command: string, tools: readonly Tool[]): Call {
  const shell = find(tools, SHELLS)
  if (shell !== undefined) return filledCall(shell, { command })
  const code = required(tools, { names: CODE, purpose: 'run a command' })
  const run = `const r = await tools.exec_command(${JSON.stringify({ cmd: command })})`
  return { tool: code, input: `${run}\ntext(r.output)` }
}

function serverCall(
  { name, given }: { readonly name: string; readonly given: Json },
  tools: readonly Tool[],
): Call {
  // Codex lists a server's tools only after the model has searched for them, but runs them without that.
  const unlisted = { name, namespace: 'mcp__savestate', schema: {} }
  return { tool: tools.find((tool) => tool.name.endsWith(name)) ?? unlisted, input: given }
}

function spawnCall(prompt: string, tools: readonly Tool[]): Call {
  return filledCall(
    required(tools, { names: Object.keys(SPAWNERS), purpose: 'start a subagent' }),
    { prompt },
  )
}

interface Meant {
  readonly path?: string
  readonly content?: string
  readonly command?: string
  readonly prompt?: string
  readonly input?: string
}

/** The names that agents use for the same argument. */
const ARGUMENTS: Readonly<Record<string, keyof Meant>> = {
  file_path: 'path',
  filePath: 'path',
  path: 'path',
  content: 'content',
  command: 'command',
  cmd: 'command',
  prompt: 'prompt',
  message: 'prompt',
  request: 'prompt',
  input: 'input',
}

const SUBAGENT_KINDS = ['subagent_type', 'agent_name']

/** Arguments that a schema requires and a script does not specify. */
const FIXED: Json = {
  description: 'a step of the script',
  task_name: 'subtask',
  run_in_background: false,
  timeout_ms: 20_000,
}

function filledCall(tool: Tool, meant: Meant): Call {
  const properties = asRecord(tool.schema?.['properties'])
  const demanded = asList(tool.schema?.['required']).map(asText)
  const input: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    const value = SUBAGENT_KINDS.includes(name)
      ? SPAWNERS[tool.name]
      : argument({ name, schema: asRecord(schema), meant })
    if (value !== undefined) input[name] = value
    else if (demanded.includes(name)) input[name] = anyValue(asRecord(schema))
  }
  return { tool, input }
}

function argument({
  name,
  schema,
  meant,
}: {
  readonly name: string
  readonly schema: Json
  readonly meant: Meant
}): unknown {
  const key = ARGUMENTS[name]
  const value = key === undefined ? undefined : meant[key]
  if (value !== undefined) return schema['type'] === 'array' ? ['sh', '-c', value] : value
  return FIXED[name]
}

function anyValue(schema: Json): unknown {
  const offered = asList(schema['enum'])
  if (offered.length > 0) return offered[0]
  if (schema['type'] === 'boolean') return false
  if (schema['type'] === 'number' || schema['type'] === 'integer') return schema['minimum'] ?? 1
  if (schema['type'] === 'array') return []
  return schema['type'] === 'object' ? {} : 'any'
}

interface Need {
  readonly names: readonly string[]
  readonly purpose: string
}

function find(tools: readonly Tool[], names: readonly string[]): Tool | undefined {
  for (const name of names) {
    const tool = tools.find((one) => one.name === name)
    if (tool !== undefined) return tool
  }
  return undefined
}

function required(tools: readonly Tool[], { names, purpose }: Need): Tool {
  const tool = find(tools, names)
  if (tool !== undefined) return tool
  const offered = tools.map(({ name }) => name).join(', ')
  throw new Error(`The agent offers no tool to ${purpose}; it has ${offered}`)
}
