// Completion: the candidates of the program, and their use by a real bash.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch, steady } from '../program.js'

function offered(s: Scratch, words: readonly string[]): string[] {
  const { code, stdout, stderr } = s.run(['__complete', '--', ...words])
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' })
  return stdout.split('\n').slice(0, -1)
}

const textsOf = (lines: readonly string[]) => lines.map((line) => line.split('\t')[0])

function withCheckpoints(): Scratch {
  const s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
  s.run(['save', '-m', 'the first', '--name', 'before lunch'])
  s.write({ 'a.txt': 'two\n' })
  s.run(['save', '--name', '$(touch pwned)'])
  return s
}

test('commands and options are offered with their summaries', () => {
  using s = scratch()
  expect(offered(s, ['re'])).toEqual([
    'rewind\tBring back the folder, the conversation of an agent, or both',
    'redo\tRedo the last undone rewind',
    'resume\tPrint what an agent needs to continue a session',
    'remote\tShow, add or remove places to share sessions with',
    'repair\tRebuild derived data and quarantine damaged files',
    'rekey\tEncrypt agent states, or change the key',
  ])
  expect(textsOf(offered(s, ['-C', '.', 'un']))).toEqual(['undo', 'uninstall', 'unpin'])
  expect(textsOf(offered(s, ['redo', '--']))).toEqual(['--dry-run', '--yes', '--json', '--help'])
  expect(textsOf(offered(s, ['completion', '']))).toEqual(['bash', 'zsh', 'fish'])
  expect(textsOf(offered(s, ['help', 'pi']))).toEqual(['pin'])
})

test('checkpoints are offered by name, number and id, newest first', () => {
  using s = withCheckpoints()
  const lines = offered(s, ['show', ''])
  expect(textsOf(lines)).toEqual([
    '$(touch pwned)',
    'before lunch',
    '1',
    '2',
    expect.stringMatching(/^[a-z]{4,18}$/),
    expect.stringMatching(/^[a-z]{4,18}$/),
  ])
  expect(steady(lines[1] ?? '')).toBe('before lunch\tjust now, before lunch: the first')
  const id = textsOf(lines)[4] ?? ''
  expect(textsOf(offered(s, ['diff', '1', id]))).toEqual([id])
  expect(offered(s, ['name', '1', ''])).toEqual([])
  expect(textsOf(offered(s, ['-C', s.project, 'pin', 'be']))).toEqual(['before lunch'])
})

test('sessions are offered by id, last touched first, for arguments and for options', () => {
  using s = withCheckpoints()
  s.run(['save', '--session', "it's $(touch pwned)"])
  s.run(['save', '--session', 'fix-login', '--name', 'in session'])
  s.run(['save', '--session', 'tab\tand\nline'])
  expect(offered(s, ['resume', '']).map(steady)).toEqual([
    'fix-login\tinterrupted, just now',
    "it's $(touch pwned)\tinterrupted, just now",
  ])
  expect(textsOf(offered(s, ['resume', 'fi']))).toEqual(['fix-login'])
  for (const words of [
    ['save', '--session'],
    ['list', '--session'],
    ['export', '--session'],
    ['fork', '1', '--of'],
    ['import', 'json', 'x', '--session'],
  ])
    expect(textsOf(offered(s, [...words, 'fi']))).toEqual(['fix-login'])
  expect(offered(s, ['fork', '1', '--as', ''])).toEqual([])
  expect(textsOf(offered(s, ['fork', '--of', 'fix-login', ''])).slice(0, 2)).toEqual([
    'in session',
    '1',
  ])
})

