import type { Delivery } from '@remit/contract'
import type { DeliveryRow } from '../tables/webhooks.ts'
import type { Attempted } from './attempt.ts'

/** Attempts that are kept: as many as there are in 24 hours, and some repeats. */
const KEPT = 20

type Attempts = Delivery['attempts']

export const attemptsOf = ({ history }: Pick<DeliveryRow, 'history'>): Attempts =>
  history === null ? [] : (JSON.parse(history) as Attempts)

/** Returns the history of a delivery after an attempt. */
export function withAttempt(row: DeliveryRow, { status, error }: Attempted, ms: number): string {
  const attempt = {
    at: row.attempted_at ?? row.created_at,
    status,
    error,
    duration_ms: Math.round(ms),
  }
  return JSON.stringify([...attemptsOf(row), attempt].slice(-KEPT))
}
