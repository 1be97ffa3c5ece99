import { command } from '../command.js'
import { printable } from '../printable.js'
import { shortIdOf } from '../short-id.js'

export const run = command({
  call: async ({ project, argument }) => (await project()).name(argument(0), argument(1)),
  render: async ({ id, name }, { project }) =>
    `${await shortIdOf(await project(), id)} is now named ${printable(name ?? '')}`,
})
