// Other names of our commands, and the commands that take work away. The guard, the command line and the forwarding to
// the daemon all read these lists: an agent must not get past the guard by typing `restore` for `rewind`.

/** Words that people try, by the command that they mean. */
export const COMMAND_ALIASES: Readonly<Record<string, readonly string[]>> = {
  rewind: ['restore', 'back', 'checkout'],
  list: ['log', 'ls'],
  name: ['tag'],
  drop: ['rm', 'delete'],
}

/** These can be undone. */
export const GOING_BACK: readonly string[] = ['rewind', 'undo', 'redo']

/** The command that the word is an alias of; every other word unchanged. */
export function commandBehind(word: string): string {
  const found = Object.entries(COMMAND_ALIASES).find(([, aliases]) => aliases.includes(word))
  return found?.[0] ?? word
}
