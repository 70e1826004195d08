import { CompiledQuery } from 'kysely'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * A PostgreSQL expression that is never null. From its evaluation until the end of the transaction
 * or session, commits are durable and waits are limited. Only `remote_apply` is stricter than
 * `on`, and is kept.
 */
export function transactionSettings(until: 'transaction' | 'session'): string {
  const isLocal = until === 'transaction'
  const set = (name: string, value: string) => `set_config('${name}', ${value}, ${isLocal})`
  return [
    set(
      'synchronous_commit',
      `case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end`,
    ),
    set('lock_timeout', "'4s'"),
    set('statement_timeout', "'9s'"),
    set('idle_in_transaction_session_timeout', "'10s'"),
  ].join(' || ')
}

const SETTINGS = `select ${transactionSettings('transaction')}`

/**
 * Makes the commit of this transaction durable, regardless of the session: a pooler in transaction
 * mode gives every transaction another session. `lockHead` does it too.
 */
export async function makeDurable(tx: AnyDatabase): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.executeQuery(CompiledQuery.raw(SETTINGS))
}
