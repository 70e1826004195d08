import type { Entry, PolicySet } from '@remit/contract'
import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { entriesQuery } from '../../api/queries.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ConfirmDelete } from '../../ui/action.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Facts, Row, Stack, Table, TableOf } from '../../ui/layout.tsx'
import { Empty, Loaded, Note } from '../../ui/states.tsx'
import { Badge, Id, Literal, Time } from '../../ui/values.tsx'
import { SEQ_COLUMN, TIME_COLUMN } from '../ledger/columns.tsx'

const setsQuery = queryOptions({
  queryKey: ['policy-sets'],
  queryFn: ({ signal }) => remit.listPolicySets({ signal }),
})

/** The policy sets with their objects and what was changed outside of them. */
export function PolicySets() {
  const query = useQuery(setsQuery)
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t.policySets.empty} command={t.policySets.command}>
            {t.policySets.emptyText}
          </Empty>
        ) : (
          <Stack>
            {data.map((set) => (
              <SetCard key={set.id} set={set} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  )
}

function SetCard({ set }: { set: PolicySet }) {
  const { id, revision, applied_at, applied_by, digest, locked, objects } = set
  const mayRead = useCan()('GET /v1/ledger')
  const [isOpen, setOpen] = useState(false)
  return (
    <Card
      title={
        <>
          <Literal>{id}</Literal> {locked && <Badge tone="wait">{t.policySets.locked}</Badge>}
        </>
      }
    >
      <Stack>
        <Facts
          rows={[
            [t.policySets.revision, revision],
            [
              t.policySets.applied,
              <span key="applied">
                <Time at={applied_at} as="full" /> {t.policySets.appliedBy('')}
                <Id>{applied_by}</Id>
              </span>,
            ],
            [t.policySets.objects, countsOf(objects)],
            [t.policySets.digest, <Id key="digest">{digest}</Id>],
          ]}
        />
        <DriftOf set={set} />
        <Row>
          <LockSet set={set} />
          <RemoveSet set={set} />
          {mayRead && !isOpen && (
            <Button onClick={() => setOpen(true)}>{t.policySets.history}</Button>
          )}
        </Row>
        {isOpen && <History set={id} />}
      </Stack>
    </Card>
  )
}

/** The number of objects of each kind. */
const countsOf = (objects: PolicySet['objects']): string =>
  [...Map.groupBy(objects, ({ kind }) => kind)]
    .map(([kind, { length }]) => `${length} ${kind}`)
    .join(', ')

function DriftOf({ set: { drift } }: { set: PolicySet }) {
  if (drift.length === 0) return <Note tone="allow">{t.policySets.noDrift}</Note>
  return (
    <>
      <Note tone="wait">{t.policySets.drift}</Note>
      <Table
        label={t.policySets.drift}
        rows={drift}
        rowKey={({ kind, object_id }) => `${kind} ${object_id}`}
        columns={[
          { name: t.policySets.kind, value: ({ kind }) => kind },
          { name: t.policySets.object, value: ({ name }) => name },
          { name: t.policySets.change, value: ({ change }) => t.policySets.changes[change] },
          { name: t.policySets.by, value: ({ by }) => by ?? '–' },
          {
            name: t.policySets.entry,
            value: ({ seq }) => seq,
            cell: ({ seq }) =>
              seq === null ? (
                '–'
              ) : (
                <Link to="/ledger/$seq" params={{ seq: String(seq) }}>
                  {seq}
                </Link>
              ),
          },
        ]}
      />
    </>
  )
}

/** The plans that were applied to a set, newest first, as the ledger has them. */
function History({ set }: { set: string }) {
  const query = useInfiniteQuery(
    entriesQuery(
      ['policy-sets', 'applied', set],
      { kind: 'policy_set.applied' },
      ({ data }) => data?.['set'] === set,
    ),
  )
  return (
    <TableOf<Entry>
      query={query}
      label={t.policySets.history}
      empty={t.policySets.historyNone}
      rowKey={({ seq }) => String(seq)}
      csv={`policy-set-${set}`}
      columns={[
        TIME_COLUMN,
        { name: t.policySets.revision, value: ({ data }) => textOf(data?.['revision']) },
        { name: t.policySets.by, value: ({ actor }) => actor?.id, as: 'id' },
        { name: t.policySets.changed, value: ({ data }) => changesOf(data?.['counts']) },
        { name: t.policySets.reason, value: ({ data }) => textOf(data?.['change_reason']) },
        {
          name: t.policySets.approval,
          value: ({ data }) => textOf(data?.['approval_id']),
          cell: ({ data }) => {
            const id = textOf(data?.['approval_id'])
            return (
              id !== null && (
                <Link to="/approvals/$id" params={{ id }}>
                  <Id>{id}</Id>
                </Link>
              )
            )
          },
        },
        SEQ_COLUMN,
      ]}
    />
  )
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null

/** `2 create, 1 delete` of `{ create: 2, delete: 1, replace: 0 }`. */
const changesOf = (counts: unknown): string =>
  Object.entries((counts ?? {}) as Readonly<Record<string, number>>)
    .filter(([, n]) => n > 0)
    .map(([change, n]) => `${n} ${change}`)
    .join(', ')

const pathOf = (id: string, rest = '') => `/v1/policy-sets/${encodeURIComponent(id)}${rest}`

function LockSet({ set: { id, locked } }: { set: PolicySet }) {
  const can = useCan()
  if (!can('PUT /v1/policy-sets/{id}/lock')) return null
  const body = { locked: !locked }
  const texts = locked
    ? [
        t.policySets.unlockTitle,
        t.policySets.unlockText,
        t.policySets.unlock,
        t.policySets.unlockDone,
      ]
    : [t.policySets.lockTitle, t.policySets.lockText, t.policySets.lock, t.policySets.lockDone]
  const [title = '', text = '', verb = '', done = ''] = texts
  return (
    <ConfirmDelete
      tone={undefined}
      title={title}
      text={text}
      verb={verb}
      done={done}
      request={() => ({ method: 'PUT', path: pathOf(id, '/lock'), body })}
      onDelete={() => remit.lockPolicySet({ params: { id }, body })}
      onDeleted={() => refresh('policy-sets')}
    />
  )
}

function RemoveSet({ set: { id } }: { set: PolicySet }) {
  const can = useCan()
  if (!can('DELETE /v1/policy-sets/{id}')) return null
  return (
    <ConfirmDelete
      title={t.policySets.removeTitle}
      text={t.policySets.removeText}
      verb={t.policySets.remove}
      done={t.policySets.removed}
      request={() => ({ method: 'DELETE', path: pathOf(id, '?objects=keep') })}
      onDelete={() => remit.removePolicySet({ params: { id }, query: { objects: 'keep' } })}
      onDeleted={() => refresh('policy-sets')}
    />
  )
}
