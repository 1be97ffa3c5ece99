// `project.notes` with real git: which steps are in which commit, and the bundle of notes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitStory } from '../../support/history/commit-story.js'
import { scratch } from '../../support/scratch.js'

test('a commit has the steps whose work it contains, and git shows the notes', async () => {
  await using s = await scratch()
  const it = await commitStory(s, { files: { '.gitignore': '*.log\n', 'a.txt': 'a\n' } })
  await it.project.save({ name: 'start' })
  const one = await it.prompt('One', { 'b.txt': '1\n', 'x.log': 'l\n' })
  const two = await it.prompt('Two', { 'b.txt': '2\n' })
  const first = it.commit('both')
  await it.prompt('Wrong', { 'c.txt': 'wrong\n' })
  s.write({ 'c.txt': 'right\n' })
  it.commit('by hand')
  const four = await it.prompt('Four', { 'a.txt': null })
  const last = it.commit('removal')
  const { notes, content } = await it.project.notes(null)
  expect(notes).toEqual([
    {
      commit: first,
      checkpoints: [one.id, two.id],
      text: `claude: One\nSavestate-Checkpoint: ${one.id}\nclaude: Two\nSavestate-Checkpoint: ${two.id}\n`,
    },
    {
      commit: last,
      checkpoints: [four.id],
      text: `claude: Four\nSavestate-Checkpoint: ${four.id}\n`,
    },
  ])
  expect((await it.project.notes(`${two.id}..`)).notes.map(({ commit }) => commit)).toEqual([last])
  const clone = it.clone()
  writeFileSync(join(s.folder, 'n.bundle'), content)
  const ref = 'refs/notes/savestate'
  s.git(['fetch', '-q', join(s.folder, 'n.bundle'), `${ref}:${ref}`], { cwd: clone })
  expect(s.git(['log', '--notes=savestate', '--format=%N', '-1'], { cwd: clone }).trim()).toBe(
    notes[1]?.text.trim(),
  )
})

test('line ends and a project in a folder do not hide a step', async () => {
  await using s = await scratch()
  const it = await commitStory(s, {
    folder: 'app',
    files: { 'app/a.txt': 'a\n' },
    config: [['core.autocrlf', 'true']],
  })
  await it.project.save({ name: 'start' })
  const one = await it.prompt('One', { 'app/a.txt': 'one\r\ntwo\r\n' })
  it.commit('x')
  const { notes } = await it.project.notes(null)
  expect(notes.map(({ checkpoints }) => checkpoints)).toEqual([[one.id]])
})

test('without a repository or a commit there are no notes', async () => {
  await using s = await scratch({ files: { 'a.txt': 'a\n' } })
  const project = await (await s.open()).project(s.project)
  expect(await project.notes(null)).toEqual({ notes: [], content: new Uint8Array() })
  await project.save()
  expect(await project.notes(null)).toEqual({ notes: [], content: new Uint8Array() })
  s.git(['init', '-q'], { cwd: s.project })
  expect(await project.notes(null)).toEqual({ notes: [], content: new Uint8Array() })
})
