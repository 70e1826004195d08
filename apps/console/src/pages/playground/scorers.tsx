import type { ScorersAnswer } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { Card, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import styles from './playground.module.css'

const EXAMPLE = JSON.stringify(
  [
    { id: 'sum', output: '4', expected: '4' },
    { id: 'capital', output: 'Lyon', expected: 'Paris' },
  ],
  null,
  2,
)

function readList(text: string): Record<string, unknown>[] | null {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? (value as Record<string, unknown>[]) : null
  } catch {
    return null
  }
}

export function ScorerPlayground() {
  const scorers = useQuery({
    queryKey: ['scorers'],
    queryFn: ({ signal }) => remit.listScorers({ query: { limit: 1_000 }, signal }),
  })
  const [scorer, setScorer] = useState('exact_match')
  const [text, setText] = useState(EXAMPLE)
  const results = readList(text)
  const run = useMutation({
    mutationFn: () =>
      remit.runScorer({ body: { scorer, results: results ?? [] }, timeoutMs: 150_000 }),
  })
  return (
    <div className={styles['split']}>
      <Card title={t.playground.tabs.scorers}>
        <Loaded query={scorers}>
          {({ data }) => (
            <Stack>
              <Select
                label={t.playground.scorer}
                value={scorer}
                options={data.map(({ name }) => [name, name])}
                onValue={setScorer}
                hint={data.find(({ name }) => name === scorer)?.description}
              />
              <TextArea
                mono
                rows={12}
                label={t.playground.results}
                value={text}
                fault={results === null ? t.playground.badJson : undefined}
                onValue={setText}
              />
              <Row>
                <Button
                  tone="primary"
                  disabled={run.isPending || results === null}
                  onClick={() => run.mutate()}
                >
                  {t.playground.run}
                </Button>
                <CurlButton
                  request={() => ({
                    method: 'POST',
                    path: '/v1/scorers',
                    body: { scorer, results },
                  })}
                />
              </Row>
              {run.error && <Failure error={run.error} />}
            </Stack>
          )}
        </Loaded>
      </Card>
      {run.data && <Scores answer={run.data} />}
    </div>
  )
}

function Scores({ answer: { scores, aggregate, scorer } }: { answer: ScorersAnswer }) {
  return (
    <Card title={scorer}>
      <Stack>
        <div className={styles['score']} role="status">
          <strong>{aggregate.mean === null ? '–' : aggregate.mean.toFixed(3)}</strong>{' '}
          {t.playground.mean}
        </div>
        <Table
          label={t.playground.score}
          rows={scores}
          rowKey={({ index }) => String(index)}
          columns={[
            {
              name: t.agents.id,
              cell: ({ id, index }) => <Literal>{id ?? String(index)}</Literal>,
            },
            {
              name: t.playground.score,
              end: true,
              cell: ({ score }) => (score === null ? '–' : score.toFixed(3)),
            },
            {
              name: t.playground.passed,
              cell: ({ passed }) =>
                passed === null ? (
                  '–'
                ) : (
                  <Badge tone={passed ? 'allow' : 'deny'}>
                    {passed ? t.common.yes : t.common.no}
                  </Badge>
                ),
            },
            {
              name: t.playground.reason,
              cell: ({ reason }) => (
                <span className={ui['muted']}>
                  <Literal>{reason}</Literal>
                </span>
              ),
            },
          ]}
        />
      </Stack>
    </Card>
  )
}
