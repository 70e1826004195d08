import type { PolicyDocument, PolicySetPlan } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Input } from '../../ui/field.tsx'
import { Card, Page, Stack } from '../../ui/layout.tsx'
import { Loaded, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import { ChangeOfRule } from '../approvals/rule-changes.tsx'

type Pack = keyof typeof t.policySets.packs

const PACKS = Object.entries(t.policySets.packs) as [Pack, string][]

const FILES = import.meta.glob<PolicyDocument[]>('../../../../../examples/policies/**/*.yaml', {
  import: 'default',
})

/** The documents of a pack of the folder of examples. */
async function readPack(pack: string): Promise<PolicyDocument[]> {
  const files = Object.entries(FILES).filter(([path]) =>
    new RegExp(`/policies/${pack}/[^/]+$`).test(path),
  )
  return (await Promise.all(files.map(([, load]) => load()))).flat()
}

/** A policy set from a pack: what it would change, what its tests say, and the button that applies it. */
export function NewFromTemplate() {
  const { pack } = useSearch({ from: '/policies/sets/new' })
  const chosen = PACKS.find(([name]) => name === pack)
  return (
    <Page
      title={t.policySets.fromTemplate}
      lead={
        <Link to="/policies" search={{ tab: 'sets' }}>
          ← {t.policySets.title}
        </Link>
      }
    >
      <Stack>
        <Card title={t.policySets.templates}>
          <p className={ui['hint']}>{t.policySets.templatesText}</p>
          <ul>
            {PACKS.map(([name, text]) => (
              <li key={name}>
                <Link
                  to="/policies/sets/new"
                  search={{ pack: name }}
                  aria-current={name === pack ? 'true' : undefined}
                >
                  {text}
                </Link>
              </li>
            ))}
          </ul>
        </Card>
        {chosen && <Planned key={chosen[0]} pack={chosen[0]} />}
      </Stack>
    </Page>
  )
}

function Planned({ pack }: { pack: Pack }) {
  // The two packs of break-glass are versions of one set.
  const [id, setId] = useState(pack.split('/')[0] ?? pack)
  const query = useQuery({
    queryKey: ['policy-sets', 'template', pack, id],
    queryFn: async ({ signal }) => {
      const documents = await readPack(pack)
      const plan = await remit.planPolicySet({ params: { id }, body: { documents }, signal })
      return { documents, plan }
    },
    refetchOnWindowFocus: false,
  })
  return (
    <>
      <Input label={t.policySets.setId} value={id} onValue={setId} />
      <Loaded query={query}>
        {({ documents, plan }) => <PlanCard id={id} documents={documents} plan={plan} />}
      </Loaded>
    </>
  )
}

interface PlanCardProps {
  readonly id: string
  readonly documents: PolicyDocument[]
  readonly plan: PolicySetPlan
}

function PlanCard({ id, documents, plan }: PlanCardProps) {
  const { changes, tests, properties, approval, unchanged, warnings, plan_digest } = plan
  const mayApply = useCan()('POST /v1/policy-sets/{id}/apply')
  const navigate = useNavigate()
  const params = { id }
  const body = { documents, plan_digest }
  const apply = useMutation({
    mutationFn: () => remit.applyPolicySet({ params, body }),
    onSuccess: async (answer) => {
      await refresh()
      const { approval: request } = answer as { approval?: { id: string } }
      announce(request ? t.policySets.waitingSet : t.policySets.appliedSet)
      if (request) await navigate({ to: '/approvals/$id', params: { id: request.id } })
      else await navigate({ to: '/policies', search: { tab: 'sets' } })
    },
  })
  return (
    <Card title={t.policySets.planned}>
      <ActionForm
        isReadOnly={!mayApply}
        request={() => ({
          method: 'POST',
          path: `/v1/policy-sets/${encodeURIComponent(id)}/apply`,
          body,
        })}
        verb={t.policySets.applySet}
        isDisabled={changes.length === 0 || tests.failed > 0}
        action={apply}
      >
        <p>
          {changes.length === 0 && `${t.policySets.noChanges} `}
          {t.policySets.unchanged(unchanged)}. {t.policySets.testsOf(tests.passed, tests.failed)}.
        </p>
        {properties.map(({ name, result }) => (
          <p key={name}>
            <Literal>{name}</Literal>{' '}
            <Badge tone={result === 'violated' ? 'deny' : 'allow'}>{result}</Badge>
          </p>
        ))}
        {warnings.map((warning) => (
          <Note key={warning} tone="wait">
            <Literal>{warning}</Literal>
          </Note>
        ))}
        {approval.why !== null && (
          <Note tone="wait">
            {t.policySets.needsApproval}: <Literal>{approval.why}</Literal>
          </Note>
        )}
        {changes.map((change) => (
          <ChangeOfRule key={`${change.change} ${change.kind} ${change.name}`} change={change} />
        ))}
      </ActionForm>
    </Card>
  )
}
