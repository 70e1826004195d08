import type { PolicyChange, Approval, Entry } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch, Link } from '@tanstack/react-router'
import { useState, lazy, Suspense } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { useActorText, useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Input, Checkbox, Select, UtcInput } from '../../ui/field.tsx'
import { Page, Stack, Row, Card, Grid } from '../../ui/layout.tsx'
import { Loaded, Note, Skeleton } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { requestQuery } from '../approvals/queries.ts'
import {
  Conflict,
  isOutdated,
  DraftForm,
  ConditionField,
  PatternFields,
  ValidationNote,
} from '../rules/form.tsx'
import { useValidation, fieldsOf } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { draftOf, EMPTY, inputOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { allowLike } from './like-request.ts'
import styles from './policies.module.css'
import {
  pathOf,
  policyQuery,
  readPolicy,
  validatePolicy,
  historyQuery,
  ruleText,
} from './queries.ts'
import type { Stored } from './queries.ts'
import { ReplayPanel } from './replay-panel.tsx'
import { buttonClass, Button } from '../../ui/button.tsx'
import { ConfirmDelete } from '../../ui/confirm-delete.tsx'
import ui from '../../ui/ui.module.css'
import { RULE_VARIABLES } from '../../editor/condition-editor.tsx'

/** One policy: form, condition, replay, history. The id `new` makes one. */
export function PolicyEditor() {
  const { id } = useParams({ from: '/policies/$id' })
  const { like } = useSearch({ from: '/policies/$id' })
  if (id !== 'new') return <Existing key={id} id={id} />
  return (
    <Page title={t.policies.new}>
      {like === undefined ? (
        <Editor key="new" id={null} stored={null} first={EMPTY} />
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
  const query = useQuery(policyQuery(id))
  const name = query.data?.policy.description ?? t.policies.edit(id)
  return (
    <Page
      title={<Literal>{name}</Literal>}
      lead={name === t.policies.edit(id) ? null : <Id>{id}</Id>}
    >
      <Stack>
        <Loaded query={query}>
          {(stored) => <Editor id={id} stored={stored} first={draftOf(stored.policy)} />}
        </Loaded>
        <RuleHistory id={id} />
      </Stack>
    </Page>
  )
}

interface EditorProps {
  readonly id: string | null
  readonly stored: Stored | null
  readonly first: Draft
}

function Editor({ id, stored, first }: EditorProps) {
  const can = useCan()
  const [draft, setDraft] = useState(first)
  /** The version that the draft began with: a newer one makes Save a conflict. */
  const [base, setBase] = useState(stored)
  const [replayed, setReplayed] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const input = inputOf(draft)
  const text = JSON.stringify(input)
  const mayChange = can(id === null ? 'POST /v1/policies' : 'PUT /v1/policies/{policyID}')
  const validation = useValidation({
    name: 'policy',
    input: can('POST /v1/policies') && draft !== EMPTY ? input : null,
    ask: validatePolicy,
  })
  const save = useSave(id)
  const isReplayed = replayed === text
  const canReplay = can('POST /v1/compliance/policies/replay')
  const changeOf = (edited: Draft): PolicyChange => ({
    ...inputOf(edited),
    ...(reason.trim() !== '' && { change_reason: reason.trim() }),
  })
  const isConflict = isOutdated(save.error)
  const needsReason = canReplay && !isReplayed
  const isInvalid = validation.data?.valid === false

  const store = (version: Stored | null, edited = draft) =>
    save.mutate(
      { body: changeOf(edited), etag: version?.etag ?? null },
      { onSuccess: (next) => next && setBase(next) },
    )
  return (
    <div className={styles['editor']}>
      <DraftForm
        actions={id !== null && <DeletePolicy id={id} />}
        mayChange={mayChange}
        canSave={
          !save.isPending &&
          !isInvalid &&
          (!needsReason || reason.trim() !== '') &&
          input.actions.length > 0
        }
        save={id === null ? t.policies.create : t.policies.save}
        onSave={() => store(base)}
        error={isConflict ? null : save.error}
        request={() => requestOf(id, changeOf(draft), base?.etag)}
      >
        {!mayChange && <Note tone="info">{t.policies.readOnly}</Note>}
        <RuleForm
          draft={draft}
          onDraft={setDraft}
          isReadOnly={!mayChange}
          validation={validation}
          faults={fieldErrorsOf(save.error)}
        />
        {isConflict && id !== null && (
          <Conflict
            id={id}
            read={() => readPolicy(id)}
            textOf={(theirs) => asText(inputOf(draftOf(theirs.policy)))}
            mine={asText(input)}
            onTheirs={(theirs) => {
              setDraft(draftOf(theirs.policy))
              setBase(theirs)
              save.reset()
            }}
            onMine={(theirs) => {
              const mine = { ...draft, kept: draftOf(theirs.policy).kept }
              setDraft(mine)
              setBase(theirs)
              store(theirs, mine)
            }}
          />
        )}
        {mayChange && (
          <Input
            label={t.policies.changeReason}
            hint={needsReason ? t.policies.saveHint : t.policies.changeReasonHint}
            maxLength={500}
            value={reason}
            fault={fieldErrorsOf(save.error).find(({ path }) => path === 'change_reason')?.message}
            onValue={setReason}
          />
        )}
      </DraftForm>
      {canReplay && (
        <ReplayPanel
          input={input}
          id={id}
          isCurrent={isReplayed}
          isDisabled={isInvalid}
          onReplayed={setReplayed}
        />
      )}
    </div>
  )
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2)

const requestOf = (id: string | null, body: PolicyChange, etag: string | undefined) => ({
  method: id === null ? 'POST' : 'PUT',
  path: id === null ? '/v1/policies' : pathOf(id),
  body,
  ...(etag !== undefined && { headers: { 'If-Match': etag } }),
})

function useSave(id: string | null) {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async ({ body, etag }: { body: PolicyChange; etag: string | null }) => {
      if (id === null) {
        const { id: created } = await remit.createPolicy({ body })
        await navigate({ to: '/policies/$id', params: { id: created } })
        return null
      }
      const headers = etag === null ? {} : { 'if-match': etag }
      await remit.replacePolicy({ params: { policyID: id }, body, headers })
      return client.query({ ...policyQuery(id), staleTime: 0 })
    },
    onSuccess: () => {
      announce(t.policies.saved)
      return client.invalidateQueries({ queryKey: ['policies'] })
    },
  })
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
  const client = useQueryClient()
  const navigate = useNavigate()
  if (!can('DELETE /v1/policies/{policyID}')) return null
  const query = reason.trim() === '' ? {} : { change_reason: reason.trim() }
  return (
    <ConfirmDelete
      title={t.policies.deleteTitle}
      text={t.policies.deleteText}
      request={() => ({ method: 'DELETE', path: `${pathOf(id)}${searchOf(query)}` })}
      onDelete={() => remit.deletePolicy({ params: { policyID: id }, query })}
      onDeleted={async () => {
        await navigate({ to: '/policies' })
        await client.invalidateQueries({ queryKey: ['policies'] })
      }}
    >
      <Input
        label={t.policies.changeReason}
        hint={t.policies.changeReasonHint}
        maxLength={500}
        value={reason}
        onValue={setReason}
      />
    </ConfirmDelete>
  )
}

const searchOf = (query: Readonly<Record<string, string>>): string => {
  const search = new URLSearchParams(query)
  return search.size === 0 ? '' : `?${search}`
}

const TextDiff = lazy(async () => ({
  default: (await import('../../editor/text-diff.tsx')).TextDiff,
}))

/** The changes of a rule, from the ledger. */
function RuleHistory({ id }: { id: string }) {
  const can = useCan()
  const query = useQuery({ ...historyQuery(id), enabled: can('GET /v1/ledger') })
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
          <Suspense fallback={<Skeleton />}>
            <TextDiff
              label={t.policies.compare}
              before={ruleText(before)}
              after={ruleText(entry)}
            />
          </Suspense>
        </div>
      )}
    </div>
  )
}

const EFFECTS = [
  ['deny', 'deny'],
  ['allow', 'allow'],
] as const
const PATTERNS = [
  ['agents', t.policies.agents],
  ['actions', t.policies.actions],
  ['resources', t.policies.resources],
] as const

function RuleForm(props: DraftFieldsProps<Draft>) {
  const { isReadOnly = false, validation } = props
  const { text, choice, check, patterns } = fieldsOf(props)
  return (
    <Stack>
      <Input {...text('description')} label={t.policies.description} />
      <Select {...choice('effect')} label={t.policies.effect} options={EFFECTS} />
      <PatternFields {...patterns} fields={PATTERNS} />
      <ConditionField
        {...text('condition')}
        isReadOnly={isReadOnly}
        validation={validation}
        variables={RULE_VARIABLES}
      />
      <Grid>
        <UtcInput {...text('not_before')} label={t.policies.starts} />
        <UtcInput {...text('expires_at')} label={t.policies.ends} />
      </Grid>
      <Checkbox {...check('enabled')} label={t.policies.enabled} />
      <ValidationNote validation={validation} />
    </Stack>
  )
}
