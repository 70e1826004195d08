import type {
  Approval,
  Entry,
  FlipKind,
  Policy,
  PolicyChange,
  PolicyInput,
  Replay,
} from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useActorText, useCan } from '../../api/session.ts'
import { RULE_VARIABLES } from '../../editor/condition-editor.tsx'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Input, Select, UtcInput } from '../../ui/field.tsx'
import { Card, Facts, Grid, Page, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded, Note, Skeleton } from '../../ui/states.tsx'
import { TextDiff } from '../../ui/text-diff.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { requestQuery } from '../approvals/queries.ts'
import { SEQ_COLUMN } from '../ledger/columns.tsx'
import { versionOf } from '../rules/draft.ts'
import type { Version } from '../rules/draft.ts'
import { DeleteRule, DraftForm, useDraft } from '../rules/editor.tsx'
import {
  ConditionField,
  PATTERNS,
  PatternFields,
  StateField,
  ValidationNote,
} from '../rules/form.tsx'
import { ObservedCard } from '../rules/observed.tsx'
import { faultAt, fieldsOf, withCondition } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { policyDrafts } from './draft.ts'
import type { Draft } from './draft.ts'
import { allowLike } from './like-request.ts'
import styles from './policies.module.css'

const pathOf = (id: string): string => `/v1/policies/${encodeURIComponent(id)}`

const readPolicy = (id: string, signal?: AbortSignal): Promise<Version<Policy>> =>
  versionOf(remit.getPolicy.withResponse({ params: { policyID: id }, ...(signal && { signal }) }))

/** One policy: form, condition, replay, history. The id `new` makes one. */
export function PolicyEditor() {
  const { id } = useParams({ from: '/policies/$id' })
  const { like } = useSearch({ from: '/policies/$id' })
  if (id !== 'new') return <Existing key={id} id={id} />
  return (
    <Page title={t.policies.new}>
      {like === undefined ? (
        <Editor key="new" id={null} stored={null} first={policyDrafts.empty} />
      ) : (
        <Like key={like} id={like} />
      )}
    </Page>
  )
}

/** A draft that a request for approval proposes. */
function Like({ id }: { id: string }) {
  const query = useQuery({ ...requestQuery(id), refetchOnWindowFocus: false })
  return (
    <Loaded query={query}>
      {(request) => (
        <Stack>
          <LikeNote request={request} />
          <Editor id={null} stored={null} first={allowLike(request)} />
        </Stack>
      )}
    </Loaded>
  )
}

function Existing({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['policies', id],
    queryFn: ({ signal }) => readPolicy(id, signal),
    refetchOnWindowFocus: false,
  })
  const name = query.data?.rule.description ?? t.policies.edit(id)
  return (
    <Page
      title={<Literal>{name}</Literal>}
      lead={name === t.policies.edit(id) ? null : <Id>{id}</Id>}
    >
      <Stack>
        {query.data?.rule.mode === 'observe' && <ObservedCard kind="policy" id={id} />}
        <Loaded query={query}>
          {(stored) => <Editor id={id} stored={stored} first={policyDrafts.draftOf(stored.rule)} />}
        </Loaded>
        <RuleHistory id={id} />
      </Stack>
    </Page>
  )
}

interface EditorProps {
  /** Null for a new one. */
  readonly id: string | null
  readonly stored: Version<Policy> | null
  readonly first: Draft
}

function Editor({ id, stored, first }: EditorProps) {
  const can = useCan()
  const navigate = useNavigate()
  const [replayed, setReplayed] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const withReason = (input: PolicyInput): PolicyChange => ({
    ...input,
    ...(reason.trim() !== '' && { change_reason: reason.trim() }),
  })
  const editor = useDraft({
    kind: 'policies',
    drafts: policyDrafts,
    first,
    stored,
    mayChange: can(id === null ? 'POST /v1/policies' : 'PUT /v1/policies/{policyID}'),
    validate: (draft, signal) =>
      withCondition(draft, (body) =>
        remit.createPolicy({ query: { validate: 'true' }, body, signal }),
      ),
    store: (input, headers) =>
      id === null
        ? remit.createPolicy({ body: withReason(input) })
        : remit.replacePolicy({ params: { policyID: id }, body: withReason(input), headers }),
    ...(id !== null && { read: () => readPolicy(id) }),
    onSaved: (policy) => navigate({ to: '/policies/$id', params: { id: policy.id } }),
  })
  const { input, mayChange, fields } = editor
  const isReplayed = replayed === JSON.stringify(input)
  const canReplay = can('POST /v1/compliance/policies/replay')
  const needsReason = canReplay && !isReplayed
  return (
    <div className={styles['editor']}>
      <DraftForm
        editor={editor}
        actions={id !== null && <DeletePolicy id={id} />}
        isComplete={(!needsReason || reason.trim() !== '') && input.actions.length > 0}
        save={id === null ? t.policies.create : t.policies.save}
        request={() => ({
          method: id === null ? 'POST' : 'PUT',
          path: id === null ? '/v1/policies' : pathOf(id),
          body: withReason(input),
        })}
      >
        {!mayChange && <Note tone="info">{t.policies.readOnly}</Note>}
        <RuleForm {...fields} />
        {editor.conflict}
        {mayChange && (
          <Input
            label={t.policies.changeReason}
            hint={needsReason ? t.policies.saveHint : t.policies.changeReasonHint}
            maxLength={500}
            value={reason}
            fault={faultAt(fields.error, 'change_reason')}
            onValue={setReason}
          />
        )}
      </DraftForm>
      {canReplay && (
        <ReplayPanel
          input={input}
          id={id}
          isCurrent={isReplayed}
          isDisabled={editor.isInvalid}
          onReplayed={setReplayed}
        />
      )}
    </div>
  )
}

