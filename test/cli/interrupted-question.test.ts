// Ctrl-C at the question of a command that removes something: nothing has happened yet, and it says so.
import { expect, test } from 'vitest'
import { scratch } from './program.js'
import { onTerminal } from './terminal.js'

test('install claude, and the trust question of hooks that are installed already', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['install', 'codex', '-y'])
  for (const command of ['install claude', 'install codex']) {
    const terminal = onTerminal(s, `savestate ${command}`)
    await terminal.shows('v to view]')
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(130)
    expect(terminal.output()).toMatch(/\] \^?C?\s*Nothing was changed\.\s*$/)
  }
})

test.each(['prune --max-checkpoints 1', 'drop 2', 'clear', 'clear --all', 'forget a.txt'])(
  '%s',
  async (command) => {
    using s = scratch({ 'a.txt': 'one\n' })
    for (const text of ['two\n', 'three\n']) {
      s.write({ 'a.txt': text })
      s.json(['save'])
    }
    const before = s.json(['list'])
    const terminal = onTerminal(s, `savestate ${command}`)
    await terminal.shows('[y/N]')
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(130)
    expect(terminal.output()).toMatch(/\[y\/N\] \^?C?\s*Nothing was changed\.\s*$/)
    expect(s.json(['list'])).toEqual(before)
  },
)
