// Asks the worker for the tokens of a text. The worker starts with the first text; if it cannot start, texts stay plain.
import { languageOf } from './token-classes.js'
import { type HighlightAnswer, type HighlightRequest, READY, type Tokens } from './tokens.js'

type Policy = { readonly createScriptURL: (url: string) => string }
declare global {
  interface Window {
    readonly trustedTypes?: {
      readonly createPolicy: (name: string, rules: Policy) => Policy
    }
  }
}

const MAX_LENGTH = 2_000_000

const waiting = new Map<number, (tokens: Tokens | undefined) => void>()
let worker: Promise<Worker | undefined> | undefined
let lastId = READY

/** Undefined if the language is unknown, the text is too long, or the worker does not run. */
export async function highlight(path: string, text: string): Promise<Tokens | undefined> {
  const language = languageOf(path)
  if (language === '' || text === '' || text.length > MAX_LENGTH) return undefined
  worker ??= startWorker()
  const running = await worker
  if (running === undefined) return undefined
  lastId += 1
  const request: HighlightRequest = { id: lastId, language, text }
  return new Promise((resolve) => {
    waiting.set(request.id, resolve)
    running.postMessage(request)
  })
}

async function startWorker(): Promise<Worker | undefined> {
  let started: Worker
  try {
    started = new Worker(trustedAddress(), { type: 'module' })
  } catch (error) {
    // A page that was exported to a file cannot start workers.
    if (!(error instanceof DOMException)) throw error
    return undefined
  }
  return new Promise((resolve) => {
    started.addEventListener('message', ({ data }: MessageEvent<HighlightAnswer>) => {
      if (data.id === READY) resolve(started)
      waiting.get(data.id)?.(data.tokens ?? undefined)
      waiting.delete(data.id)
    })
    started.addEventListener('error', () => {
      started.terminate()
      worker = Promise.resolve(undefined)
      resolve(undefined)
      for (const finish of waiting.values()) finish(undefined)
      waiting.clear()
    })
  })
}

/** The Content-Security-Policy allows the policy `savestate` and no other. It lets one address through. */
function trustedAddress(): string {
  const policy = window.trustedTypes?.createPolicy('savestate', {
    createScriptURL: (url) => {
      if (url !== HIGHLIGHT_WORKER) throw new TypeError('Only the highlighter may run as a worker')
      return url
    },
  })
  return policy?.createScriptURL(HIGHLIGHT_WORKER) ?? HIGHLIGHT_WORKER
}
