import type { Entry } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Stack, Table } from '../../ui/layout.tsx'
import { Failure, Loaded } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Ago, Literal, Money } from '../../ui/values.tsx'

interface Hold {
  readonly id: string
  readonly entry: Entry
  readonly amount: number
}

const MOST = 1_000

const decisionOf = ({ data }: Entry): string | null =>
  typeof data?.['decision_id'] === 'string' ? data['decision_id'] : null

/** The amount that an allow holds; null if it holds none. */
function amountOf({ data }: Entry): number | null {
  const hold = data?.['hold'] as { usd?: unknown } | null | undefined
  return typeof hold?.usd === 'number' ? hold.usd : null
}

/** Allows with an amount that no later entry settled. */
function holdsOf(decided: readonly Entry[], appended: readonly Entry[]): Hold[] {
  const settled = new Set(
    appended.filter(({ data }) => data && isSettling(data)).map((entry) => decisionOf(entry)),
  )
  return decided.flatMap((entry) => {
    const [id, amount] = [decisionOf(entry), amountOf(entry)]
    const isOpen = entry.decision === 'allow' && id !== null && !settled.has(id)
    return isOpen && amount !== null && amount > 0 ? [{ id, entry, amount }] : []
  })
}

const isSettling = (data: Record<string, unknown>): boolean =>
  ['cost_usd', 'cost_micro_usd', 'settle', 'settled'].some((name) => (data[name] ?? null) !== null)

export function Holds() {
  const can = useCan()
  const client = useQueryClient()
  const query = useQuery({
    queryKey: ['spend', 'holds'],
    queryFn: async ({ signal }) => {
      const list = (kind: string, decision?: 'allow') =>
        remit.listEntries({ query: { kind, limit: MOST, decision }, signal })
      const [decided, appended] = await Promise.all([
        list('authorization.decided', 'allow'),
        list('entry.appended'),
      ])
      return holdsOf(decided.data, appended.data)
    },
  })
  const release = useMutation({
    mutationFn: ({ id, entry }: Hold) =>
      remit.appendEntry({
        body: { action: entry.action ?? 'spend.release', decision_id: id, settle: 'release' },
      }),
    onSuccess: () => announce(t.spend.released),
    onSettled: () => client.invalidateQueries({ queryKey: ['spend'] }),
  })
  return (
    <Card title={t.spend.holds}>
      <Stack>
        <p className={ui['hint']}>{t.spend.holdsHint}</p>
        {release.error && <Failure error={release.error} />}
        <Loaded query={query}>
          {(holds) =>
            holds.length === 0 ? (
              <p className={ui['muted']}>{t.spend.noHolds}</p>
            ) : (
              <Table<Hold>
                label={t.spend.holds}
                rows={holds.slice(0, 100)}
                rowKey={({ id }) => id}
                columns={[
                  {
                    name: t.ledger.seq,
                    cell: ({ entry }) => (
                      <Link to="/ledger/$seq" params={{ seq: String(entry.seq) }}>
                        {entry.seq}
                      </Link>
                    ),
                  },
                  {
                    name: t.spend.agent,
                    cell: ({ entry }) => <Literal>{entry.agent_id ?? ''}</Literal>,
                  },
                  {
                    name: t.ledger.action,
                    cell: ({ entry }) => <Literal>{entry.action ?? ''}</Literal>,
                  },
                  {
                    name: t.spend.amount,
                    end: true,
                    cell: ({ amount }) => <Money amount={amount} />,
                  },
                  { name: t.spend.age, cell: ({ entry }) => <Ago at={entry.recorded_at} /> },
                  {
                    name: t.common.actions,
                    end: true,
                    cell: (hold) =>
                      can('POST /v1/ledger') && (
                        <Button
                          tone="quiet"
                          disabled={release.isPending}
                          aria-label={`${t.spend.release} ${hold.entry.seq}`}
                          onClick={() => release.mutate(hold)}
                        >
                          {t.spend.release}
                        </Button>
                      ),
                  },
                ]}
              />
            )
          }
        </Loaded>
      </Stack>
    </Card>
  )
}
