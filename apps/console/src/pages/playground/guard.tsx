import type { GuardAnswer } from '@remit/contract'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { ActionForm } from '../../ui/action.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { Card, Grid, Stack, Table } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'
import styles from './playground.module.css'

const DIRECTIONS = ['input', 'output'] as const
const SOURCES = ['user', 'tool', 'document', 'system'] as const
const SENSITIVITIES = ['low', 'balanced', 'high'] as const
const TONES = { allow: 'allow', redact: 'wait', block: 'deny' } as const

const same = <T extends string>(values: readonly T[]) => values.map((one) => [one, one] as const)
export function GuardPlayground() {
  const [draft, setDraft] = useState({
    content: t.playground.example,
    direction: 'input' as (typeof DIRECTIONS)[number],
    source: 'user' as (typeof SOURCES)[number],
    sensitivity: 'balanced' as (typeof SENSITIVITIES)[number],
  })
  const check = useMutation({
    mutationFn: async () => ({
      content: draft.content,
      answer: await remit.checkContent({ body: draft }),
    }),
  })
  const { text, choice } = fieldsOf({ draft, onDraft: setDraft })
  return (
    <div className={styles['split']}>
      <Card title={t.playground.tabs.guard}>
        <ActionForm
          request={() => ({ method: 'POST', path: '/v1/guard', body: draft })}
          verb={t.playground.check}
          action={check}
        >
          <TextArea {...text('content')} label={t.playground.guardText} rows={9} />
          <Grid>
            <Select
              {...choice('direction')}
              label={t.playground.direction}
              options={same(DIRECTIONS)}
            />
            <Select {...choice('source')} label={t.playground.source} options={same(SOURCES)} />
            <Select
              {...choice('sensitivity')}
              label={t.playground.sensitivity}
              options={same(SENSITIVITIES)}
            />
          </Grid>
        </ActionForm>
      </Card>
      {check.data && <Verdict {...check.data} />}
    </div>
  )
}

function Verdict({ content, answer }: { content: string; answer: GuardAnswer }) {
  const { action, score, findings, redacted } = answer
  return (
    <Card title={t.playground.findings} actions={<Badge tone={TONES[action]}>{action}</Badge>}>
      <Stack>
        <div className={styles['score']} role="status">
          <strong>{score.toFixed(3)}</strong> {t.playground.score}
        </div>
        <div className={styles['text']}>
          {spansOf(content, findings).map(({ text, categories }, i) =>
            categories.length === 0 ? (
              <Literal key={i} lines>
                {text}
              </Literal>
            ) : (
              <Literal as="mark" key={i} title={categories.join(', ')} lines>
                {text}
              </Literal>
            ),
          )}
        </div>
        {findings.length === 0 ? (
          <p>{t.playground.noFindings}</p>
        ) : (
          <Table
            label={t.playground.findings}
            rows={findings.map((finding, i) => ({ ...finding, i }))}
            rowKey={({ i }) => String(i)}
            columns={[
              {
                name: t.playground.category,
                cell: ({ category, detector }) => (
                  <>
                    <Literal>{category}</Literal>
                    <Literal as="div" className={ui['hint']}>
                      {detector}
                    </Literal>
                  </>
                ),
              },
              { name: t.playground.severity, cell: ({ severity }) => severity },
              {
                name: t.playground.excerpt,
                cell: ({ excerpt }) => (
                  <Literal as="span" className={styles['matched']}>
                    {excerpt}
                  </Literal>
                ),
              },
            ]}
          />
        )}
        {redacted !== undefined && (
          <div>
            <h3>{t.playground.redacted}</h3>
            <Literal as="div" className={styles['text']} lines>
              {redacted}
            </Literal>
          </div>
        )}
      </Stack>
    </Card>
  )
}

interface Span {
  readonly text: string
  /** The categories of the findings that cover it; none for ordinary text. */
  readonly categories: readonly string[]
}

interface Finding {
  readonly start: number
  readonly end: number
  readonly category: string
}

/** A text in pieces, cut wherever a finding begins or ends. Findings may overlap. */
function spansOf(text: string, findings: readonly Finding[]): Span[] {
  const cuts = findings.flatMap(({ start, end }) => [start, end])
  const edges = [...new Set([0, ...cuts, text.length])]
    .filter((at) => at >= 0 && at <= text.length)
    .toSorted((one, other) => one - other)
  return edges.slice(0, -1).map((start, i) => {
    const end = edges[i + 1] ?? text.length
    const over = findings.filter((finding) => finding.start < end && finding.end > start)
    return {
      text: text.slice(start, end),
      categories: [...new Set(over.map(({ category }) => category))],
    }
  })
}
