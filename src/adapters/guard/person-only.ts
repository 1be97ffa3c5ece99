// What only a person may ask for. A text that an agent reads can ask it to destroy work, so no agent does by itself
// what takes files away or what takes away the means to bring them back.

/** How a command was asked for, by its name, its first argument and its options. */
export type Asked = {
  readonly command: string
  readonly action: string | undefined
  readonly has: (option: string) => boolean
}

/** `unless-allowed`: the switch of the person lets an agent do it. `always`: nothing does. */
export type PersonNeed = 'unless-allowed' | 'always'

/** Each can be taken back. */
const GOING_BACK: readonly string[] = ['rewind', 'undo', 'redo']
/** These cannot, or they end what makes taking back possible. */
const FOR_GOOD: readonly string[] = [
  'prune',
  'forget',
  'clear',
  'clear-legacy',
  'repair',
  'rekey',
  'uninstall',
]

/** Undefined for what anybody may do. */
export function personNeed({ command, action, has }: Asked): PersonNeed | undefined {
  if (has('help') || has('dry-run')) return undefined
  if (GOING_BACK.includes(command)) return 'unless-allowed'
  if (FOR_GOOD.includes(command)) return 'always'
  if (command === 'daemon') return action === 'stop' ? 'always' : undefined
  // A yes that is a person's to give.
  const isYes = has('allow-agent-rewind') || (command === 'install' && has('trust'))
  return isYes && (command === 'install' || command === 'mcp') ? 'always' : undefined
}
