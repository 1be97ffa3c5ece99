// The one dialog for every way back. It shows the complete plan, and applies exactly that plan.
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Plan, PlanInput } from '../../src/ui/api.js'
import { notice, type RestoreRequest } from '../app/dialogs.js'
import { project, refresh, rowOf, rows, start } from '../app/model.js'
import { call, RequestError } from '../app/transport.js'
import { Command } from '../components/command.js'
import { Dialog } from '../components/dialog.js'
import { ErrorMessage, Loading } from '../components/states.js'
import { ChoiceFields, type Choices, ConflictField, reasonAgainst } from './restore/choices.js'
import { Footer } from './restore/footer.js'
import { Notes } from './restore/notes.js'
import { Outcome } from './restore/outcome.js'
import { PlanTable } from './restore/plan-table.js'
import { Preview } from './restore/preview.js'
import {
  type ChosenHunks,
  countActions,
  decide,
  isChange,
  isSelected,
  listedLines,
  pathsToApply,
  type Selection,
} from './restore/selection.js'
import { usePlan } from './restore/use-plan.js'
import {
  commandLabel,
  commandText,
  hunksText,
  markersText,
  noticeText,
  reversalTitle,
  rewindTitle,
  undoStepTitle,
} from './restore/words.js'

export function RestoreDialog(props: {
  readonly request: RestoreRequest
  readonly onClose: () => void
}): VNode {
  const { request } = props
  const [isApplying, setIsApplying] = useState(false)
  // A restore that has begun cannot be canceled.
  const onClose = () => {
    if (!isApplying) props.onClose()
  }
  const [choices, setChoices] = useState(() => firstChoices(request))
  const hasChosen = useRef(false)
  const [selection, setSelection] = useState<Selection>({
    decisions: new Map(),
    only: request.kind === 'rewind' ? request.paths : undefined,
  })
  const current = usePlan(planInput(request, choices))
  const { plan, isOutdated } = current
  const [failure, setFailure] = useState<RequestError | undefined>(undefined)
  const usedToken = useRef<string | null>(null)
  const isClosed = useRef(false)
  useEffect(
    () => () => {
      isClosed.current = true
    },
    [],
  )

  // The safe choice is not possible, but the other one is.
  useEffect(() => {
    if (hasChosen.current || plan === undefined || choices.restore !== 'files') return
    if (reasonAgainst(plan, 'files') === null || reasonAgainst(plan, 'conversation') !== null)
      return
    setChoices({ ...choices, restore: 'conversation' })
  }, [plan])

  const choose = (changed: Partial<Choices>) => {
    hasChosen.current = true
    setFailure(undefined)
    setChoices({ ...choices, ...changed })
  }
  const { hunks } = choices
  const onChoose = (chosen: ChosenHunks) => choose({ hunks: chosen })

  const listed = useMemo(() => listedLines(plan?.lines ?? [], selection.only), [plan])
  const selected = listed.filter((line) => plan?.canSelect === false || isSelected(line, selection))
  const changes = selected.filter(isChange).length
  const conflicts = selected.filter(({ action }) => action === 'conflict').length
  const paths = plan?.canSelect === true ? pathsToApply(plan.lines, selection) : undefined
  const isReadOnly = start.value?.isReadOnly === true

  const apply = async ({ kind, token }: Plan) => {
    // A second click may arrive before the button is disabled.
    if (token === null || token === usedToken.current) return
    const { write, restore, remove } = countActions(selected)
    const done = { written: write + restore, removed: remove }
    usedToken.current = token
    current.pause()
    setIsApplying(true)
    setFailure(undefined)
    try {
      const applied = await call('apply', { token, ...(paths === undefined ? {} : { paths }) })
      notice.value = {
        text:
          choices.hunks === undefined
            ? noticeText(kind, { restore: applied.restore, ...done }) + markersText(selected)
            : hunksText(choices.hunks),
        command: applied.command,
        rewoundAt: applied.rewoundAt,
      }
      props.onClose()
      void refresh()
    } catch (error) {
      // If Back has closed the dialog meanwhile, the bar for errors shows it.
      if (!(error instanceof RequestError) || isClosed.current) throw error
      const isStale = error.code === 'PLAN_STALE'
      if (!isStale) setFailure(error)
      setIsApplying(false)
      current.resume({ isStale })
    }
  }

  const row = 'ref' in request ? (rowOf.value.get(request.ref) ?? plan?.target) : undefined
  // A conversation goes back even if no file does, unless the user unticked all files.
  const hasWork = changes > 0 || listed.every(({ action }) => action === 'keep')
  const canApply =
    plan !== undefined &&
    plan.token !== null &&
    plan.token !== usedToken.current &&
    hasWork &&
    conflicts === 0 &&
    !isOutdated &&
    current.isShown &&
    current.error === undefined &&
    !isApplying
  return (
    <Dialog
      name="restore"
      title={titleOf(request, { plan, row, before: choices.before })}
      onClose={onClose}
    >
      <div class="restore" data-state={stateOf(current)} aria-busy={isOutdated}>
        {hunks !== undefined ? null : request.kind === 'rewind' ? (
          <ChoiceFields
            choices={choices}
            plan={plan}
            hasBefore={row?.moment === 'after'}
            onChange={choose}
          />
        ) : plan === undefined && current.error !== undefined ? null : (
          <p class="restore-intro" tabIndex={-1} autofocus>
            {INTROS[request.kind]}
          </p>
        )}
        {request.kind !== 'undoStep' ? null : (
          <ConflictField
            choice={choices.conflict}
            conflicts={conflicts}
            onChange={(conflict) => choose({ conflict })}
          />
        )}
        <div class="restore-status" role="status">
          {hunks?.isVoid === true ? (
            <p data-note="warn">The file has changed: tick its changes again.</p>
          ) : current.hasChanged ? (
            <p data-note="warn">The folder has changed: this is the new plan.</p>
          ) : null}
        </div>
        {failure === undefined ? null : <ErrorMessage error={failure} />}
        {current.error === undefined ? null : <ErrorMessage error={current.error} />}
        {hunks === undefined ? null : (
          <Preview
            project={project.value}
            {...hunks}
            isStep={false}
            version={`${plan?.madeAt} ${current.error?.message}`}
            onClose={() => choose({ hunks: undefined })}
            onChoose={onChoose}
            chosen={hunks}
          />
        )}
        {plan === undefined ? (
          current.error === undefined ? (
            <Loading what="the plan" />
          ) : null
        ) : (
          <div class="restore-plan" data-outdated={isOutdated}>
            <Outcome {...{ plan, conflicts, changes, hunks }} only={selection.only} />
            {listed.length === 0 || hunks !== undefined ? null : (
              <PlanTable
                plan={plan}
                lines={listed}
                selection={selection}
                onChoose={plan.canSelect && plan.restore === 'files' ? onChoose : undefined}
                onDecide={(lines, ticked) => setSelection(decide(selection, lines, ticked))}
              />
            )}
            <Notes plan={plan} />
            {isReadOnly || paths?.length === 0 ? null : (
              <p class="restore-command">
                <span class="muted">{commandLabel(paths)}</span>{' '}
                <Command text={commandText(plan.command, paths)} />
              </p>
            )}
          </div>
        )}
      </div>
      <Footer
        {...{ plan, paths, canApply, isApplying, onClose }}
        isMaking={current.error === undefined && (plan === undefined || isOutdated)}
        files={changes}
        onApply={(shown) => void apply(shown)}
      />
    </Dialog>
  )
}

