import { resourceText } from '@remit/contract/fit'
import { useMutation } from '@tanstack/react-query'
import { RemitError } from '@remit/contract/client'
import { applyApproved } from '../../api/propose.ts'
import type { ShownChange } from '../../api/propose.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Facts, Row, Stack, Table } from '../../ui/layout.tsx'
import { Failure, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Badge, Id, Literal } from '../../ui/values.tsx'
import styles from './approvals.module.css'
import { valueText } from './difference.ts'
import type { Request } from './queries.ts'

interface RuleChangesProps {
  readonly request: Request
  readonly changes: readonly ShownChange[]
}

/** A request to change rules: each change with the members that differ, and the button that applies them. */
export function RuleChanges({ request, changes }: RuleChangesProps) {
  const { context, resource, status } = request
  const { change_reason: reason, changes_omitted: omitted, plan_digest: digest } = context
  return (
    <Stack>
      <Facts
        rows={[
          [
            t.policySets.set,
            <Literal key="set">{resourceText({ resource }).replace(/^policy_set:/, '')}</Literal>,
          ],
          ...(typeof reason === 'string'
            ? [[t.approvals.comment, <Literal key="r">{reason}</Literal>] as const]
            : []),
          [t.policySets.planDigest, <Id key="d">{String(digest)}</Id>],
        ]}
      />
      <h3>{t.policySets.proposedChanges}</h3>
      {changes.map((change) => (
        <ChangeOfRule key={`${change.change} ${change.kind} ${change.name}`} change={change} />
      ))}
      {typeof omitted === 'number' && (
        <Note tone="wait">{t.policySets.omittedChanges(omitted)}</Note>
      )}
      {status === 'approved' && <Apply request={request} />}
    </Stack>
  )
}

/** A change with the members that differ. */
export function ChangeOfRule({ change: one }: { change: ShownChange }) {
  const { kind, name, object_id, change, weakens } = one
  const rows = differencesOf(one)
  return (
    <div className={styles['rule']}>
      <div className={styles['ruleHead']}>
        <span>
          {change} {kind} <Id>{name}</Id>
          {object_id !== undefined && object_id !== name && (
            <>
              {' '}
              (<Id>{object_id}</Id>)
            </>
          )}
        </span>
        {weakens && <Badge tone="wait">{t.policySets.weakens}</Badge>}
      </div>
      {one.before === undefined && <Note tone="wait">{t.policySets.tooLong}</Note>}
      {rows.length > 0 && (
        <Table
          label={`${kind} ${name}`}
          rows={rows}
          rowKey={(row) => row.member}
          columns={[
            { name: t.policySets.member, value: (row) => row.member },
            { name: t.policySets.before, value: (row) => row.before },
            { name: t.policySets.after, value: (row) => row.after },
          ]}
        />
      )}
    </div>
  )
}

/** The members of an object that a change moves. */
function differencesOf({ before, after }: ShownChange) {
  const names = Object.keys({ ...before, ...after })
  const textOf = (value: unknown) => ((value ?? null) === null ? '–' : valueText(value))
  return names
    .map((member) => ({
      member,
      before: textOf(before?.[member]),
      after: textOf(after?.[member]),
    }))
    .filter((row) => row.before !== row.after)
}

function Apply({ request }: { request: Request }) {
  const can = useCan()
  const apply = useMutation({
    mutationFn: () => applyApproved(request),
    onSuccess: () => {
      announce(t.policySets.applyDone)
      return refresh()
    },
    onError: () => refresh('approvals'),
  })
  if (!can('POST /v1/policy-sets/{id}/apply')) return null
  const { error } = apply
  const isElsewhere = error instanceof RemitError && error.code === 'plan_stale'
  return (
    <>
      <Row>
        <Button tone="primary" disabled={apply.isPending} onClick={() => apply.mutate()}>
          {t.policySets.apply}
        </Button>
      </Row>
      {isElsewhere ? (
        <Note tone="wait">{t.policySets.applyElsewhere}</Note>
      ) : (
        error && <Failure error={error} />
      )}
    </>
  )
}
