import type { Validation } from '@remit/contract'

interface Conditioned {
  readonly condition?: string | null | undefined
}

/**
 * Adds the errors of the condition to those of the shape: the server compiles a condition only in a body
 * whose shape is right, so it is asked again without the members that are wrong.
 */
export async function withCondition<T extends Conditioned>(
  input: T,
  ask: (input: T) => Promise<Validation>,
): Promise<Validation> {
  const first = await ask(input)
  const faulty = new Set(first.errors.map(({ path }) => path.split('.')[0]))
  if (first.valid || !input.condition || faulty.has('condition')) return first
  const rest = Object.entries(input).filter(([name]) => !faulty.has(name))
  const { errors } = await ask(Object.fromEntries(rest) as T)
  return {
    ...first,
    errors: [...first.errors, ...errors.filter(({ path }) => path === 'condition')],
  }
}
