import { isUsd, toMicroUsd } from '@remit/contract'

/** What a request asks to spend: micro-USD, nothing named, or something that is no amount. */
export type Amount = { readonly micro: number } | 'missing' | 'invalid'

/**
 * Reads `context.amount_usd`, else `context.amount`; any `context.currency` must be USD. Two amounts
 * that differ are invalid: the tool could spend the one that was not counted.
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
