import type { McpToolDefinition, McpToolVerdict } from '@remit/contract'
import type { McpToolRow } from '../tables/mcp-tools.ts'
import { digestOf } from './definition.ts'

/** A reported definition with the reasons of the guard. */
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
export interface Noted {
  readonly row: McpToolRow
  readonly event: 'mcp.tool_seen' | 'mcp.tool_changed' | null
}

/** Notes a reported tool. A changed definition is never admitted by a report. Pure. */
export function note(
  known: McpToolRow | undefined,
  { definition, findings, verdict, isBlocked }: Reported,
  { orgId, upstream, admitsNew, now, nextId }: ReportContext,
): Noted {
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
