// Parses the body of a save request over HTTP.
import { existsSync } from 'node:fs'
import { type Fields, isRecord, tryParseJson } from '../../base/index.js'
import { SavestateError } from '../../internal.js'

export type SaveCall = {
  /** Absolute; any folder in the project. */
  readonly path: string
  readonly input: { readonly reason?: string; readonly name?: string; readonly namedBy?: 'agent' }
}

const KEYS = ['path', 'reason', 'name']

/** Throws BAD_INPUT. */
export function parseSave(text: string): SaveCall {
  const given = tryParseJson(text)
  if (!isRecord(given)) throw malformed('it is not a JSON object')
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) throw malformed(`it has an unknown key ${JSON.stringify(unknown)}`)
  const path = optionalText(given, 'path')
  if (path === undefined || !path.startsWith('/'))
    throw malformed('path must be the absolute path of a folder')
  const [reason, name] = [optionalText(given, 'reason'), optionalText(given, 'name')]
  return {
    path,
    input: {
      ...(reason === undefined ? {} : { reason }),
      ...(name === undefined ? {} : { name, namedBy: 'agent' as const }),
    },
  }
}

/** For a missing path, projectFor would return the project of its parent, which includes unrelated siblings. */
export function expectFolder(path: string): void {
  if (existsSync(`${path}/.`)) return
  throw new SavestateError('PROJECT_MISSING', `There is no folder ${JSON.stringify(path)}`, {
    hint: 'path is any folder in the project.',
  })
}

function optionalText(given: Fields, key: string): string | undefined {
  const value = given[key]
  if (value === undefined || typeof value === 'string') return value
  throw malformed(`${key} must be a string`)
}

function malformed(what: string): SavestateError {
  return new SavestateError('BAD_INPUT', `The body cannot be used: ${what}`, {
    hint: 'Send {"path", "reason", "name"}; the last two are optional.',
  })
}
