import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more files at once only make the processes they start wait for each other.
    maxWorkers: 2,
    env: { NODE_EXTRA_CA_CERTS: '' },
  },
})
