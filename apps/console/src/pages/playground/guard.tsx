import type { GuardAnswer } from '@remit/contract'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { Card, Grid, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import styles from './playground.module.css'

const DIRECTIONS = ['input', 'output'] as const
const SOURCES = ['user', 'tool', 'document', 'system'] as const
const SENSITIVITIES = ['low', 'balanced', 'high'] as const
const TONES = { allow: 'allow', redact: 'wait', block: 'deny' } as const

const same = <T extends string>(values: readonly T[]) => values.map((one) => [one, one] as const)
const oneOf = <T extends string>(values: readonly T[], text: string, preset: T): T =>
  values.find((one) => one === text) ?? preset

export function GuardPlayground() {
  const [content, setContent] = useState<string>(t.playground.example)
  const [direction, setDirection] = useState<(typeof DIRECTIONS)[number]>('input')
  const [source, setSource] = useState<(typeof SOURCES)[number]>('user')
  const [sensitivity, setSensitivity] = useState<(typeof SENSITIVITIES)[number]>('balanced')
  const body = { content, direction, source, sensitivity }
  const check = useMutation({
    mutationFn: async (asked: typeof body) => ({
      content: asked.content,
      answer: await remit.checkContent({ body: asked }),
    }),
  })
  return (
    <div className={styles['split']}>
      <Card title={t.playground.tabs.guard}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            check.mutate(body)
          }}
        >
          <Stack>
            <TextArea
              label={t.playground.guardText}
              rows={9}
              value={content}
              onValue={setContent}
            />
            <Grid>
              <Select
                label={t.playground.direction}
                value={direction}
                options={same(DIRECTIONS)}
                onValue={(text) => setDirection(oneOf(DIRECTIONS, text, 'input'))}
              />
              <Select
                label={t.playground.source}
                value={source}
                options={same(SOURCES)}
                onValue={(text) => setSource(oneOf(SOURCES, text, 'user'))}
              />
              <Select
                label={t.playground.sensitivity}
                value={sensitivity}
                options={same(SENSITIVITIES)}
                onValue={(text) => setSensitivity(oneOf(SENSITIVITIES, text, 'balanced'))}
              />
            </Grid>
            <Row>
              <Button type="submit" tone="primary" disabled={check.isPending}>
                {t.playground.check}
              </Button>
              <CurlButton request={() => ({ method: 'POST', path: '/v1/guard', body })} />
            </Row>
            {check.error && <Failure error={check.error} />}
          </Stack>
        </form>
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
              <mark key={i} title={categories.join(', ')}>
                <Literal lines>{text}</Literal>
              </mark>
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
                    <div className={ui['hint']}>
                      <Literal>{detector}</Literal>
                    </div>
                  </>
                ),
              },
              { name: t.playground.severity, cell: ({ severity }) => severity },
              {
                name: t.playground.excerpt,
                cell: ({ excerpt }) => (
                  <span className={styles['matched']}>
                    <Literal>{excerpt}</Literal>
                  </span>
                ),
              },
            ]}
          />
        )}
        {redacted !== undefined && (
          <div>
            <h3>{t.playground.redacted}</h3>
            <div className={styles['text']}>
              <Literal lines>{redacted}</Literal>
            </div>
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
