import type { ApprovalRule } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDelete } from '../../ui/confirm-delete.tsx'
import { Input } from '../../ui/field.tsx'
import { Card, Page, Row, Stack } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { requestQuery } from '../approvals/queries.ts'
import { exceptLike } from '../policies/like-request.ts'
import { Conflict } from '../rules/conflict.tsx'
import { useValidation } from '../rules/use-validation.ts'
import { draftOf, EMPTY, inputOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { ApprovalRuleForm } from './form.tsx'
import { pathOf, readRule, ruleQuery, validateRule } from './queries.ts'

/** One approval rule. The id `new` makes one; with `except`, the draft no longer asks for such requests. */
export function ApprovalRuleEditor() {
  const { id } = useParams({ from: '/policies/approval-rules/$id' })
  const { except } = useSearch({ from: '/policies/approval-rules/$id' })
  if (id === 'new')
    return (
      <Page title={t.policies.newRule}>
        <Editor stored={null} first={EMPTY} />
      </Page>
    )
  return (
    <Page title={t.approvalRules.edit(id)}>
      <Existing key={`${id} ${except}`} id={id} except={except} />
    </Page>
  )
}

function Existing({ id, except }: { id: string; except: string | undefined }) {
  const query = useQuery(ruleQuery(id))
  const request = useQuery({
    ...requestQuery(except ?? ''),
    enabled: except !== undefined,
    refetchOnWindowFocus: false,
  })
  return (
    <Loaded query={query}>
      {(rule) =>
        except === undefined ? (
          <Editor stored={rule} first={draftOf(rule)} />
        ) : (
          <Loaded query={request}>
            {(like) => (
              <Stack>
                <Note tone="info">{t.approvalRules.exceptNote}</Note>
                <Editor
                  stored={rule}
                  first={{ ...draftOf(rule), condition: exceptLike(rule.condition, like) }}
                />
              </Stack>
            )}
          </Loaded>
        )
      }
    </Loaded>
  )
}

/** The rule was changed since the draft began. */
class ChangedError extends Error {}

function Editor({ stored, first }: { stored: ApprovalRule | null; first: Draft }) {
  const can = useCan()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [id, setId] = useState(stored?.id ?? '')
  const [draft, setDraft] = useState(first)
  const [base, setBase] = useState(stored)
  const body = inputOf(draft)
  const mayChange = can('POST /v1/approval-rules/{id}')
  const validation = useValidation({
    name: 'approval-rule',
    input: mayChange && draft !== EMPTY ? { id, body } : null,
    ask: validateRule,
  })
  const save = useMutation({
    mutationFn: async (version: ApprovalRule | null) => {
      // The API has no condition for this: a change between the two calls is overwritten.
      const now = version && (await readRule(version.id))
      if (now && now.updated_at !== version.updated_at) throw new ChangedError()
      return remit.setApprovalRule({ params: { id }, body })
    },
    onSuccess: async (rule) => {
      announce(t.policies.saved)
      setBase(rule)
      await client.invalidateQueries({ queryKey: ['approval-rules'] })
      await navigate({ to: '/policies/approval-rules/$id', params: { id: rule.id } })
    },
  })
  const isConflict = save.error instanceof ChangedError
  return (
    <Card
      className={ui['form']}
      title={t.policies.form}
      actions={
        stored &&
        can('DELETE /v1/approval-rules/{id}') && (
          <ConfirmDelete
            title={t.approvalRules.deleteTitle}
            text={t.approvalRules.deleteText}
            request={() => ({ method: 'DELETE', path: pathOf(stored.id) })}
            onDelete={() => remit.removeApprovalRule({ params: { id: stored.id } })}
            onDeleted={async () => {
              await navigate({ to: '/policies', search: { tab: 'approval-rules' } })
              await client.invalidateQueries({ queryKey: ['approval-rules'] })
            }}
          />
        )
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(base)
        }}
      >
        <Stack>
          {!mayChange && <Note tone="info">{t.approvalRules.readOnly}</Note>}
          {!stored && (
            <Input
              mono
              required
              label={t.approvalRules.id}
              hint={t.approvalRules.idHint}
              value={id}
              fault={fieldErrorsOf(save.error).find(({ path }) => path === 'id')?.message}
              onValue={setId}
            />
          )}
          <ApprovalRuleForm
            draft={draft}
            onDraft={setDraft}
            isReadOnly={!mayChange}
            validation={validation}
            faults={fieldErrorsOf(save.error)}
          />
          {isConflict && (
            <Conflict
              id={id}
              read={() => readRule(id)}
              textOf={(theirs) => asText(inputOf(draftOf(theirs)))}
              mine={asText(body)}
              onTheirs={(theirs) => {
                setDraft(draftOf(theirs))
                setBase(theirs)
                save.reset()
              }}
              onMine={(theirs) => {
                setBase(theirs)
                save.mutate(theirs)
              }}
            />
          )}
          {save.error && !isConflict && <Failure error={save.error} />}
          {mayChange && (
            <Row>
              <Button
                type="submit"
                tone="primary"
                disabled={
                  save.isPending ||
                  validation.data?.valid === false ||
                  id.trim() === '' ||
                  body.actions.length === 0
                }
              >
                {stored ? t.policies.save : t.policies.create}
              </Button>
              <CurlButton request={() => ({ method: 'POST', path: pathOf(id), body })} />
            </Row>
          )}
        </Stack>
      </form>
    </Card>
  )
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2)
