// The effect of each command on the user's work, listed only here. Derived from it or tested against it: who may run a command
// (the guard of the hooks and the program's own check), which commands the daemon may serve, which commands ask for
// confirmation, and the hints of the MCP tools.

/**
 * `changes-files`: overwrites or removes files; it can be undone. `changes-store`: removes checkpoints, their protection or
 * their settings; it cannot be undone.
 */
export type Effect = 'reads' | 'adds' | 'changes-files' | 'changes-store'

type CommandEffect = {
  readonly effect: Effect
  readonly aliases?: readonly string[]
  readonly actions?: Readonly<Record<string, Effect>>
  readonly options?: Readonly<Record<string, Effect>>
}

export const COMMAND_EFFECTS: Readonly<Record<string, CommandEffect>> = {
  save: { effect: 'adds' },
  list: { effect: 'reads', aliases: ['ls'] },
  blame: { effect: 'reads' },
  log: { effect: 'reads' },
  show: { effect: 'reads' },
  cat: { effect: 'reads' },
  diff: { effect: 'reads' },
  search: { effect: 'reads' },
  rewind: { effect: 'changes-files', aliases: ['restore', 'back', 'checkout'] },
  undo: { effect: 'changes-files' },
  redo: { effect: 'changes-files' },
  commits: { effect: 'reads' },
  notes: { effect: 'reads' },
  open: { effect: 'adds' },
  compare: { effect: 'reads' },
  adopt: { effect: 'changes-files' },
  bisect: { effect: 'adds' },
  // Its page can also unpin.
  ui: { effect: 'changes-store', options: { 'read-only': 'reads' } },
  sessions: { effect: 'reads' },
  resume: { effect: 'adds' },
  fork: { effect: 'adds' },
  // A remote gets everything, so only the user chooses one.
  remote: {
    effect: 'reads',
    actions: {
      add: 'changes-store',
      init: 'changes-store',
      set: 'changes-store',
      remove: 'changes-store',
      // For everyone who shares it.
      drop: 'changes-store',
    },
  },
  // Sends to a place that the user has chosen. Sessions of other projects are the user's to share.
  push: { effect: 'adds', options: { all: 'changes-store' } },
  // `--take` ends the work of another machine.
  pull: { effect: 'adds', options: { take: 'changes-store', into: 'changes-files' } },
  handoff: { effect: 'adds' },
  export: { effect: 'reads' },
  import: { effect: 'adds' },
  // Both options are a consent that only the user can give.
  install: {
    effect: 'adds',
    options: { 'allow-agent-rewind': 'changes-store', trust: 'changes-store' },
  },
  uninstall: { effect: 'changes-store' },
  hook: { effect: 'adds' },
  mcp: { effect: 'adds', options: { 'allow-agent-rewind': 'changes-store' } },
  pin: { effect: 'adds' },
  unpin: { effect: 'changes-store' },
  name: { effect: 'adds', aliases: ['tag'] },
  status: { effect: 'reads' },
  // A shorter retention removes history, and a trusted file of the project can ask for one.
  config: {
    effect: 'reads',
    actions: { set: 'changes-store', unset: 'changes-store', trust: 'changes-store' },
  },
  move: { effect: 'changes-store' },
  prune: { effect: 'changes-store' },
  drop: { effect: 'changes-store', aliases: ['rm', 'delete'] },
  forget: { effect: 'changes-store' },
  clear: { effect: 'changes-store' },
  'clear-legacy': { effect: 'changes-store' },
  verify: { effect: 'reads' },
  repair: { effect: 'changes-store' },
  doctor: { effect: 'reads' },
  rekey: { effect: 'changes-store' },
  watch: { effect: 'adds' },
  run: { effect: 'adds' },
  daemon: { effect: 'adds', actions: { stop: 'changes-store' } },
  completion: { effect: 'reads' },
  help: { effect: 'reads' },
}

/** A call of our program: the command or an alias of it, its first argument and its options. */
export type CommandCall = {
  readonly command: string
  readonly action: string | undefined
  readonly has: (option: string) => boolean
}

export function effectOf({ command, action, has }: CommandCall): Effect | undefined {
  const found = valueOf(COMMAND_EFFECTS, commandBehind(command))
  if (found === undefined) return undefined
  if (has('help') || has('dry-run')) return 'reads'
  const { effect, actions = {}, options = {} } = found
  const option = Object.keys(options).find(has)
  return valueOf(options, option) ?? valueOf(actions, action) ?? effect
}

/** The command that the word is an alias of; every other word unchanged. */
export function commandBehind(word: string): string {
  const found = Object.keys(COMMAND_EFFECTS).find((name) => aliasesOf(name).includes(word))
  return found ?? word
}

export function aliasesOf(command: string): readonly string[] {
  return valueOf(COMMAND_EFFECTS, command)?.aliases ?? []
}

/** An agent may run the command, needs the switch `--allow-agent-rewind`, or must leave it to the user. */
export type AgentPermission = 'free' | 'by-switch' | 'user-only'

export function agentPermission(call: CommandCall): AgentPermission {
  const effect = effectOf(call)
  if (effect === 'changes-files') return 'by-switch'
  return effect === 'changes-store' ? 'user-only' : 'free'
}

/** Keys come from user input: `constructor` is not one. */
function valueOf<Value>(table: Readonly<Record<string, Value>>, key: string | undefined) {
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined
}
