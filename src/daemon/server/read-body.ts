// Reads the body of a request, for the daemon and for the server of the page.
import type { IncomingMessage } from 'node:http'
import { SavestateError } from '../../internal.js'

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** Throws BodyTooLarge, and BAD_INPUT if the body does not arrive. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const tooLarge = new BodyTooLarge(`The body has more than ${maxBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of request) {
      const bytes = Buffer.from(part)
      size += bytes.length
      if (size > maxBytes) throw tooLarge
      parts.push(bytes)
    }
  } catch (error) {
    if (error === tooLarge || request.complete) throw error
    // The client left, or was too slow.
    throw new SavestateError('BAD_INPUT', 'The body did not arrive', { cause: error })
  }
  return Buffer.concat(parts).toString('utf8')
}
