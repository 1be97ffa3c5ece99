import { type ConfigResult, SavestateError } from '../../index.js'
import { type Command, command, type Request } from '../runtime/command.js'
import { runTrust } from '../runtime/config-trust.js'
import { nearest, tryParseJson } from '../../base/index.js'
import { printable } from '../terminal/escape.js'
import type { Screen } from '../terminal/screen.js'
import { textTable } from '../terminal/table.js'
import { untrustedLine } from '../render/untrusted-text.js'

type Value = ConfigResult['values'][number]
type Answer = {
  readonly result: ConfigResult
  /** The setting that was read or changed; undefined for all. */
  readonly value?: Value
  /** The file that was changed. */
  readonly file?: string
}

export const run: Command = (request) =>
  request.positionals[0] === 'trust' ? runTrust(request) : runSettings(request)

const runSettings = command<Answer>({
  async call(request) {
    const [action, key, text] = request.positionals
    const result = await readSettings(request)
    if (action === undefined) return { result }
    const known = findSetting(key, result)
    if (action === 'get') {
      refuse(text !== undefined, 'config get takes one key')
      return { result, value: known }
    }
    refuse(action === 'set' && text === undefined, `The value of ${known.key} is missing`)
    refuse(action === 'unset' && text !== undefined, 'config unset takes one key')
    const value = text === undefined ? undefined : valueOf(text, known)
    const isOfProject = request.options.has('project')
    if (isOfProject) await (await request.project()).setConfig(known.key, value)
    else await (await request.store()).maintenance.setConfig(known.key, value)
    const after = await readSettings(request)
    const file = (isOfProject ? after.files.project : null) ?? after.files.store
    return { result: after, value: findSetting(key, after), file }
  },
  json: ({ result, value, file }) =>
    value === undefined ? result : { ...value, ...(file === undefined ? {} : { file }) },
  render({ result, value, file }, { screen, positionals }) {
    if (value === undefined) return allText(result, screen)
    const text = printable(textOf(value.value))
    if (file === undefined) return text
    const done = positionals[0] === 'unset' ? 'back to' : 'now'
    return `${value.key} is ${done} ${text} (${printable(file)}).`
  },
  note({ result, value, file }) {
    if (value !== undefined && file === undefined) return undefined
    const untrusted = untrustedLine(result.untrusted)
    if (untrusted !== undefined || value === undefined) return untrusted
    if (!value.counts)
      return `${value.key} has no effect under the current retention policy (savestate config get retention).`
    const isOther = value.source === 'project' && file?.endsWith('.savestate.json') === false
    return isOther
      ? `In this project .savestate.json sets it to ${textOf(value.value)}.`
      : undefined
  },
})

/** In a folder that cannot be a project, such as the home folder, the settings of the store still work. */
async function readSettings({ project, store, options }: Request): Promise<ConfigResult> {
  try {
    return await (await project()).config()
  } catch (error) {
    const isNoProject = error instanceof SavestateError && error.code === 'PROJECT_REFUSED'
    if (!isNoProject || options.has('project')) throw error
    return (await store()).maintenance.config()
  }
}

function findSetting(key: string | undefined, { values }: ConfigResult): Value {
  refuse(key === undefined, 'The name of the setting is missing')
  const found = values.find((value) => value.key === key)
  if (found !== undefined) return found
  const known = values.map((value) => value.key)
  const meant = nearest(key ?? '', known)
  throw new SavestateError('BAD_INPUT', `There is no setting ${JSON.stringify(key)}`, {
    hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}The settings are: ${known.join(', ')}.`,
  })
}

function refuse(isWrong: boolean, message: string): void {
  if (!isWrong) return
  throw new SavestateError('BAD_INPUT', message, {
    hint: 'Usage: savestate config [get KEY | set KEY VALUE | unset KEY | trust] [--project]',
  })
}

/** A number, true or false, a list as JSON, or plain text. One pattern is a list of one. */
function valueOf(text: string, { value }: Value): unknown {
  if (typeof value === 'string') return text
  const parsed = tryParseJson(text) ?? text
  return Array.isArray(value) && typeof parsed === 'string' ? [parsed] : parsed
}

function textOf(value: Value['value']): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function allText({ files, values }: ConfigResult, screen: Screen): string {
  const counting = values.filter(({ counts, source }) => counts || source !== 'default')
  return [
    textTable(counting, {
      screen,
      columns: [
        { cell: ({ key }) => key },
        { cell: ({ value }) => printable(JSON.stringify(value)) },
      ],
      last({ source, counts }) {
        const from = source === 'default' ? 'default' : printable(files[source] ?? '')
        return screen.paint(
          'dim',
          counts ? from : `${from} (no effect under this retention policy)`,
        )
      },
    }),
    '',
    `The store:    ${printable(files.store)}`,
    ...(files.project === null ? [] : [`This project: ${printable(files.project)}`]),
  ].join('\n')
}
