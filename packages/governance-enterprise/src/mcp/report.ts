import { setImmediate } from 'node:timers/promises'
import type { McpToolDefinition, McpToolVerdict, GuardAnswer } from '@remit/contract'
import { checkAnywhere } from '@remit/core/guard'
import type { Deps } from '@remit/core/module'
import { sliced } from '@remit/core/threads'
import type { Pacing } from '@remit/core/threads'
import type { McpToolRow } from '../tables/mcp-tools.ts'
import { digestOf, textsOf } from './definition.ts'

export interface Reported {
  readonly definition: McpToolDefinition
  readonly findings: readonly string[]
  /** The score, and the texts that the guard marks. */
  readonly verdict: McpToolVerdict
  readonly isBlocked: boolean
}

export interface ReportContext {
  readonly orgId: string
  readonly upstream: string
  /** The server has no tools yet, and the gateway trusts its first ones. */
  readonly admitsNew: boolean
  readonly now: string
  readonly nextId: () => string
}

/** The row of a tool after a report; `event` is null if nothing changed. */
export interface ToolReportResult {
  readonly row: McpToolRow
  readonly event: 'mcp.tool_seen' | 'mcp.tool_changed' | null
}

/** Notes a reported tool. A changed definition is never admitted by a report. Pure. */
export function note(
  known: McpToolRow | undefined,
  { definition, findings, verdict, isBlocked }: Reported,
  { orgId, upstream, admitsNew, now, nextId }: ReportContext,
): ToolReportResult {
  const digest = digestOf(definition)
  const seen = {
    digest,
    definition: JSON.stringify(definition),
    findings: JSON.stringify({ reasons: findings, ...verdict }),
  }
  if (!known)
    return {
      event: 'mcp.tool_seen',
      row: {
        org_id: orgId,
        id: nextId(),
        upstream,
        name: definition.name,
        ...seen,
        state: admitsNew && !isBlocked ? 'admitted' : 'seen',
        previous_digest: null,
        previous: null,
        mapping_digest: null,
        reviewed_digest: null,
        reviewed_by: null,
        reviewed_at: null,
        first_seen_at: now,
        changed_at: now,
      },
    }
  if (known.digest === digest) return { event: null, row: known }
  // The definition that was admitted last is kept through any number of changes.
  const wasAdmitted = known.state === 'admitted'
  const admitted = wasAdmitted
    ? { previous_digest: known.digest, previous: known.definition }
    : { previous_digest: known.previous_digest, previous: known.previous }
  const isBack = known.state === 'changed' && admitted.previous_digest === digest
  return {
    event: 'mcp.tool_changed',
    row: {
      ...known,
      ...seen,
      ...(isBack ? { previous_digest: null, previous: null } : admitted),
      state: stateAfter(known.state, isBack),
      changed_at: now,
    },
  }
}

function stateAfter(state: McpToolRow['state'], isBack: boolean): McpToolRow['state'] {
  if (isBack) return 'admitted'
  return state === 'admitted' ? 'changed' : state
}

/** Honest descriptions reach 0.95, such as one of a tool that overwrites files without warning. */
const QUARANTINE_SCORE = 0.99

/** Marked texts of a definition, for a page: the rest is in the definition. */
const MOST_MARKED = 10
const LONGEST_MARKED = 500

/** The characters of names by the specification of MCP; others can make a name look like another. */
const USUAL_NAME = /^[A-Za-z0-9_./-]+$/
const UNUSUAL = 'name:unusual_characters'

const PACING: Pacing = { now: () => performance.now(), pause: () => setImmediate() }

/**
 * Checks descriptions: texts of somebody else that a model obeys. Long ones are checked in a worker, and
 * other requests run between short ones.
 */
export async function checked(
  tools: readonly McpToolDefinition[],
  computer: Deps['computer'],
  orgId: string,
  pacing = PACING,
): Promise<Reported[]> {
  const rest = sliced(pacing)
  const reported: Reported[] = []
  for (const definition of tools) {
    const content = textsOf(definition)
    const request = {
      content,
      source: 'tool',
      direction: 'input',
      sensitivity: 'balanced',
      explain: true,
    } as const
    const { action, score, reasons, findings, parts, threshold } = await checkAnywhere(
      { request, opinions: undefined },
      computer,
      orgId,
    )
    const isUsual = USUAL_NAME.test(definition.name)
    reported.push({
      definition,
      findings: [...(isUsual ? [] : [UNUSUAL]), ...(action === 'allow' ? [] : reasons)],
      verdict: {
        score,
        marked: action === 'allow' ? [] : markedOf(content, parts, threshold, findings),
      },
      isBlocked: !isUsual || score >= QUARANTINE_SCORE,
    })
    await rest()
  }
  return reported
}

type Marked = McpToolVerdict['marked']

/** The parts of a text that score, and what detectors found, each text once. Pure. */
function markedOf(
  content: string,
  parts: GuardAnswer['parts'] = [],
  threshold: number,
  findings: GuardAnswer['findings'],
): Marked {
  const marked = new Map<string, number | null>()
  for (const { excerpt } of findings) marked.set(short(excerpt), null)
  for (const { start, end, score } of parts)
    if (score >= threshold) marked.set(short(content.slice(start, end)), score)
  return [...marked].slice(0, MOST_MARKED).map(([text, score]) => ({ text, score }))
}

const short = (text: string): string => text.trim().slice(0, LONGEST_MARKED).toWellFormed()
