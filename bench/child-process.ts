/** The parent's side of child.ts: start a child, send requests, end it. */
import { fork } from 'node:child_process'
import type { Answers, Reply, Request } from './child.js'
import { cleanEnvironment, track } from './programs.js'
import { programPath } from './sdk.js'

export const CHILD_FLAG = '--child'

export interface Child {
  ask<K extends Request['kind']>(request: Extract<Request, { kind: K }>): Promise<Answers[K]>
  end(): Promise<void>
}

export function startChild(): Child {
  const child = fork(programPath, [CHILD_FLAG], {
    env: cleanEnvironment(),
    // The parent's stdout belongs to the report alone.
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  track(child)
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })

  return {
    ask(request) {
      return new Promise((resolve, reject) => {
        const onExit = (code: number | null, signal: string | null): void =>
          reject(new Error(`The child ended with ${code ?? signal} during ${request.kind}`))
        child.once('exit', onExit)
        child.once('message', (message) => {
          child.off('exit', onExit)
          const reply = parseReply<typeof request.kind>(message)
          if (reply.ok) return resolve(reply.answer)
          reject(new Error(`${request.kind} failed in the child: ${reply.error}`))
        })
        child.send(request)
      })
    },
    async end() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

/** Sends one request to a new child. */
export async function inNewChild<K extends Request['kind']>(
  request: Extract<Request, { kind: K }>,
): Promise<Answers[K]> {
  const child = startChild()
  try {
    return await child.ask(request)
  } finally {
    await child.end()
  }
}

/** Unvalidated: both ends are this program, and a child answers requests in order. */
function parseReply<K extends Request['kind']>(
  message: unknown,
): { readonly ok: true; readonly answer: Answers[K] } | Extract<Reply, { ok: false }> {
  if (typeof message !== 'object' || message === null || !('ok' in message)) {
    throw new Error('A child sent something that is no reply')
  }
  return message as { ok: true; answer: Answers[K] } | { ok: false; error: string }
}
