import type { ClientBase } from 'pg'
import { MARK } from './distributed.ts'
import { transactionSettings } from './transaction-settings.ts'

/** SQLSTATE `read_only_sql_transaction`. */
export const READ_ONLY = '25006'

/** The server is a standby, or its default is read-only. Unavailable, as for a rejected write. */
class ReadOnlyServer extends Error {
  readonly code = READ_ONLY
  constructor() {
    super('PostgreSQL is read-only: the address leads to a standby or to a primary that was fenced')
  }
}

/**
 * Citus (to 13.2 at least) plans the statement for a shard again for each execution of a generic plan, and
 * keeps every one of these plans in memory until the connection ends.
 */
const CUSTOM_PLANS = "set_config('plan_cache_mode', 'force_custom_plan', false)"

/**
 * Sets the limits of a new session, and refuses a server that is read-only, as after a failover that
 * is not complete: a standby may lag, so a revoked key would still be valid there. Returns true if the
 * tables are distributed.
 */
export async function prepareSession(
  client: ClientBase,
  { mayBeReadOnly, usesShards }: { readonly mayBeReadOnly: boolean; readonly usesShards: boolean },
): Promise<boolean> {
  const { rows } = await client.query<{ is_read_only: boolean; is_distributed: boolean }>(
    `select ${transactionSettings('session')},
      current_setting('transaction_read_only') = 'on' as is_read_only,
      to_regclass('${MARK}') is not null as is_distributed,
      case when to_regclass('${MARK}') is not null and not ${usesShards} then ${CUSTOM_PLANS} end`,
  )
  if (rows[0]?.is_read_only && !mayBeReadOnly) throw new ReadOnlyServer()
  return rows[0]?.is_distributed === true
}
