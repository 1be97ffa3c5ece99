// Everything else that is known about a checkpoint: what it left out, sizes, tool calls, and how to get it without this page.
import type { ComponentChildren, VNode } from 'preact'
import type { Output } from '../../../src/ui/api.js'
import { project, start } from '../../app/model.js'
import { Command } from '../../components/command.js'
import { count, formatBytes, Line, Time } from '../../components/text.js'

export type Details = Output<'checkpoint'>

export const REASONS: Readonly<Record<Details['skippedPaths'][number]['reason'], string>> = {
  ignored: 'ignored',
  secret: 'a secret, by its name or content',
  'too-large': 'larger than the limit',
  unreadable: 'cannot be read',
  unstable: 'kept changing while it was read',
  special: 'a socket, pipe or device',
  vcs: 'a version control folder',
  reserved: 'a name that git cannot store safely',
  store: 'the store itself',
  temporary: 'left by an interrupted rewind',
  forgotten: 'removed by `savestate forget`',
}
const MAX_LISTED = 200

export function DetailsTab({ details }: { readonly details: Details }): VNode {
  const { skippedPaths, uncaptured, repositories, agent } = details
  return (
    <div class="details">
      <Section title="This checkpoint">
        <Facts details={details} />
      </Section>
      <Section title="Left out" count={details.skipped}>
        <PathTable
          empty="Nothing was left out."
          lines={skippedPaths.map(({ path, reason, sizeBytes }) => ({
            path,
            words: REASONS[reason],
            size: sizeBytes,
          }))}
        />
      </Section>
      {uncaptured.length === 0 ? null : (
        <Section title="Changed by tool calls, but in no checkpoint" count={uncaptured.length}>
          <PathTable
            empty=""
            lines={uncaptured.map(({ path, change, reason }) => ({
              path,
              words: `${change}; ${REASONS[reason]}`,
              size: null,
            }))}
          />
        </Section>
      )}
      {repositories.length === 0 ? null : (
        <Section title="Git repositories in the folder" count={repositories.length}>
          <PathTable
            empty=""
            lines={repositories.map(({ path, branch, commit }) => ({
              path: path === '' ? '.' : path,
              words: `${branch ?? 'no branch'}, ${commit?.slice(0, 10) ?? 'no commit'}`,
              size: null,
            }))}
          />
        </Section>
      )}
      {agent === null || agent.tools.length === 0 ? null : (
        <Section title="Tool calls" count={agent.tools.length}>
          <Tools tools={agent.tools} />
        </Section>
      )}
      <Section title="From the terminal">
        <Commands details={details} />
      </Section>
    </div>
  )
}

function Section(props: {
  readonly title: string
  readonly count?: number
  readonly children: ComponentChildren
}): VNode {
  return (
    <section class="details-section">
      <h2>
        {props.title}
        {props.count === undefined ? null : <span class="muted"> {props.count}</span>}
      </h2>
      {props.children}
    </section>
  )
}

function Facts({ details }: { readonly details: Details }): VNode {
  const { hasFiles, hasState, agent, status } = details
  const facts: readonly (readonly [string, string | null])[] = [
    ['Id', details.id],
    ['Saved', new Date(details.createdAt).toLocaleString()],
    ['Kind', details.kind],
    [
      'Files',
      hasFiles ? `${count(details.fileCount, 'file')}, ${formatBytes(details.sizeBytes)}` : null,
    ],
    ['Conversation', hasState ? describeState(agent) : null],
    ['Status of the session', status],
    ['Turn and step', details.turn === null ? null : `${details.turn}, ${details.step ?? 0}`],
    ['Commit', details.commit],
    ['Tree', details.tree],
  ]
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Line text={value} />
            </dd>
          </div>
        ),
      )}
    </dl>
  )
}

function describeState(agent: Details['agent']): string {
  const keys = agent?.state?.keys ?? []
  const sizes = keys.map(({ key, length }) => (length === null ? key : `${key}: ${length}`))
  return sizes.length === 0 ? 'saved' : sizes.join(', ')
}

type PathLine = { readonly path: string; readonly words: string; readonly size: number | null }

function PathTable(props: { readonly lines: readonly PathLine[]; readonly empty: string }): VNode {
  const { lines, empty } = props
  if (lines.length === 0) return <p class="muted">{empty}</p>
  return (
    <ul class="path-table">
      {lines.slice(0, MAX_LISTED).map(({ path, words, size }) => (
        <li key={path}>
          <code>
            <Line text={path} />
          </code>
          <span class="muted">
            <Line text={words} />
            {size === null ? '' : `, ${formatBytes(size)}`}
          </span>
        </li>
      ))}
      {lines.length > MAX_LISTED ? (
        <li class="muted">and {count(lines.length - MAX_LISTED, 'other')}</li>
      ) : null}
    </ul>
  )
}

function Tools({ tools }: { readonly tools: NonNullable<Details['agent']>['tools'] }): VNode {
  return (
    <ul class="path-table">
      {tools.map(({ id, name, status, startedAt }) => (
        <li key={id}>
          <code>
            <Line text={name} />
          </code>
          <span class="muted">
            <Line text={status} />, <Time at={startedAt} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function Commands({ details }: { readonly details: Details }): VNode {
  const { id, ref, hasFiles } = details
  const folder = `-C ${quote(project.value)}`
  const isMissing = start.value?.projects.some((one) => one.path === project.value && one.isMissing)
  return (
    <>
      <Labelled words="Everything about it" command={`savestate show ${id} ${folder}`} />
      {isMissing === true ? null : (
        <Labelled
          words="What a restore would do"
          command={`savestate rewind ${id} --dry-run ${folder}`}
        />
      )}
      {!hasFiles || ref === null ? null : (
        <Labelled
          words="Its files, with git alone and without Savestate"
          command={[
            'mkdir rescued',
            'git --git-dir "${SAVESTATE_HOME:-$HOME/.savestate}/objects.git" \\',
            `  archive ${quote(`${ref}:files`)} | tar -x -C rescued`,
          ].join('\n')}
        />
      )}
    </>
  )
}

function Labelled({ words, command }: { readonly words: string; readonly command: string }): VNode {
  return (
    <figure class="details-command">
      <figcaption>{words}</figcaption>
      <Command text={command} />
    </figure>
  )
}

/** For a shell. */
function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
