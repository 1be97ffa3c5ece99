// `savestate config trust`: shows the settings that the project's own files ask for, asks, and puts them into effect.
import type { UntrustedFile } from '../../index.js'
import { command } from './command.js'
import { confirmText } from './confirm.js'
import { EXIT } from './exit.js'
import { printableLine } from '../terminal/escape.js'

type Answer = { readonly files: readonly UntrustedFile[]; readonly isDeclined: boolean }

export const runTrust = command<Answer>({
  async call(request) {
    const project = await request.project()
    const { untrusted: files } = await project.config()
    if (files.length === 0) return { files, isDeclined: false }
    const question = files.length === 1 ? 'Trust this file?' : 'Trust these files?'
    if (!(await confirmText(request, { plan: planText(files), question })))
      return { files, isDeclined: true }
    await project.internals.trustFiles(files)
    return { files, isDeclined: false }
  },
  json: ({ files, isDeclined }) => ({ trusted: isDeclined ? [] : files }),
  render({ files, isDeclined }) {
    if (isDeclined) return 'Nothing has been changed.'
    if (files.length === 0)
      return 'The files of this project ask for nothing that needs your trust.'
    const names = files.map(({ file }) => file).join(' and ')
    return `Trusted ${names}. Any change of ${files.length === 1 ? 'the file' : 'a file'} ends this.`
  },
  exitCode: ({ isDeclined }) => (isDeclined ? EXIT.declined : EXIT.done),
})

function planText(files: readonly UntrustedFile[]): string {
  return [
    ...files.flatMap(({ file, asks }) => [
      `${file} asks for:`,
      ...asks.map((ask) => `  ${printableLine(ask)}`),
    ]),
    'This could remove history that the store would keep, or save secrets. Anyone who can write to the project can change these files.',
  ].join('\n')
}
