// Answers the requests of an exported page from the data that the file contains.
import type { Failure, Method } from '../../src/ui/api.js'
import { DATA_ID, type ExportedData, exportKey } from '../../src/ui/export/export-key.js'
import { imageTypeOf, MAX_EXPORTED_IMAGE_BYTES } from '../../src/ui/export/image-type.js'
import { formatBytes } from '../components/format.js'
import { notice } from './dialogs.js'
import { answerFrom, RequestError } from './transport.js'

/** Called once, before the first request. */
export function openExport(): void {
  const element = document.getElementById(DATA_ID)
  if (element === null) throw new Error('The file has no data')
  const data = JSON.parse(element.textContent ?? '') as ExportedData
  answerFrom((method, input) => findAnswer(data, method, input))
  const left = data.leftOut.length === 0 ? '' : ` Left out: ${data.leftOut.join('; ')}.`
  const made = new Date(data.madeAt).toLocaleString()
  notice.value = {
    text: `This file was made by Savestate on ${made}. Secrets with a known shape are masked.${left}`,
    command: null,
    rewoundAt: null,
  }
}

function findAnswer(
  { answers }: ExportedData,
  method: Method | 'file',
  input: Readonly<Record<string, unknown>>,
): unknown {
  // The file has one project and one first view.
  const answer = answers[exportKey(method, method === 'start' ? {} : input)]
  if (answer === undefined) throw notExported(method, input)
  if (isFailure(answer)) {
    const { code, message, hint } = answer.error
    throw new RequestError(code, message, hint)
  }
  return answer
}

function notExported(
  method: Method | 'file',
  { path }: Readonly<Record<string, unknown>>,
): RequestError {
  const isImage = method === 'file' && imageTypeOf(String(path)) !== undefined
  const what = isImage ? 'This image' : 'This'
  const why = isImage
    ? `It has the newest images of up to ${formatBytes(MAX_EXPORTED_IMAGE_BYTES)} each. `
    : ''
  const hint = `${why}Run \`savestate ui\` in the project to see everything.`
  return new RequestError('NOT_EXPORTED', `${what} is not part of this file`, hint)
}

function isFailure(answer: unknown): answer is Failure {
  return typeof answer === 'object' && answer !== null && 'error' in answer
}
