import type { GuardSource } from '@remit/contract'
import type { Detection } from './detection.ts'
import { normalize } from './normalize.ts'
import type { Hit, SignatureIndex } from './signature.ts'
import { findHits, indexSignatures } from './signature.ts'
import { signatureIndex, signatures } from './signatures.ts'
import { onTop, originalSpan } from './view.ts'
import type { View } from './view.ts'

// A model that quotes an attack is not attacking; one that builds a leaking link is.
const onOutput = indexSignatures(
  signatures.filter(({ category }) => category === 'data_exfiltration'),
)

// Hidden text is bad enough; hidden text that gives orders is beyond doubt.
const HIDDEN_ORDER = 0.95
const MAX_DECODED = 500

/** What the signatures find in a text's views. */
export function findInjections(
  views: { readonly normalized: View; readonly hidden: View | null },
  reading: { readonly source: GuardSource; readonly direction: 'input' | 'output' },
): Detection[] {
  const index: SignatureIndex = reading.direction === 'output' ? onOutput : signatureIndex
  const visible = findHits(views.normalized.text, index, reading.source).map((hit) =>
    toDetection(hit, views.normalized, 'normalized'),
  )
  if (!views.hidden) return visible
  const hidden = onTop(normalize(views.hidden.text).view, views.hidden)
  // Nobody hides a text for the user to read: it is read as strictly as a document.
  const orders = findHits(hidden.text, index, 'document').map((hit) => ({
    ...toDetection(hit, hidden, 'hidden'),
    severity: 'critical' as const,
    risk: Math.max(hit.signature.weight, HIDDEN_ORDER),
    decoded: hidden.text.slice(hit.start, hit.end).slice(0, MAX_DECODED),
  }))
  return [...visible, ...orders]
}

function toDetection({ signature, start, end }: Hit, view: View, name: View['name']): Detection {
  const [originalStart, originalEnd] = originalSpan(view, start, end)
  const { id, category, weight } = signature
  return {
    detector: id,
    category,
    severity: weight >= 0.8 ? 'high' : 'medium',
    start: originalStart,
    end: originalEnd,
    view: name,
    reason: `injection:${category}`,
    risk: weight,
  }
}
