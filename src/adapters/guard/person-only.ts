// Commands that only the user may run. A text that an agent reads can ask it to destroy work, so no agent removes files, or
// the means to bring them back, by itself.
import { commandBehind, GOING_BACK } from '../../base/index.js'

/** How a command was asked for: its name or an alias of it, its first argument and its options. */
export type Asked = {
  readonly command: string
  readonly action: string | undefined
  readonly has: (option: string) => boolean
}

/** `unless-allowed`: the switch of the person lets an agent do it. `always`: nothing does. */
export type PersonNeed = 'unless-allowed' | 'always'

/** These cannot be undone, or they remove what makes undoing possible. */
const FOR_GOOD: readonly string[] = [
  'prune',
  'forget',
  'drop',
  'unpin',
  'clear',
  'clear-legacy',
  'repair',
  'rekey',
  'move',
  'uninstall',
]

const CHANGES_SETTINGS: readonly string[] = ['set', 'unset', 'trust']

/** Undefined for what anyone may do. */
export function personNeed({ command: word, action, has }: Asked): PersonNeed | undefined {
  const command = commandBehind(word)
  if (has('help') || has('dry-run')) return undefined
  if (GOING_BACK.includes(command)) return 'unless-allowed'
  if (FOR_GOOD.includes(command)) return 'always'
  // A shorter retention removes history too, and a trusted file of the project can ask for one.
  if (command === 'config') return CHANGES_SETTINGS.includes(action ?? '') ? 'always' : undefined
  if (command === 'daemon') return action === 'stop' ? 'always' : undefined
  // A yes that is a person's to give.
  const isYes = has('allow-agent-rewind') || (command === 'install' && has('trust'))
  return isYes && (command === 'install' || command === 'mcp') ? 'always' : undefined
}
