// The calls of the capture thread that find out who wrote the lines of a file. Few processes need them, so their code is loaded on
// first use.
import type { CommittedRequest } from './committed-lines.js'
import type { BlameRequest, BlameSources } from './trace-lines.js'

export function blameCalls(sources: BlameSources) {
  return {
    /** The snapshot that each line of a file first appeared in. */
    async traceLines(request: BlameRequest) {
      const { traceLines } = await import('./trace-lines.js')
      return traceLines(request, sources)
    },

    /** The commits of the user's repository that lines of a file are from. */
    async findCommittedLines(request: CommittedRequest) {
      const { findCommittedLines } = await import('./committed-lines.js')
      return findCommittedLines(sources.gitDir, request)
    },
  }
}