test('remotes are offered by name where one is meant, and none is contacted', () => {
  using s = scratch()
  expect(offered(s, ['push', '--remote', ''])).toEqual([])
  s.run(['remote', 'add', 'team', 'postgres://me:secret@127.0.0.1:1/none', '--plain'])
  s.run(['remote', 'add', 'mine', '/own.git', '--plain', '--auto-push'])
  const both = ['team\t127.0.0.1:1/none', 'mine\tfile:///own.git']
  for (const words of [
    ['push', '--remote'],
    ['pull', 'x', '--remote'],
    ['handoff', '--remote'],
    ['sessions', '--remote'],
    ['verify', '--remote'],
    ['prune', '--remote'],
    ['remote', 'set'],
    ['remote', 'init'],
    ['remote', 'remove'],
    ['remote', 'drop'],
  ])
    expect([words, offered(s, [...words, ''])]).toEqual([words, both])
  expect(textsOf(offered(s, ['push', '--remote=t']))).toEqual(['--remote=team'])
  expect(textsOf(offered(s, ['remote', 'drop', 'm']))).toEqual(['mine'])
  expect(offered(s, ['remote', 'add', ''])).toEqual([])
  expect(offered(s, ['remote', 'set', 'team', ''])).toEqual([])
})

test('the choices of an option or argument are offered', () => {
  using s = scratch()
  expect(textsOf(offered(s, ['sessions', '--status', '']))).toEqual([
    'in_progress',
    'completed',
    'failed',
    'halted',
    'interrupted',
  ])
  expect(textsOf(offered(s, ['export', '--format', 'y']))).toEqual(['yaml'])
  expect(textsOf(offered(s, ['export', '--format=y']))).toEqual(['--format=yaml'])
  expect(offered(s, ['export', '--nothing=y'])).toEqual([])
  const kinds = ['json', 'yaml', 'hermes', 'ares', 'breakpilot']
  expect(textsOf(offered(s, ['import', '']))).toEqual(kinds)
})

test('files are left to the shell', () => {
  using s = withCheckpoints()
  expect(offered(s, ['import', 'json', ''])).toEqual([':files'])
  expect(offered(s, ['save', '--state', ''])).toEqual([':files'])
  expect(offered(s, ['-C', ''])).toEqual([':folders'])
  expect(offered(s, ['rewind', '1', '--path', ''])).toEqual([':files'])
  expect(offered(s, ['diff', '1', '--', ''])).toEqual([':files'])
})