/** Approval rules decide after policies: an allow alone does not end the questions. */
const LikeNote = ({ request: { id, requirements } }: { request: Approval }) => (
  <Note tone="info">
    <span>{t.policies.likeNote}</span>
    <Row>
      {requirements.map(({ rule_id }) => (
        <Link
          key={rule_id}
          to="/policies/approval-rules/$id"
          params={{ id: rule_id }}
          search={{ except: id }}
          className={buttonClass()}
        >
          {t.policies.narrow} <Literal>{rule_id}</Literal>
        </Link>
      ))}
    </Row>
  </Note>
)

function DeletePolicy({ id }: { id: string }) {
  const [reason, setReason] = useState('')
  const can = useCan()
  if (!can('DELETE /v1/policies/{policyID}')) return null
  const query = reason.trim() === '' ? {} : { change_reason: reason.trim() }
  const search = reason.trim() === '' ? '' : `?${new URLSearchParams(query)}`
  return (
    <DeleteRule
      kind="policies"
      texts={t.policies}
      path={`${pathOf(id)}${search}`}
      onDelete={() => remit.deletePolicy({ params: { policyID: id }, query })}
    >
      <Input
        label={t.policies.changeReason}
        hint={t.policies.changeReasonHint}
        maxLength={500}
        value={reason}
        onValue={setReason}
      />
    </DeleteRule>
  )
}

const CHANGES = ['policy.created', 'policy.updated', 'policy.deleted'] as const

const policyOf = ({ data }: Entry): { id?: unknown } | null =>
  (data?.['policy'] as { id?: unknown } | undefined) ?? data

/** The rule of a change as text that compares well. */
function ruleText(entry: Entry): string {
  const { ledger: _, updated_at: __, ...rule } = (policyOf(entry) ?? {}) as Record<string, unknown>
  return JSON.stringify(rule, null, 2)
}

/** The changes of a rule, newest first, from the newest thousand of each kind in the ledger. */
function RuleHistory({ id }: { id: string }) {
  const can = useCan()
  const query = useQuery({
    queryKey: ['policies', id, 'history'],
    enabled: can('GET /v1/ledger'),
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        CHANGES.map((kind) => remit.listEntries({ query: { kind, limit: 1_000 }, signal })),
      )
      return pages
        .flatMap(({ data }) => data)
        .filter((entry) => policyOf(entry)?.id === id)
        .toSorted((one, other) => other.seq - one.seq)
    },
  })
  if (!can('GET /v1/ledger')) return null
  return (
    <Card title={t.policies.history}>
      <Loaded query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <p className={ui['muted']}>{t.policies.noHistory}</p>
          ) : (
            entries.map((entry, i) => (
              <Change key={entry.seq} entry={entry} before={entries[i + 1]} />
            ))
          )
        }
      </Loaded>
    </Card>
  )
}

function Change({ entry, before }: { entry: Entry; before: Entry | undefined }) {
  const actorText = useActorText()
  const [isOpen, setOpen] = useState(false)
  const reason = entry.data?.['change_reason']
  return (
    <div className={styles['change']}>
      <Link to="/ledger/$seq" params={{ seq: String(entry.seq) }}>
        {entry.seq}
      </Link>
      <strong>{t.policies.changes[entry.kind] ?? entry.kind}</strong>
      <span className={ui['muted']}>
        {t.policies.by} <Literal>{actorText(entry.actor) ?? ''}</Literal>
      </span>
      <Time at={entry.recorded_at} as="full" />
      {typeof reason === 'string' && <Literal>{reason}</Literal>}
      {before && entry.kind === 'policy.updated' && (
        <Button tone="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t.policies.compare}
        </Button>
      )}
      {isOpen && before && (
        <div style={{ flexBasis: '100%' }}>
          <TextDiff label={t.policies.compare} before={ruleText(before)} after={ruleText(entry)} />
        </div>
      )}
    </div>
  )
}

const EFFECTS = ['deny', 'allow'] as const

