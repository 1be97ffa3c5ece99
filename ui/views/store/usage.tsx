// The size of the store against its limit, by project.
import type { VNode } from 'preact'
import type { StorePage } from '../../../src/ui/api.js'
import { project, start } from '../../app/model.js'
import { Command } from '../../components/command.js'
import { EmptyMessage } from '../../components/states.js'
import { count, formatBytes, relativeTime, visibleText } from '../../components/text.js'
import { retentionText } from './words.js'

type Status = StorePage['status']
type Project = Status['projects'][number]

const STATES: Readonly<Record<Project['state'], string>> = {
  live: '',
  orphan: 'the folder is gone',
  unreachable: 'the folder cannot be reached',
}

export function Usage({ status }: { readonly status: Status }): VNode {
  const { sizeBytes, limits, projects, unattached, above } = status
  const limit = limits.maxSizeMb * 1_000_000
  const share = Math.ceil((sizeBytes / limit) * 100)
  const checkpoints = projects.reduce((sum, one) => sum + one.checkpoints, unattached)
  return (
    <section class="store-section" aria-labelledby="store-usage">
      <h2 id="store-usage">
        {formatBytes(sizeBytes)} of {formatBytes(limit)}
      </h2>
      <div
        class="store-bar"
        role="meter"
        aria-label="Size of the store"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(share, 100)}
        aria-valuetext={`${share} percent of the limit`}
        data-above={above !== null}
      >
        <span style={{ width: `${Math.min(share, 100)}%` }} />
      </div>
      <p class="muted">
        {count(checkpoints, 'checkpoint')} of {count(projects.length, 'project')}
        {unattached === 0
          ? ''
          : `, ${unattached.toLocaleString('en')} of sessions without a project`}
        , {share} % of the limit.{' '}
        {status.prunedAt === null
          ? 'Never pruned.'
          : `Last pruned ${relativeTime(status.prunedAt)}.`}
      </p>
      {above === null ? null : <Above above={above} />}
      <p>{retentionText(limits)}</p>
      {projects.length === 0 ? (
        <EmptyMessage title="No project has a checkpoint yet">
          <p>
            Save a folder: <Command text="savestate save" />
          </p>
        </EmptyMessage>
      ) : (
        <Projects projects={projects} />
      )}
    </section>
  )
}

function Above({ above }: { readonly above: NonNullable<Status['above']> }): VNode {
  const { byBytes, largest } = above
  return (
    <div class="store-note" data-note="warn">
      <p>
        <strong>The store is {formatBytes(byBytes)} over its limit.</strong>{' '}
        {largest.length === 0
          ? 'The next prune reduces it.'
          : 'The last prune had to keep what is left: pinned and named checkpoints, the newest of each project, sessions in progress. The largest owners:'}
      </p>
      {largest.length === 0 ? null : (
        <ul>
          {largest.map(({ path, bytes, stateBytes }) => (
            <li key={path}>
              <code>{visibleText(path)}</code> {formatBytes(bytes)}
              {stateBytes > 0 ? ` (${formatBytes(stateBytes)} conversations)` : ''}
            </li>
          ))}
        </ul>
      )}
      <p>
        Raise the limit: <Command text="savestate config set maxSizeMb 5000" />
      </p>
    </div>
  )
}

function Projects({ projects }: { readonly projects: readonly Project[] }): VNode {
  const largest = Math.max(1, ...projects.map(({ sizeBytes }) => sizeBytes ?? 0))
  const known = new Set(start.value?.projects.map(({ path }) => path))
  return (
    <div class="store-table-frame" tabIndex={0} role="region" aria-label="Projects by size">
      <table class="store-table">
        <thead>
          <tr>
            <th scope="col">Project</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">
              <span class="visually-hidden">Share of the largest</span>
            </th>
            <th scope="col" class="number">
              Conversations
            </th>
            <th scope="col" class="number">
              Checkpoints
            </th>
            <th scope="col">Last used</th>
          </tr>
        </thead>
        <tbody>
          {projects.map((one) => (
            <tr key={one.id} data-project={one.path}>
              <th scope="row">
                {known.has(one.path) ? (
                  // Another project is loaded with the page, so this is an ordinary link.
                  <a href={`/?${new URLSearchParams({ project: one.path }).toString()}`}>
                    {visibleText(one.path)}
                  </a>
                ) : (
                  visibleText(one.path)
                )}
                {one.path === project.value ? <span class="muted"> (shown)</span> : null}
                {one.state === 'live' ? null : <span class="store-warn"> {STATES[one.state]}</span>}
                {one.untrusted.length === 0 ? null : (
                  <span class="store-warn">
                    {' '}
                    has settings that take effect only if you trust them
                  </span>
                )}
              </th>
              <td class="number">
                {one.sizeBytes === null ? 'unknown' : formatBytes(one.sizeBytes)}
              </td>
              <td>
                <span class="store-share" aria-hidden="true">
                  <span
                    style={{ width: `${Math.round(((one.sizeBytes ?? 0) / largest) * 100)}%` }}
                  />
                </span>
              </td>
              <td class="number">{one.stateBytes === null ? '–' : formatBytes(one.stateBytes)}</td>
              <td class="number">{one.checkpoints.toLocaleString('en')}</td>
              <td>{relativeTime(one.lastTouch)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
