import { isUsd, toMicroUsd } from '@remit/contract'

/** What a request asks to spend: micro-USD, nothing named, or something that is no amount. */
export type Amount = { readonly micro: number } | 'missing' | 'invalid'

/** Reads `context.amount_usd`, else `context.amount`; any `context.currency` must be USD. */
export function amountOf(context: Readonly<Record<string, unknown>> | undefined): Amount {
  if (context === undefined) return 'missing'
  const value = own(context, 'amount_usd') ?? own(context, 'amount')
  if (value === undefined || value === null) return 'missing'
  const currency = own(context, 'currency')
  if (currency !== undefined && currency !== null && currency !== 'USD') return 'invalid'
  if (typeof value !== 'number' || !isUsd(value)) return 'invalid'
  return { micro: toMicroUsd(value) }
}

const own = (record: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined
