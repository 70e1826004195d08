import { randomUUID } from 'node:crypto'
import pg from 'pg'

const CONNECTIONS = 4
const TIMEOUT_MS = 5_000

/**
 * Checks that a PostgreSQL session outlives a statement. Returns false behind a pooler in
 * transaction mode (PgBouncer `pool_mode=transaction`, the pooled ports of Neon and Supabase),
 * which gives every transaction another session, so session settings, `LISTEN` and session locks do
 * not work. Rejects if the database is unavailable.
 */
export async function hasPersistentSessions(url: string): Promise<boolean> {
  const clients = Array.from({ length: CONNECTIONS }, () => clientOf(url))
  try {
    await Promise.all(clients.map(({ client }) => client.connect()))
    for (const { client, mark } of clients)
      await client.query("select set_config('remit.session', $1, false)", [mark])
    // In reverse order: a pooler that hands out sessions in turn would otherwise give each client
    // its own.
    for (const { client, mark } of clients.toReversed()) {
      const { rows } = await client.query<{ mark: string | null }>(
        "select current_setting('remit.session', true) as mark",
      )
      if (rows[0]?.mark !== mark) return false
    }
    return true
  } finally {
    await Promise.allSettled(clients.map(({ client }) => client.end()))
  }
}

function clientOf(url: string) {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'remit-probe',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  })
  // Without a listener, a connection error between two queries would end the process.
  client.on('error', () => undefined)
  return { client, mark: randomUUID() }
}
