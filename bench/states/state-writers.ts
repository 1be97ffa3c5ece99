/**
 * All writers that store a state in each step: Savestate in its three ways, and its peers. Used in a child
 * process that does nothing else (state-child.ts).
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import type { Message } from './conversation.js'
import { openSaver, openStore } from '../sdk.js'

export interface Step {
  /** From 1. */
  readonly number: number
  /** All of them: a new list of the same objects, as a graph's reducer makes it. */
  readonly messages: readonly Message[]
  readonly added: readonly Message[]
}

export interface Writer {
  write(step: Step): Promise<void>
  /** The state that was written last. */
  read(): Promise<unknown>
  close(): Promise<void>
}

export interface WriterPlace {
  /** The session or thread in it. */
  readonly session: string
  /** An existing folder for its data. */
  readonly folder: string
  /** The folder with installed packages, for peers that need them. */
  readonly packages?: string
  /** The URL of a PostgreSQL database, for writers that share what they write. */
  readonly remote?: string
}

export const WRITERS = {
  /** `save` with the whole state. */
  async save({ folder, session: id, remote }) {
    const store = await openStore(folder, sharing(remote))
    const session = await store.session(id)
    return {
      async write({ messages }) {
        await session.save({ state: { messages } })
      },
      read: () => session.stateAt(),
      close: () => store.close(),
    }
  },

  /** `append` of what is new. */
  async append({ folder, session: id, remote }) {
    const store = await openStore(folder, sharing(remote))
    const session = await store.session(id)
    return {
      async write({ added }) {
        await session.append('messages', added)
      },
      read: () => session.stateAt(),
      close: () => store.close(),
    }
  },

  async SavestateSaver({ folder, session, remote }) {
    const saver = await openSaver(folder, sharing(remote))
    return { ...graphOf(saver, session), close: () => saver.close() }
  },

  /** It writes through to the system but does not flush. */
  async SqliteSaver({ folder, session, packages }) {
    if (packages === undefined) throw new Error('SqliteSaver is not installed')
    const { SqliteSaver } = parseSqliteSaver(
      createRequire(join(packages, 'package.json'))('@langchain/langgraph-checkpoint-sqlite'),
    )
    const saver = SqliteSaver.fromConnString(join(folder, 'checkpoints.db'))
    return {
      ...graphOf(saver, session),
      async close() {
        saver.db.close()
      },
    }
  },

  async PostgresSaver({ session, packages, remote }) {
    if (packages === undefined || remote === undefined)
      throw new Error('PostgresSaver is not installed, or has no server')
    const { PostgresSaver } = parsePostgresSaver(
      createRequire(join(packages, 'package.json'))('@langchain/langgraph-checkpoint-postgres'),
    )
    const saver = PostgresSaver.fromConnString(remote)
    await saver.setup()
    return { ...graphOf(saver, session), close: () => saver.end() }
  },

  /** One file per step, replaced whole. */
  async 'JSON files'({ folder }) {
    return jsonFiles({ folder, flush: false })
  },

  async 'JSON files with fsync'({ folder }) {
    return jsonFiles({ folder, flush: true })
  },
} as const satisfies Record<string, (place: WriterPlace) => Promise<Writer>>

export type WriterName = keyof typeof WRITERS

/** As LangGraph after each step of a graph with one channel, without the pending writes. */
function graphOf(saver: BaseCheckpointSaver, thread: string): Omit<Writer, 'close'> {
  let config: Parameters<BaseCheckpointSaver['put']>[0] = {
    configurable: { thread_id: thread, checkpoint_ns: '' },
  }
  return {
    async write({ number, messages }) {
      const checkpoint = {
        v: 4,
        // Shaped like a UUID and growing, as LangGraph's are.
        id: `1f0c1d2e-0000-6000-8000-${number.toString(16).padStart(12, '0')}`,
        ts: new Date(1_763_200_000_000 + number * 1_000).toISOString(),
        channel_values: { messages },
        channel_versions: { messages: number },
        versions_seen: { __input__: {}, agent: { messages: number - 1 } },
      }
      const metadata = { source: 'loop' as const, step: number, parents: {} }
      config = await saver.put(config, checkpoint, metadata, { messages: number })
    },
    async read() {
      const tuple = await saver.getTuple(config)
      return tuple?.checkpoint.channel_values
    },
  }
}

function sharing(remote: string | undefined): { readonly remote?: string } {
  return remote === undefined ? {} : { remote }
}

interface PostgresSaverModule {
  readonly PostgresSaver: {
    fromConnString(
      url: string,
    ): BaseCheckpointSaver & { setup(): Promise<void>; end(): Promise<void> }
  }
}

/** Its types are not installed, so this declares only what is used. */
function parsePostgresSaver(loaded: unknown): PostgresSaverModule {
  if (typeof loaded !== 'object' || loaded === null || !('PostgresSaver' in loaded))
    throw new Error('The installed package has no PostgresSaver')
  return loaded as PostgresSaverModule
}

interface SqliteSaverModule {
  readonly SqliteSaver: {
    fromConnString(path: string): BaseCheckpointSaver & { readonly db: { close(): void } }
  }
}

/** Its types are not installed, so this declares only what is used. */
function parseSqliteSaver(loaded: unknown): SqliteSaverModule {
  if (typeof loaded !== 'object' || loaded === null || !('SqliteSaver' in loaded)) {
    throw new Error('The installed package has no SqliteSaver')
  }
  return loaded as SqliteSaverModule
}

function jsonFiles({ folder, flush }: { folder: string; flush: boolean }): Writer {
  let path = folder
  return {
    async write({ number, messages }) {
      path = join(folder, `${number}.json`)
      const fresh = `${path}.new`
      writeFileSync(fresh, JSON.stringify({ messages }))
      if (flush) flushPath(fresh)
      renameSync(fresh, path)
      if (flush) flushPath(folder)
    },
    read: async () => JSON.parse(readFileSync(path, 'utf8')),
    async close() {},
  }
}

function flushPath(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