test('completion prints no errors and exits with 0', () => {
  using s = scratch()
  expect(offered(s, ['-C', '/nowhere', 'show', ''])).toEqual([])
  expect(offered(s, ['nonsense', ''])).toEqual([])
  expect(offered(s, ['show', '1', '2', '3'])).toEqual([])
  expect(s.run(['__complete', '--', 'show', ''], { cwd: join(s.folder, 'user') })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
  const env = { SAVESTATE_HOME: '/dev/null/x' }
  expect(s.run(['__complete', '--', 'show', ''], { env }).stderr).toBe('')
})

test('a real bash completes, and runs no code from a name', () => {
  using s = withCheckpoints()
  s.run(['save', '--session', "it's $(touch pwned)"])
  const completed = (...words: readonly string[]) => typed(words.join(' '), words)
  // Bash splits what was typed at : and = too, and takes nothing off it.
  const typed = (line: string, words: readonly string[]) => {
    const script = `
      source <(savestate completion bash)
      COMP_WORDS=(savestate ${words.map((word) => `$'${word.replace(/[\\']/g, '\\$&')}'`).join(' ')})
      COMP_CWORD=${words.length}
      COMP_LINE=$'savestate ${line.replace(/[\\']/g, '\\$&')}'
      COMP_POINT=\${#COMP_LINE}
      _savestate
      for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done`
    const { code, stdout, stderr } = s.shell(script, { shell: 'bash' })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.split('\n').slice(0, -1)
  }
  expect(completed('re')).toEqual(['rewind', 'redo', 'resume', 'remote', 'repair', 'rekey'])
  expect(completed('resume', 'it')).toEqual(["it\\'s\\ \\$\\(touch\\ pwned\\)"])
  expect(completed('show', 'be')).toEqual(['before\\ lunch'])
  expect(completed('show', '$')).toEqual(['\\$\\(touch\\ pwned\\)'])
  expect(completed('rewind', '1', '--path', 's')).toEqual(['src'])
  expect(completed('diff', '1', '--', 'a')).toEqual(['a.txt'])
  expect(completed('-C', 's')).toEqual(['src'])
  expect(completed('show', 'nothing-of-the-kind')).toEqual([])
  s.run(['save', '--session', 'fix:login'])
  expect(completed('resume', 'fix')).toEqual(['fix:login'])
  expect(typed('resume fix:l', ['resume', 'fix', ':', 'l'])).toEqual(['login'])
  expect(typed('resume fix:', ['resume', 'fix', ':'])).toEqual(['login'])
  expect(typed('fork --of fix:login ', ['fork', '--of', 'fix', ':', 'login', ''])).toContain('1')
  expect(completed('show', 'before\\ l')).toEqual(['before\\ lunch'])
  expect(completed('show', "'before l")).toEqual(['before lunch'])
  expect(completed('show', '"before l')).toEqual(['before lunch'])
  expect(typed('export --format=y', ['export', '--format', '=', 'y'])).toEqual(['yaml'])
  expect(typed('rewind 1 --path=s', ['rewind', '1', '--path', '=', 's'])).toEqual(['src'])
  expect(completed('rewind', '1', '--path', 'pwned')).toEqual([])
})

test('bash offers nothing inside quotes that it would expand there', () => {
  const names = {
    command: 'works$(touch pwned)',
    backticks: 'works`touch pwned`',
    closing: 'works";touch pwned;"',
    backslash: 'works\\',
    history: 'works!!',
    apostrophe: "works';touch pwned;'",
    plain: 'works well',
    quoted: '"works" #1',
  }
  using s = scratch({ 'a.txt': 'one\n', 'f$(touch pwned)': '', "f';touch pwned;'": '', 'f g': '' })
  for (const name of Object.values(names)) s.run(['save', '--name', name])
  const completed = (line: string, word: string) => {
    const script = `
      source <(savestate completion bash)
      COMP_LINE=$1$2 COMP_POINT=$((\${#1} + \${#2})) COMP_WORDS=($1 "$2")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _savestate
      printf '%s\\n' "\${COMPREPLY[@]}"`
    s.write({ '../complete.sh': script })
    const { stdout } = s.shell(`bash ../complete.sh ${quote(line)} ${quote(word)}`)
    return stdout.split('\n').slice(0, -1).sort()
  }
  expect(completed('savestate show ', '"wor')).toEqual([names.plain, names.apostrophe])
  const inSingle = [names.command, names.backticks, names.closing, names.backslash, names.history]
  expect(completed('savestate show ', "'wor")).toEqual([...inSingle, names.plain].sort())
  // Without quotes each is one word for the shell, which means the name and nothing else.
  for (const word of ['wor', '\\"wor']) {
    const candidates = completed('savestate show ', word)
    const read = s.shell(`printf '%s\\n' ${candidates.join(' ')}`, { shell: 'bash' }).stdout
    const meant = Object.values(names).filter((name) => name.startsWith(word.replace('\\', '')))
    expect(read.split('\n').slice(0, -1).sort()).toEqual(meant.sort())
  }
  // Names of files too, where bash does not quote them itself.
  expect(completed('savestate diff 1 -- ', '"f')).toEqual(['f g', "f';touch pwned;'"])
  expect(completed('savestate diff 1 -- ', "'f")).toEqual(['f g', 'f$(touch pwned)'].sort())
  expect(existsSync(join(s.project, 'pwned'))).toBe(false)
})

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

test('the scripts of all shells ask the program', () => {
  using s = scratch()
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = s.run(['completion', shell])
    expect({ shell, code }).toEqual({ shell, code: 0 })
    expect(stdout).toContain('savestate __complete -- ')
    expect(stdout).toContain(':files')
  }
  expect(s.shell('savestate completion bash | bash -n', { shell: 'bash' })).toMatchObject({
    code: 0,
    stderr: '',
  })
})
