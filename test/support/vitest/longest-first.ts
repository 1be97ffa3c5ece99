// The order of the test files. Vitest starts with the files that took longest in the last run; in a fresh clone it goes by size,
// and these, some of which are short, would run last and alone.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = [
  'remote/git/contract-http',
  'remote/git/contract-daemon',
  'remote/git/contract-file',
  'crash/crash',
  'crash/model-sequence',
  'engine/verify/damage',
  'repository/package',
  'faults/crowd',
  'agents/hook',
  'cli/commands',
  'faults/disk',
  'daemon/daemon',
  'engine/remotes/prune-remote',
  'engine/sharing/share-crash',
  'engine/sharing/network',
  'engine/remotes/full-disk',
  'engine/remotes/drop-sessions',
  'engine/sharing/failover',
  'engine/sharing/connection-errors',
  'cli/commands/push-after-loss',
  'ui/accessibility',
  'ui/dialogs',
  'ui/restore',
  'ui/large',
  'remote/git/hostile',
  'engine/remotes/project-logs',
  'engine/sharing/leases',
  'remote/git/shared-repository',
  'engine/commits/commits',
  'agents/hook-daemon',
  'ui/late-answers',
  'cli/exchange/exchange',
  'engine/restore/round-trip',
  'agents/conversations',
  'cli/commands/session-checkpoints',
  'imports/import-hermes',
  'ui/media',
  'daemon/daemon-http',
  'agents/guard',
  'engine/sessions/long-exchange',
  'engine/verify/wrong-file-types',
  'agents/install/codex-config',
  'snapshot/capture/stat-cache/stat-cache',
  'snapshot/capture/stat-cache/packed-nodes',
  'cli/hostile-input',
  'langgraph/crash',
  'crash/torture',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return rank === -1 ? LONGEST.length : rank
    }
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
