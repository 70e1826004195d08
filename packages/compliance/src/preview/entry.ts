import type { PolicyOverlay } from '@remit/contract'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { recordedOverlay } from './overlay.ts'

/**
 * The entry of a dry-run or a replay: one per call. It has no agent, action or decision, so that it
 * cannot be mistaken for a decision.
 */
export const dryRunEntry = (
  caller: Caller | null,
  overlay: PolicyOverlay | undefined,
  data: Readonly<Record<string, unknown>> & { readonly method: 'dry_run' | 'replay' },
): EntryDraft => ({
  kind: 'policy.dry_run',
  actor: actorOf(caller),
  data: { ...data, ...(overlay && { overlay: recordedOverlay(overlay) }), ...personOf(caller) },
})
