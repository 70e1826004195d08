import { isUsd, toMicroUsd } from '@remit/contract/values'

/** The requested amount: micro-USD, none, or invalid. */
export type Amount = { readonly micro: number } | 'missing' | 'invalid'

/**
 * Reads `context.amount_usd`, else `context.amount`; a `context.currency` must be USD. Two
 * different amounts are invalid: the tool could spend the other one.
 */
export function amountOf(context: Readonly<Record<string, unknown>> | undefined): Amount {
  if (context === undefined) return 'missing'
  const amount = own(context, 'amount')
  const value = own(context, 'amount_usd') ?? amount
  if (value === undefined || value === null) return 'missing'
  const currency = own(context, 'currency') ?? 'USD'
  if (currency !== 'USD' || (amount ?? value) !== value) return 'invalid'
  if (typeof value !== 'number' || !isUsd(value)) return 'invalid'
  return { micro: toMicroUsd(value) }
}

const own = (record: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined
