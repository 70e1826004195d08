import type { McpTool } from '@remit/contract'
import { parseJson } from '@remit/contract/fit'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { spellOut } from '../../format/literal.ts'
import { t } from '../../texts.ts'
import { ActionDialog, ConfirmDelete } from '../../ui/action.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Card, Facts, Page, Row, Stack } from '../../ui/layout.tsx'
import { Code, CurlButton, Loaded, Missing, Note } from '../../ui/states.tsx'
import { TextDiff } from '../../ui/text-diff.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { ToolState, readTools } from './list.tsx'

/** One tool with everything that an admission depends on. */
export function McpToolPage() {
  const { id } = useParams({ from: '/mcp-tools/$id' })
  // The API gives a tool as part of the list.
  const query = useQuery({
    queryKey: ['mcp-tools', 'tool', id],
    queryFn: async ({ signal }): Promise<McpTool | null> => {
      for (let cursor: string | undefined; ;) {
        const page = await readTools(cursor, signal)
        const found = page.data.find((tool) => tool.id === id)
        if (found) return found
        if (page.next_cursor === null) return null
        cursor = page.next_cursor
      }
    },
  })
  const name = query.data?.name ?? id
  return (
    <Page title={<Literal>{name}</Literal>} actions={<CurlButton request="/v1/mcp/tools" />}>
      <Loaded query={query}>
        {(tool) => (tool ? <Tool tool={tool} /> : <Missing title={t.mcpTools.missing} />)}
      </Loaded>
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
              [t.mcpTools.server, upstream],
              [t.mcpTools.state, <ToolState key="state" state={state} />],
              [t.mcpTools.digest, <Id key="digest">{digest}</Id>],
              [t.mcpTools.admittedDigest, previous_digest && <Id>{previous_digest}</Id>],
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

/** The marked texts, without those that a longer one contains; a text with a score stands for itself. */
const markedOf = (verdict: McpTool['verdict']) =>
  (verdict?.marked ?? []).filter(
    ({ text, score }, _, all) =>
      score !== null ||
      !all.some((one) => one.score === null && one.text !== text && one.text.includes(text)),
  )

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
      {markedOf(verdict).map(({ text, score }) => (
        <blockquote key={text} className={ui['marked']}>
          <Literal as="mark" lines>
            {text}
          </Literal>
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
      <Literal as="h3">{label}</Literal>
      <TextDiff label={spellOut(label)} before={indented(before)} after={indented(after)} />
    </div>
  )
}

/** A text for reading, of JSON; JSON of a text is the text, and what is no JSON stays. */
function indented(json: string | null): string {
  const value = parseJson(json ?? '')
  if (value === undefined) return json ?? ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

const pathOf = (id: string, verb: 'admit' | 'review' | 'withdraw'): string =>
  `/v1/mcp/tools/${encodeURIComponent(id)}/${verb}`

/** Admits exactly the definition that the page shows. */
function AdmitTool({ tool }: { tool: McpTool }) {
  const { id, digest, state, findings, declared_mapping: declared } = tool
  const [isOpen, setOpen] = useState(false)
  const [isPinned, setPinned] = useState(tool.mapping === 'declared')
  const can = useCan()
  // The page may show another definition meanwhile, which declares none.
  const mapping = isPinned && declared !== null ? 'declared' : 'default'
  const body = { digest, mapping } as const
  const admit = useMutation({
    mutationFn: () => remit.admitMcpTool({ params: { id }, body }),
    onSuccess: () => {
      announce(t.mcpTools.admitted)
      setOpen(false)
    },
    // After a refusal, too: the definition may have changed meanwhile.
    onSettled: () => refresh('mcp-tools'),
  })
  const isAdmitted = state === 'admitted'
  if ((isAdmitted && declared === null) || !can('POST /v1/mcp/tools/{id}/admit')) return null
  return (
    <>
      <Button tone={isAdmitted ? undefined : 'primary'} onClick={() => setOpen(true)}>
        {isAdmitted ? t.mcpTools.changeMapping : t.mcpTools.admit}
      </Button>
      <ActionDialog
        isOpen={isOpen}
        title={t.mcpTools.admitTitle}
        onClose={() => setOpen(false)}
        request={() => ({ method: 'POST', path: pathOf(id, 'admit'), body })}
        verb={t.mcpTools.admit}
        action={admit}
      >
        <p>{t.mcpTools.admitText}</p>
        {findings.length > 0 && <Note tone="deny">{t.mcpTools.admitFlagged}</Note>}
        {declared !== null && (
          <Checkbox
            label={t.mcpTools.pinMapping}
            hint={t.mcpTools.pinMappingText}
            isOn={isPinned}
            onToggle={setPinned}
          />
        )}
      </ActionDialog>
    </>
  )
}

/** Records that the findings are harmless; it admits nothing. */
function ReviewTool({ tool: { id, digest, findings, review } }: { tool: McpTool }) {
  const can = useCan()
  if (findings.length === 0 || review || !can('POST /v1/mcp/tools/{id}/review')) return null
  return (
    <ConfirmDelete
      tone={undefined}
      title={t.mcpTools.reviewTitle}
      text={t.mcpTools.reviewText}
      verb={t.mcpTools.review}
      done={t.mcpTools.reviewed}
      request={() => ({ method: 'POST', path: pathOf(id, 'review'), body: { digest } })}
      onDelete={() => remit.reviewMcpTool({ params: { id }, body: { digest } })}
      onDeleted={() => refresh('mcp-tools')}
    />
  )
}

function WithdrawTool({ tool: { id, state } }: { tool: McpTool }) {
  const can = useCan()
  if (state === 'withdrawn' || !can('POST /v1/mcp/tools/{id}/withdraw')) return null
  return (
    <ConfirmDelete
      title={t.mcpTools.withdrawTitle}
      text={t.mcpTools.withdrawText}
      verb={t.mcpTools.withdraw}
      done={t.mcpTools.withdrawn}
      request={() => ({ method: 'POST', path: pathOf(id, 'withdraw') })}
      onDelete={() => remit.withdrawMcpTool({ params: { id } })}
      onDeleted={() => refresh('mcp-tools')}
    />
  )
}
