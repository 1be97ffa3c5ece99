// Checks the store on request and lists what is wrong.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../src/ui/api.js'
import { addressOf, checkpointPath, followLink } from '../../app/router.js'
import { call, RequestError } from '../../app/transport.js'
import { Command } from '../../components/command.js'
import { ErrorMessage } from '../../components/states.js'
import { count, visibleText } from '../../components/text.js'

type Result = Output<'verify'>

export function Verify(): VNode {
  const [running, setRunning] = useState<'quick' | 'complete' | undefined>(undefined)
  const [result, setResult] = useState<Result | RequestError | undefined>(undefined)
  const verify = async (quick: boolean) => {
    setRunning(quick ? 'quick' : 'complete')
    setResult(
      await call('verify', { quick }).catch((error: unknown) => {
        if (error instanceof RequestError) return error
        throw error
      }),
    )
    setRunning(undefined)
  }
  return (
    <>
      <p class="store-buttons">
        <button
          type="button"
          class="button"
          disabled={running !== undefined}
          onClick={() => void verify(true)}
        >
          {running === 'quick' ? 'Checking …' : 'Check quickly'}
        </button>
        <button
          type="button"
          class="button"
          disabled={running !== undefined}
          onClick={() => void verify(false)}
        >
          {running === 'complete' ? 'Checking …' : 'Check completely'}
        </button>
        <span class="muted">
          The quick check reads the structure; the complete one also reads every file.
        </span>
      </p>
      <div role="status">
        {result === undefined ? null : result instanceof RequestError ? (
          <ErrorMessage error={result} />
        ) : (
          <Findings result={result} />
        )}
      </div>
    </>
  )
}

function Findings({
  result: { checkpoints, problems, quick },
}: {
  readonly result: Result
}): VNode {
  const damage = problems.filter(({ severity }) => severity === 'damage')
  const checked = `${count(checkpoints, 'checkpoint')} checked${quick ? ' quickly' : ''}`
  return (
    <div class="store-findings">
      <p data-note={damage.length === 0 ? 'ok' : 'danger'}>
        {damage.length === 0
          ? `✓ ${checked}: the store is intact.`
          : `✗ ${checked}: ${count(damage.length, 'problem')}.`}
      </p>
      {problems.length === 0 ? null : (
        <ul class="store-problems">
          {problems.map((problem, index) => (
            <li key={index} data-severity={problem.severity}>
              <strong>{problem.severity === 'damage' ? 'Damage' : 'Note'}</strong> ({problem.kind}):{' '}
              {visibleText(problem.message)}
              {problem.checkpoint === null ? null : (
                <>
                  {' '}
                  <a href={addressOf(checkpointPath(problem.checkpoint))} onClick={followLink}>
                    {problem.checkpoint.slice(0, 8)}
                  </a>
                </>
              )}
              {problem.path === undefined ? null : (
                <>
                  {' '}
                  <code>{visibleText(problem.path)}</code>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {damage.some(({ repairable }) => repairable) ? (
        <p>
          To repair it: <Command text="savestate repair" />
        </p>
      ) : null}
    </div>
  )
}
