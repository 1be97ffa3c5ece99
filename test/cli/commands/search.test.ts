// `savestate search`: its output, its filters and its JSON.
import { expect, test } from 'vitest'
import { scratch } from '../program.js'

type Saved = { readonly id: string }

test('search prints the lines with the words, as JSON and as text', () => {
  using s = scratch({ 'a.txt': 'one\n', 'src/b.ts': 'const KEY = 1\n' })
  const first = s.json(['save', '-m', 'before the key']) as Saved
  s.write({ 'a.txt': 'two\n' })
  const second = s.json(['save', '-m', 'a key: sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaa']) as Saved
  const hit = (saved: Saved, text: string) => ({
    checkpoint: saved.id,
    session: null,
    where: 'reason',
    text,
  })
  expect(s.json(['search', 'KEY', 'before'])).toEqual({ hits: [hit(first, 'before the key')] })
  expect(s.json(['search', 'key', '-n', '1', '--since', '1h'])).toEqual({
    hits: [hit(second, 'a key: sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaa')],
  })
  expect(s.json(['search', 'key', '--path', 'src', '--by', 'you', '--content'])).toEqual({
    hits: [
      hit(first, 'before the key'),
      { ...hit(first, 'const KEY = 1'), where: 'content', path: 'src/b.ts', line: 1 },
    ],
  })
  const shown = s.run(['search', 'key'])
  expect(shown.stdout).toContain('  reason: before the key')
  expect(shown.stdout).toContain('  reason: a key: ')
  expect(shown.stdout).not.toContain('aaaaaaaa')
  expect(s.run(['search', 'nowhere']).stdout).toBe('No checkpoint has "nowhere".\n')
  expect(s.run(['search', 'key', '--since', 'soon'])).toMatchObject({ code: 2, stdout: '' })
  expect(s.run(['search'])).toMatchObject({ code: 2, stdout: '' })
})