const INTROS: Readonly<Record<Exclude<RestoreRequest['kind'], 'rewind'>, string>> = {
  undoStep: 'Takes back only what this step changed. Everything later stays.',
  undo: 'The folder goes back to how it was just before that rewind.',
  redo: 'The folder goes again to where that rewind brought it.',
}

function firstChoices(request: RestoreRequest): Choices {
  const shared = { conflict: 'refuse', hunks: undefined } as const
  if (request.kind !== 'rewind')
    return { restore: 'files', before: false, keepMine: false, ...shared }
  const row = rowOf.peek().get(request.ref)
  const safe = row?.hasFiles === false ? 'conversation' : 'files'
  const known: readonly (string | null)[] = [null, 'you', 'rewind']
  const hasAgents = rows.peek().some(({ author }) => !known.includes(author))
  return {
    restore: request.restore ?? safe,
    before: request.before === true,
    // Without agents every change is the user's, and nothing would go back. Files that the user chose are to go back, too.
    keepMine: hasAgents && request.paths === undefined,
    ...shared,
  }
}

function planInput(request: RestoreRequest, choices: Choices): PlanInput {
  const { restore, before, keepMine, conflict, hunks: chosen } = choices
  const path = project.peek()
  if (request.kind === 'undoStep')
    return { project: path, kind: 'undoStep', ref: request.ref, conflict }
  if (request.kind !== 'rewind') return { project: path, kind: request.kind }
  const input = { project: path, kind: 'rewind', ref: request.ref, before, restore } as const
  if (chosen !== undefined) {
    const { path: file, mark, hunks } = chosen
    return { ...input, hunks: [{ path: file, mark, hunks }] }
  }
  return restore === 'conversation' ? input : { ...input, keepMine }
}

function titleOf(
  request: RestoreRequest,
  {
    plan,
    row,
    before,
  }: {
    readonly plan: Plan | undefined
    readonly row: Parameters<typeof rewindTitle>[0] | null | undefined
    readonly before: boolean
  },
): string {
  const now = new Date()
  if (request.kind === 'undoStep')
    return row === undefined || row === null ? 'Undo a step' : undoStepTitle(row, now)
  if (request.kind !== 'rewind')
    return reversalTitle(request.kind, { rewoundAt: plan?.rewoundAt ?? null, now })
  return row === undefined || row === null
    ? 'Go back'
    : rewindTitle(row, { before, now, only: request.paths })
}

function stateOf({ plan, isOutdated, error }: ReturnType<typeof usePlan>): string {
  if (error !== undefined) return 'error'
  return plan === undefined || isOutdated ? 'loading' : 'ready'
}
