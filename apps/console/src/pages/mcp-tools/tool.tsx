import type { McpTool } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { spellOut } from '../../format/literal.ts'
import { t } from '../../texts.ts'
import { Card, Facts, Page, Row, Stack } from '../../ui/layout.tsx'
import { Code, CurlButton, Loaded, Missing, Note, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { AdmitTool, ReviewTool, WithdrawTool } from './decide.tsx'
import { toolQuery } from './queries.ts'
import { ToolState } from './state.tsx'

// The editor is loaded where a difference is shown.
const TextDiff = lazy(async () => ({
  default: (await import('../../editor/text-diff.tsx')).TextDiff,
}))

/** One tool with everything that an admission depends on. */
export function McpToolPage() {
  const { id } = useParams({ from: '/mcp-tools/$id' })
  const query = useQuery(toolQuery(id))
  const name = query.data?.name ?? id
  return (
    <Page
      title={<Literal>{name}</Literal>}
      actions={<CurlButton request={() => ({ method: 'GET', path: '/v1/mcp/tools' })} />}
    >
      <Loaded query={query}>{(tool) => (tool ? <Tool tool={tool} /> : <Missing />)}</Loaded>
    </Page>
  )
}

function Tool({ tool }: { tool: McpTool }) {
  const { upstream, state, digest, previous_digest, mapping, first_seen_at, changed_at } = tool
  return (
    <Stack>
      <Card title={t.mcpTools.tool}>
        <Stack>
          <Facts
            rows={[
              [t.mcpTools.server, <Literal key="server">{upstream}</Literal>],
              [t.mcpTools.state, <ToolState key="state" state={state} />],
              [t.mcpTools.digest, <Id key="digest">{digest}</Id>],
              [
                t.mcpTools.admittedDigest,
                previous_digest === null ? null : <Id key="previous">{previous_digest}</Id>,
              ],
              [t.mcpTools.mapping, t.mcpTools.mappings[mapping]],
              [t.mcpTools.firstSeen, <Time key="seen" at={first_seen_at} />],
              [t.mcpTools.changed, <Time key="changed" at={changed_at} />],
            ]}
          />
          <Findings tool={tool} />
          <Row>
            <AdmitTool key={tool.id} tool={tool} />
            <ReviewTool tool={tool} />
            <WithdrawTool tool={tool} />
          </Row>
        </Stack>
      </Card>
      {tool.changes.length > 0 && (
        <Card title={t.mcpTools.difference}>
          <Stack>
            {tool.changes.map((change) => (
              <Change key={change.member} {...change} />
            ))}
          </Stack>
        </Card>
      )}
      {tool.declared_mapping !== null && (
        <Card title={t.mcpTools.declaredMapping}>
          <Stack>
            <p>{t.mcpTools.declaredMappingText}</p>
            <Code label={t.mcpTools.declaredMapping}>
              {JSON.stringify(tool.declared_mapping, null, 2)}
            </Code>
          </Stack>
        </Card>
      )}
      <Card title={t.mcpTools.definition}>
        <Code label={t.mcpTools.definition}>{JSON.stringify(tool.definition, null, 2)}</Code>
      </Card>
    </Stack>
  )
}

/** The findings of the guard with score and marked texts; without the alarm after a review. */
function Findings({ tool: { findings, verdict, review } }: { tool: McpTool }) {
  if (findings.length === 0) return <Note tone="info">{t.mcpTools.noFindings}</Note>
  return (
    <Stack>
      <Note tone={review ? 'info' : 'deny'}>
        <span>
          {t.mcpTools.findings}: <Literal>{findings.join(', ')}</Literal>
          {verdict && ` · ${t.mcpTools.score(verdict.score.toFixed(2))}`}
        </span>
        {review && (
          <span>
            {t.mcpTools.reviewedBy} <Id>{review.by}</Id> <Time at={review.at} as="full" />
          </span>
        )}
      </Note>
      {verdict?.marked.map(({ text, score }) => (
        <blockquote key={text} className={ui['marked']}>
          <mark>
            <Literal lines>{text}</Literal>
          </mark>
          {score !== null && <small>{t.mcpTools.score(score.toFixed(2))}</small>}
        </blockquote>
      ))}
    </Stack>
  )
}

function Change({ member, before, after }: McpTool['changes'][number]) {
  const label = t.mcpTools.differenceOf(member)
  return (
    <div>
      <h3>
        <Literal>{label}</Literal>
      </h3>
      <Suspense fallback={<Skeleton />}>
        <TextDiff label={spellOut(label)} before={indented(before)} after={indented(after)} />
      </Suspense>
    </div>
  )
}

function indented(json: string | null): string {
  if (json === null) return ''
  try {
    const value = JSON.parse(json) as unknown
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  } catch {
    return json
  }
}
