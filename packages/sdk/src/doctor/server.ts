import { createClient, RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { SELF_TEST_ACTIONS } from '../mapping.ts'
import { CannotRun } from './cannot-run.ts'

/** A client of a server that answers self-tests. Throws `CannotRun` with the reason where none does. */
export async function reachServer(
  url: string,
  key: string,
  agentId: string | undefined,
): Promise<Client> {
  const client = clientOf(url, key)
  const action = `${SELF_TEST_ACTIONS}deny`
  const body = { action, ...(agentId !== undefined && { agent_id: agentId }) }
  try {
    const { decision, reason } = await client.authorize({ body, timeoutMs: 10_000 })
    if (decision !== 'deny' || reason !== 'self_test')
      throw new CannotRun(`the server at ${url} knows no self-tests; it needs Remit 0.1 or newer`)
    return client
  } catch (error) {
    throw error instanceof RemitError ? new CannotRun(explained(url, error)) : error
  }
}

function clientOf(url: string, key: string): Client {
  try {
    return createClient({ baseUrl: url, key })
  } catch (error) {
    throw new CannotRun(`--url: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function explained(url: string, { code, status, problem, message }: RemitError): string {
  const reason = problem?.detail ?? message
  if (status === 0) return `no server answers at ${url} (${code}); set --url or REMIT_URL`
  if (status === 401) return `the server at ${url} refuses the key in REMIT_KEY: ${reason}`
  if (status === 404)
    return `the server at ${url} has no decisions: it is no Remit, or the community edition`
  return `the server at ${url} refuses the self-test: ${reason}`
}
