import type { ScorersAnswer } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select, TextArea } from '../../ui/field.tsx'
import { Card, Grid, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import { numberOf } from '../rules/draft.ts'
import { faultAt } from '../rules/validation.ts'
import { readObject } from './json.ts'
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
  const [params, setParams] = useState('{}')
  const [threshold, setThreshold] = useState('')
  const results = readList(text)
  const given = readObject(params)
  const body = {
    scorer,
    results: results ?? [],
    ...(given && Object.keys(given).length > 0 && { params: given }),
    ...(threshold.trim() !== '' && { threshold: numberOf(threshold) }),
  }
  const run = useMutation({
    mutationFn: () => remit.runScorer({ body, timeoutMs: 150_000 }),
  })
  const faultOf = (path: string) => faultAt(fieldErrorsOf(run.error), path)
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
              <Grid>
                <TextArea
                  mono
                  rows={3}
                  label={t.playground.params}
                  hint={paramsHint(data.find(({ name }) => name === scorer)?.params)}
                  value={params}
                  fault={given === null ? t.playground.badContext : faultOf('params')}
                  onValue={setParams}
                />
                <Input
                  label={t.playground.threshold}
                  inputMode="decimal"
                  value={threshold}
                  fault={faultOf('threshold')}
                  onValue={setThreshold}
                />
              </Grid>
              <TextArea
                mono
                rows={12}
                label={t.playground.results}
                value={text}
                fault={results === null ? t.playground.badJson : faultOf('results')}
                onValue={setText}
              />
              <Row>
                <Button
                  tone="primary"
                  disabled={run.isPending || results === null || given === null}
                  onClick={() => run.mutate()}
                >
                  {t.playground.run}
                </Button>
                <CurlButton request={() => ({ method: 'POST', path: '/v1/scorers', body })} />
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

/** The names of the parameters in their JSON Schema. */
function paramsHint(schema: unknown): string {
  const names = Object.keys((schema as { properties?: object } | undefined)?.properties ?? {})
  return names.length === 0 ? t.playground.noParams : t.playground.paramNames(names.join(', '))
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
