import { setTimeout } from 'node:timers/promises'
import { generateLedgerKey } from '@remit/core/ledger/proofs'
import { PostgresNode, startMovingAddress } from '@remit/testing'
import { median } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { ASK } from './requests.ts'
import { post, startServer } from './servers.ts'
import type { BenchServer } from './servers.ts'

const NAME = 'standby'

/**
 * Milliseconds from the SIGKILL of a primary to the next decision, when its synchronous standby is
 * promoted at once: without the time that a cluster manager takes to notice the loss.
 */
export async function failoverSuite(rounds: number): Promise<Result[]> {
  let primary = await PostgresNode.create({ wal_keep_size: '256MB' })
  const address = await startMovingAddress(primary.url)
  const signingKey = generateLedgerKey()
  const server = await startServer({ kind: 'remit', databaseUrl: address.url, signingKey })
  const promotions: number[] = []
  const decisions: number[] = []
  for (let round = 0; round < rounds; round++) {
    const standby = await synchronousStandby(primary)
    await untilDecided(server)
    const began = performance.now()
    await primary.kill()
    await standby.run('select pg_promote()')
    promotions.push(performance.now() - began)
    address.moveTo(standby.url)
    await untilDecided(server)
    decisions.push(performance.now() - began)
    await primary.remove()
    // Its own standby follows in the next round.
    await standby.run('alter system reset synchronous_standby_names')
    await standby.run('select pg_reload_conf()')
    primary = standby
  }
  await server.stop()
  await address.close()
  await primary.remove()
  return [
    {
      name: 'SIGKILL of the primary to the next decision',
      value: median(decisions),
      unit: ' ms',
      goal: null,
      detail: `${Math.min(...decisions).toFixed(0)} to ${Math.max(...decisions).toFixed(0)} ms, of which the promotion takes ${median(promotions).toFixed(0)} ms`,
    },
  ]
}

async function synchronousStandby(primary: PostgresNode): Promise<PostgresNode> {
  const standby = await primary.standby(NAME)
  await primary.run(`alter system set synchronous_standby_names = '${NAME}'`)
  await primary.run('select pg_reload_conf()')
  while ((await primary.ask('select sync_state from pg_stat_replication')) !== 'sync')
    await setTimeout(50)
  return standby
}

async function untilDecided(server: BenchServer): Promise<void> {
  for (;;) {
    const response = await post(server, '/v1/authorize', ASK)
    await response.arrayBuffer()
    if (response.ok) return
    await setTimeout(10)
  }
}
