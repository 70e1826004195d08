import type { GuardSource } from '@remit/contract'
import type { CategoryId } from '../categories.ts'
import type { Hit } from '../signature.ts'
import type { View } from '../view.ts'
import type { Judgement } from './model.ts'

const INSTRUCTED = ['instruction', 'prior', 'restraint']

/**
 * Returns the category of a stretch: that of its heaviest signature, or else by its concepts. The
 * model itself only distinguishes attack and harmless.
 */
export function categoryOfJudgement(
  { head, start, end, concepts }: Judgement,
  view: View,
  hits: readonly Hit[],
  source: GuardSource,
): CategoryId {
  const inside = hits.filter((hit) => hit.start < end && hit.end > start)
  const [heaviest] = inside.toSorted((a, b) => b.signature.weight - a.signature.weight)
  if (heaviest) return heaviest.signature.category
  if (view.name === 'hidden') return 'hidden_text'
  if (head === 'embedded') return 'embedded_instruction'
  const has = (...names: string[]) => names.some((name) => concepts.has(name))
  if (has('cast-aside', 'undo') && has(...INSTRUCTED)) return 'instruction_override'
  if (has('reveal') && has('secret', 'system', 'instruction')) return 'prompt_leak'
  if (has('unbound', 'role', 'mode') && has('model', 'you')) return 'jailbreak'
  if (source === 'document' || source === 'tool') return 'indirect_injection'
  if (has('send') && has('data', 'secret', 'file', 'money')) return 'data_exfiltration'
  return has('story', 'harm', 'refusal') ? 'jailbreak' : 'instruction_override'
}
