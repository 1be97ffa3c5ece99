import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { NO_AGENT } from './scripts/no-agent.mjs'

const { NODE_EXTRA_CA_CERTS } = process.env
// Tests compare the modes of new files. Other masks have their own tests.
process.umask(0o022)

/**
 * Threads and the prune process run from dist/, which has each of them as one file. Everything else in a test's process
 * comes from src/, so that there is one copy of the SDK in it.
 */
const threadsFromDist: Plugin = {
  name: 'threads-from-dist',
  enforce: 'pre',
  transform: (code, id) =>
    id.includes('/src/')
      ? code.replaceAll(
          /new URL\('\.\/([\w-]+-(?:thread|process)\.js)', import\.meta\.url\)/g,
          (_, file: string) => `new URL('${new URL(`dist/cli/${file}`, import.meta.url).href}')`,
        )
      : undefined,
}

export default defineConfig({
  plugins: [threadsFromDist],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: [
      'test/support/browser/shared-folder.ts',
      'test/support/postgres/shared-server.ts',
    ],
    // Beside other programs a test takes up to ten times as long. The limits are for tests that hang.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // For a condition that is polled: a loaded machine is slow.
    expect: { poll: { timeout: 30_000 } },
    // Tests wait for processes and disks: three files at a time leave a third of two cores idle.
    maxWorkers: 4,
    // The files of one worker share a process, and with it what they import: no file leaves anything behind in it.
    isolate: false,
    // It makes every start of Node slow; npm alone may need it.
    env: { NODE_EXTRA_CA_CERTS: '', CA_CERTS_FOR_NPM: NODE_EXTRA_CA_CERTS ?? '', ...NO_AGENT },
  },
})
