import type { ConfigResult } from '../../index.js'
import { command } from '../command.js'
import { printable } from '../printable.js'
import { padEnd } from '../text-width.js'

export const run = command({
  call: async ({ project }) => (await project()).config(),
  render({ files, values }, { screen }) {
    const width = Math.max(...values.map(({ key }) => key.length))
    const shown = values.map(({ value }) => JSON.stringify(value))
    const valueWidth = Math.max(...shown.map((text) => text.length))
    return [
      ...values.map(({ key, source }, place) => {
        const value = padEnd(printable(shown[place] ?? ''), valueWidth)
        const from = source === 'default' ? 'default' : printable(files[source])
        return `${padEnd(key, width)}  ${value}  ${screen.paint('dim', from)}`
      }),
      '',
      `The store:    ${printable(files.store)}`,
      `This project: ${printable(files.project)}`,
    ].join('\n')
  },
} satisfies Parameters<typeof command<ConfigResult>>[0])
