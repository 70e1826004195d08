import type { Actor } from '@remit/contract'

/** An entry to append: everything except its position in the chain. */
export interface EntryDraft {
  readonly kind: string
  readonly actor: Actor
  readonly agent_id?: string | null
  readonly action?: string | null
  readonly resource?: string | null
  readonly decision?: string | null
  readonly reason?: string | null
  readonly data: Readonly<Record<string, unknown>>
}
