import type { ScorersAnswer } from '@remit/contract'
import { parseJson } from '@remit/contract/fit'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Input, Select, TextArea } from '../../ui/field.tsx'
import { Card, Grid, Stack, Table } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import { numberOf } from '../rules/draft.ts'
import { fieldsOf } from '../rules/validation.ts'
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
  const value = parseJson(text)
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : null
}

export function ScorerPlayground() {
  const scorers = useQuery({
    queryKey: ['scorers'],
    queryFn: ({ signal }) => remit.listScorers({ query: { limit: 1_000 }, signal }),
  })
  const [draft, setDraft] = useState({
    scorer: 'exact_match',
    results: EXAMPLE,
    params: '{}',
    threshold: '',
  })
  const { scorer, threshold } = draft
  const results = readList(draft.results)
  const params = readObject(draft.params)
  const body = {
    scorer,
    results: results ?? [],
    ...(params && Object.keys(params).length > 0 && { params }),
    ...(threshold.trim() !== '' && { threshold: numberOf(threshold) }),
  }
  const run = useMutation({
    mutationFn: () => remit.runScorer({ body, timeoutMs: 150_000 }),
  })
  const { text, choice, faultOf } = fieldsOf({ draft, onDraft: setDraft, error: run.error })
  return (
    <div className={styles['split']}>
      <Card title={t.playground.tabs.scorers}>
        <Loaded query={scorers}>
          {({ data }) => (
            <ActionForm
              request={() => ({ method: 'POST', path: '/v1/scorers', body })}
              verb={t.playground.run}
              isDisabled={results === null || params === null}
              action={run}
            >
              <Select
                {...choice('scorer')}
                label={t.playground.scorer}
                options={data.map(({ name }) => [name, name])}
                hint={data.find(({ name }) => name === scorer)?.description}
              />
              <Grid>
                <TextArea
                  {...text('params')}
                  mono
                  rows={3}
                  label={t.playground.params}
                  hint={paramsHint(data.find(({ name }) => name === scorer)?.params)}
                  fault={params === null ? t.playground.badContext : faultOf('params')}
                />
                <Input {...text('threshold')} label={t.playground.threshold} inputMode="decimal" />
              </Grid>
              <TextArea
                {...text('results')}
                mono
                rows={12}
                label={t.playground.results}
                fault={results === null ? t.playground.badJson : faultOf('results')}
              />
            </ActionForm>
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
                <Literal as="span" className={ui['muted']}>
                  {reason}
                </Literal>
              ),
            },
          ]}
        />
      </Stack>
    </Card>
  )
}
