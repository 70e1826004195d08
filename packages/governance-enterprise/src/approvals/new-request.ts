import { isoTime } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import type { Ask } from '@remit/core/decision'
import type { Binding } from './binding.ts'
import { endOf } from './lifecycle.ts'
import type { CompiledApprovalRule } from './rule.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'

/** The requirements of a request. */
export interface RequiredApproval {
  readonly rules: readonly CompiledApprovalRule[]
  /** Bound context members; null means all. */
  readonly bound: readonly string[] | null
  readonly binding: Binding
}

/** The shortest times of all rules apply, and the longest cooldown after a rejection. */
export function newRow(ask: Ask, { rules, bound, binding }: RequiredApproval): ApprovalRequestRow {
  const { request, caller, claims, now } = ask
  const { resource, context = {} } = request
  const ttl = Math.min(...rules.map((rule) => rule.requestTtlSeconds))
  const expiresAt = endOf(now, ttl) ?? isoTime(now)
  return {
    org_id: ask.orgId,
    id: `apr_${ask.decisionId.slice('dec_'.length)}`,
    status: 'pending',
    agent_id: request.agent_id,
    action: request.action,
    resource: resource === undefined || resource === '' ? null : JSON.stringify(resource),
    context: JSON.stringify(context),
    acting_for: actingFor(claims.subject, request.agent_id),
    binding: binding.text,
    binding_hash: binding.hash,
    bound: bound && JSON.stringify(bound),
    requirements: JSON.stringify(rules.map((rule) => rule.requirement)),
    votes: '[]',
    approval_ttl_seconds: Math.min(...rules.map((rule) => rule.approvalTtlSeconds)),
    cooldown_seconds: Math.max(...rules.map((rule) => rule.cooldownSeconds)),
    requester_type: actorOf(caller).type,
    requester_id: actorOf(caller).id,
    requester_person: caller?.principal.person ?? null,
    further_askers: '[]',
    decision_id: ask.decisionId,
    consumed_by: null,
    requested_at: isoTime(now),
    expires_at: expiresAt,
    decided_at: null,
    usable_until: null,
    closed_at: null,
    counts_until: expiresAt,
  }
}

function actingFor(
  subject: Readonly<Record<string, unknown>> | undefined,
  agentId: string,
): string | null {
  const id = subject?.['id']
  return typeof id === 'string' && id !== agentId ? id : null
}
