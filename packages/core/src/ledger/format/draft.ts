import type { Actor } from '@remit/contract'

export type { EntryData, EntryDraft, EntryKind } from '@remit/contract/entries'

/** An entry of any kind to append: everything except its position in the chain. */
export interface Draft {
  readonly kind: string
  readonly actor: Actor
  readonly agent_id?: string | null
  readonly action?: string | null
  readonly resource?: string | null
  readonly decision?: string | null
  readonly reason?: string | null
  readonly data: Readonly<Record<string, unknown>>
}
