// Names of checkpoints: set, replaced, shared and removed.
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'

function withThree(): { readonly s: Scratch; readonly ids: readonly string[] } {
  const s = scratch({ 'a.txt': '1\n' })
  for (const content of ['1\n', '2\n', '3\n']) {
    s.write({ 'a.txt': content })
    s.run(['save'])
  }
  const { checkpoints } = s.json(['list']) as { checkpoints: { id: string }[] }
  return { s, ids: checkpoints.map(({ id }) => id) }
}

/** Ids as their numbers in the list. */
function said(s: Scratch, ids: readonly string[], args: readonly string[]): string {
  const { code, stdout, stderr } = s.run(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.replaceAll(/\b[bcdfghjklmnpqrstvwxz]{4,18}\b/g, (id) => {
    const at = ids.findIndex((whole) => whole.startsWith(id))
    return at === -1 ? id : `<${at + 1}>`
  })
}

test('a name can be set, replaced and removed, and each change is reported', () => {
  const { s, ids } = withThree()
  using _ = s
  expect(said(s, ids, ['name', '2', 'works'])).toBe('<2> is now named works.\n')
  expect(said(s, ids, ['name', '2', 'works'])).toBe('<2> is now named works.\n')
  expect(said(s, ids, ['name', '2', 'better'])).toBe(
    '<2> is now named better. It was named works before.\n',
  )
  expect(said(s, ids, ['name', 'better', '--remove'])).toBe(
    'Removed the name better from <2>. The limits apply to it again, unless it is pinned.\n',
  )
  expect(said(s, ids, ['name', '2', '--remove'])).toBe('<2> has no name.\n')
  expect(s.run(['show', 'better']).code).toBe(2)
  expect(s.json(['name', '2', 'again'])).toMatchObject({ name: 'again', previousName: null })
})

test('a name of two checkpoints means the newer one, and the output says so', () => {
  const { s, ids } = withThree()
  using _ = s
  s.run(['name', '2', 'works'])
  expect(said(s, ids, ['name', '1', 'works'])).toBe(
    '<1> is now named works.\n<2> has this name too, but is older: works means <1>.\n',
  )
  expect(said(s, ids, ['name', '3', 'works'])).toBe(
    '<3> is now named works.\n' +
      '<1> has this name too and is newer, so works means <1>. To change that: savestate name <1> --remove\n',
  )
  expect(s.json(['show', 'works'])).toMatchObject({ id: ids[0] })
})

test('an agent may set names, but not replace those of the user, and may not unpin', () => {
  const { s } = withThree()
  using _ = s
  s.run(['name', '2', 'works'])
  const asAgent = (...args: string[]) => {
    const { code, stderr } = s.run(args, { env: { CLAUDECODE: '1' } })
    return [code, stderr.split('.')[0]]
  }
  const message = (what: string) => `Error: The user ${what}`
  const taken = 'has named a checkpoint "works" in this project, so an agent cannot use that name'
  expect(asAgent('save', '--name', 'works')).toEqual([2, message(taken)])
  expect(asAgent('tag', '1', 'works')).toEqual([2, message(taken)])
  expect(asAgent('name', 'works', '--remove')).toEqual([
    2,
    expect.stringMatching(
      /^Error: The user gave checkpoint \w+ its name, so an agent cannot change it/,
    ),
  ])
  expect(asAgent('unpin', '1')).toEqual([2, expect.stringContaining('Only a user may run')])
  expect(asAgent('save', '--name', 'try')).toEqual([0, ''])
})

test('an invalid name is refused with the reason', () => {
  using s = scratch({ 'a.txt': '1\n' })
  s.run(['save'])
  const errorOf = (...args: string[]) => {
    const { code, stderr } = s.run(['name', ...args])
    expect(code).toBe(2)
    return stderr
  }
  expect(errorOf('1', '')).toBe(
    'Error: A name cannot be empty.\nTo remove the name of a checkpoint: savestate name <ref> --remove\n',
  )
  expect(errorOf('1', '7')).toBe(
    'Error: "7" cannot be a name: it would be read as a position in the list.\n',
  )
  expect(errorOf('1', 'a\tb')).toContain('cannot be a name: it contains a control character')
  expect(errorOf('1', 'x'.repeat(201))).toContain('it is longer than 200 characters')
  expect(errorOf('1')).toContain('Error: NAME is missing.\nUsage: savestate name')
  expect(errorOf('1', 'x', '--remove')).toContain('--remove takes no NAME')
})
