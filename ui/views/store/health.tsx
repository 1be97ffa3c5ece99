// Whether everything works: the check of the store, failures, the hooks of agents, the daemon.
import type { VNode } from 'preact'
import type { StorePage } from '../../../src/ui/api.js'
import { Command } from '../../components/command.js'
import { count, formatBytes, relativeTime, visibleText } from '../../components/text.js'
import { Verify } from './verify.js'

const MAX_FAILURES = 20

export function Health({ page }: { readonly page: StorePage }): VNode {
  const { status, daemon, agents } = page
  return (
    <section class="store-section" aria-labelledby="store-health">
      <h2 id="store-health">Health</h2>
      <h3>Check</h3>
      <Verify />
      <h3>Failures of the last 24 hours</h3>
      <Failures failures={status.failures} />
      <h3>Hooks</h3>
      <Hooks agents={agents} />
      <h3>Background process</h3>
      <p>
        {daemon.running
          ? `✓ Process ${daemon.pid} runs and makes hooks fast.`
          : 'It does not run. The first hook starts it.'}
      </p>
      {status.watches.map(({ path, pid, isWatching, doubt }) => (
        <p key={path} class={isWatching ? undefined : 'store-warn'}>
          <code>{visibleText(path)}</code>{' '}
          {isWatching
            ? `is watched by process ${pid}.`
            : `cannot be watched, so every save scans all of it${doubt === null ? '' : ` (${doubt})`}.`}
        </p>
      ))}
      <AutoPruned pruned={status.autoPruned} />
    </section>
  )
}

function Failures({ failures }: { readonly failures: StorePage['status']['failures'] }): VNode {
  if (failures.length === 0) return <p>✓ None.</p>
  const more = failures.length - MAX_FAILURES
  return (
    <ul class="store-problems">
      {failures.slice(0, MAX_FAILURES).map(({ at, operation, code, message }, index) => (
        <li key={index}>
          <time dateTime={at} title={new Date(at).toLocaleString()}>
            {relativeTime(at)}
          </time>{' '}
          <strong>{operation}</strong>: {visibleText(message)} <code>{code}</code>
        </li>
      ))}
      {more > 0 ? <li>and {more.toLocaleString('en')} more</li> : null}
    </ul>
  )
}

function Hooks({ agents }: { readonly agents: StorePage['agents'] }): VNode {
  const missing = agents.filter(({ installed, problem }) => !installed && problem === null)
  const others = agents.filter((agent) => !missing.includes(agent))
  return (
    <>
      {others.length === 0 ? (
        <p>No agent has hooks. With them, Savestate saves at every prompt and tool call.</p>
      ) : (
        <ul class="store-hooks">
          {others.map(({ agent, problem }) => (
            <li key={agent}>
              {problem === null ? '✓' : '!'} <strong>{agent}</strong>{' '}
              {problem === null ? (
                'saves at every prompt and tool call'
              ) : (
                <span class="store-warn">{visibleText(problem)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {missing.length === 0 ? null : (
        <p class="muted">
          Without hooks: {missing.map(({ agent }) => agent).join(', ')}. To install them:{' '}
          <Command
            text={`savestate install ${others.length === 0 ? 'claude' : (missing[0]?.agent ?? '')}`}
          />
        </p>
      )}
    </>
  )
}

function AutoPruned({
  pruned,
}: {
  readonly pruned: StorePage['status']['autoPruned']
}): VNode | null {
  if (pruned === null || pruned.checkpoints === 0) return null
  return (
    <p class="muted">
      The store pruned itself {relativeTime(pruned.at)}: {count(pruned.checkpoints, 'checkpoint')}{' '}
      removed, {formatBytes(pruned.bytesReclaimed)} freed.
    </p>
  )
}
