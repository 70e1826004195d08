import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { canPropose, propose } from '../api/propose.ts'
import { refresh } from '../api/query-client.ts'
import type { Request } from '../format/curl.ts'
import { t } from '../texts.ts'
import { Button } from './button.tsx'
import { Row } from './layout.tsx'
import { Failure } from './states.tsx'
import { announce } from './toasts.tsx'

/** The button that proposes a refused change of rules to a second person. */
export function Propose({ request }: { request: Request }) {
  const navigate = useNavigate()
  const run = useMutation({
    mutationFn: () => propose(request),
    onSuccess: async (id) => {
      announce(id === null ? t.policySets.proposedDone : t.policySets.proposed)
      if (id === null) await refresh()
      else await navigate({ to: '/approvals/$id', params: { id } })
    },
  })
  if (!canPropose(request)) return null
  return (
    <>
      <p>{t.policySets.proposeText}</p>
      <Row>
        <Button tone="primary" disabled={run.isPending} onClick={() => run.mutate()}>
          {t.policySets.propose}
        </Button>
      </Row>
      {run.error && <Failure error={run.error} />}
    </>
  )
}
