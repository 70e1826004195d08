import type { AgentMode } from '@remit/contract'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { EntryDraft, WriteContext } from '@remit/core/ledger/lanes'
import { findMode, putMode } from './modes-store.ts'

/** Sets the mode of an agent; returns its entry. */
export async function setMode(
  { tx, orgId, recordedAt, configVersion }: WriteContext,
  caller: Caller | null,
  agentId: string,
  mode: AgentMode,
): Promise<EntryDraft> {
  const actor = actorOf(caller)
  await putMode(tx, {
    org_id: orgId,
    agent_id: agentId,
    mode,
    changed_at: recordedAt,
    changed_by: actor.id,
    revision: configVersion,
  })
  const data = { agent_id: agentId, mode, ...personOf(caller) }
  return { kind: 'agent_mode.set', actor, agent_id: agentId, data }
}

/** Sets the mode `granted` with the first grant of an agent; later revocations keep it. */
export async function ensureGrantedMode(
  scope: WriteContext,
  caller: Caller | null,
  agentId: string,
): Promise<EntryDraft[]> {
  const before = await findMode(scope.tx, scope.orgId, agentId)
  return before?.mode === 'granted' ? [] : [await setMode(scope, caller, agentId, 'granted')]
}
