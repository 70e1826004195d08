import type { PolicyOverlay } from '@remit/contract'
import { actorOf, personOf } from '@remit/core'
import type { Caller, EntryDraft } from '@remit/core'
import { recordedOverlay } from './overlay.ts'

/**
 * The entry of a dry-run or a replay. It has neither agent nor action nor decision, so that nothing can
 * take it for a decision. One a call, however many requests it was about.
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