function RuleForm(props: DraftFieldsProps<Draft>) {
  const { text, choice, state, condition, patterns } = fieldsOf(props)
  return (
    <Stack>
      <Input {...text('description')} label={t.policies.description} />
      <Select {...choice('effect')} label={t.policies.effect} options={EFFECTS} />
      <PatternFields {...patterns} fields={PATTERNS} />
      <ConditionField {...condition('condition')} variables={RULE_VARIABLES} />
      <Grid>
        <UtcInput {...text('not_before')} label={t.policies.starts} />
        <UtcInput {...text('expires_at')} label={t.policies.ends} />
      </Grid>
      <StateField {...state} />
      <ValidationNote validation={props.validation} />
    </Stack>
  )
}

const DAY_MS = 86_400_000
const DAYS = [1, 7, 30]

/** The request that replays the recorded decisions of some days under a draft, in place of the rule `id`. */
const replayBody = (input: PolicyInput, id: string | null, days: number, now = Date.now()) => ({
  from: new Date(now - days * DAY_MS).toISOString(),
  to: new Date(now).toISOString(),
  limit: 50,
  // A disabled rule decides nothing: it is as if it were not there. One that is observed is tried as if enforced.
  overlay: {
    add: input.enabled ? [{ ...input, mode: 'enforce' as const }] : [],
    remove: id === null ? [] : [id],
  },
})

interface ReplayPanelProps {
  readonly input: PolicyInput
  readonly id: string | null
  /** The replay that is shown was made with exactly this draft. */
  readonly isCurrent: boolean
  readonly isDisabled: boolean
  readonly onReplayed: (text: string) => void
}

/** Decisions of the past under the draft, before it decides any. */
function ReplayPanel({ input, id, isCurrent, isDisabled, onReplayed }: ReplayPanelProps) {
  const [days, setDays] = useState(7)
  const run = useMutation({
    mutationFn: (draft: PolicyInput) =>
      remit.replayPolicies({ body: replayBody(draft, id, days), timeoutMs: 90_000 }),
    onSuccess: (_, draft) => onReplayed(JSON.stringify(draft)),
  })
  return (
    <Card title={t.policies.replayTitle}>
      <Stack>
        <p className={ui['muted']}>{t.policies.replayLead}</p>
        <Row>
          <Select
            label={t.policies.period}
            value={String(days)}
            options={DAYS.map((n) => [String(n), t.policies.days(n)])}
            onValue={(value) => setDays(Number(value))}
          />
          <Button
            tone={isCurrent ? undefined : 'primary'}
            disabled={run.isPending || isDisabled || input.actions.length === 0}
            onClick={() => run.mutate(input)}
          >
            {run.isPending ? t.policies.replaying : t.policies.replay}
          </Button>
          <CurlButton
            request={() => ({
              method: 'POST',
              path: '/v1/compliance/policies/replay',
              body: replayBody(input, id, days),
            })}
          />
        </Row>
        {run.error && <Failure error={run.error} />}
        {run.isPending && <Skeleton />}
        {run.data && !isCurrent && !run.isPending && <Note tone="wait">{t.policies.stale}</Note>}
        {run.data && !run.isPending && <Result result={run.data} />}
      </Stack>
    </Card>
  )
}

function Result({ result }: { result: Replay }) {
  const { flipped, flips, decisions, not_replayable: left, judged_by, notes } = result
  const total = FLIP_KINDS.reduce((sum, kind) => sum + flipped[kind], 0)
  const missing = Object.values(left).reduce((sum, n) => sum + n, 0)
  return (
    <Stack>
      <div role="status">
        {t.policies.replayed(count(decisions))}
        {total === 0 && decisions > 0 && `. ${t.policies.noFlips}`}
        {missing > 0 && `. ${t.policies.notReplayable(count(missing))}`}
      </div>
      <div className={styles['flips']}>
        {FLIP_KINDS.map((kind) => (
          <div key={kind} className={styles['flip']}>
            <strong>{count(flipped[kind])}</strong>
            <span>{t.policies.flips[kind]}</span>
          </div>
        ))}
      </div>
      {flips.length > 0 && (
        <Table
          label={t.policies.replayTitle}
          rows={flips}
          rowKey={({ seq }) => String(seq)}
          csv="replay"
          columns={[
            SEQ_COLUMN,
            { name: t.ledger.agent, value: ({ agent_id }) => agent_id },
            { name: t.ledger.action, value: ({ action }) => action },
            { name: t.ledger.decision, value: ({ kind }) => t.policies.flips[kind] },
            {
              name: t.policies.byRule,
              value: ({ cause }) => cause ?? t.policies.defaultEffect,
              as: 'id',
            },
          ]}
        />
      )}
      <Facts rows={[[t.policies.digest, <Id key="d">{judged_by.digest}</Id>]]} />
      {notes.map((note) => (
        <Literal as="p" key={note} className={ui['hint']}>
          {note}
        </Literal>
      ))}
    </Stack>
  )
}

/** Every kind of flip, in the order of their weight. */
const FLIP_KINDS: readonly FlipKind[] = [
  'allow_to_deny',
  'needs_approval_to_deny',
  'deny_to_allow',
  'deny_to_needs_approval',
  'allow_to_needs_approval',
  'needs_approval_to_allow',
]
