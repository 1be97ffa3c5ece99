import { expect, test } from 'vitest'
import {
  bytePath,
  parseCheckpointId,
  parseObjectId,
  parseProjectId,
} from '../../../src/model/index.js'
import { decodeCommit, encodeCommit } from '../../../src/snapshot/objects/commit.js'

const ID = 'bcdfghjklmnpqrstvw'

test('a clock before 1970 makes a commit that git accepts, and the exact time is still known', () => {
  const facts = {
    tree: parseObjectId('1234567890'.repeat(4)),
    project: parseProjectId(ID),
    projectPath: bytePath('/project'),
    checkpoint: parseCheckpointId(ID),
    kind: 'save',
    reason: 'why',
    createdAtMs: Date.UTC(1969, 0, 1),
  }
  const commit = encodeCommit(facts)
  const dates = [...commit.toString().matchAll(/^(?:author|committer) .*> (.*)$/gm)]
  expect(dates.map(([, date]) => date)).toEqual(['0 +0000', '0 +0000'])
  expect(decodeCommit(commit)).toEqual(facts)
})
