import type { FlipKind } from '@remit/contract'

/** Every kind of flip, in the order of their weight. */
export const FLIP_KINDS: readonly FlipKind[] = [
  'allow_to_deny',
  'needs_approval_to_deny',
  'deny_to_allow',
  'deny_to_needs_approval',
]
