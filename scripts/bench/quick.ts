import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { startServer, load } from './servers.ts'
const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const url = process.env.PGURL ?? 'sqlite:' + mkdtempSync('/tmp/bench-') + '/r.db'
const echo = await startServer({ kind: 'echo' })
const remit = await startServer({ kind: 'remit', databaseUrl: url, signingKey: key })
const h = { 'content-type': 'application/json', authorization: 'Bearer ' + remit.organization.key }
await fetch(remit.url + '/v1/spend-limits/payer', { method: 'POST', headers: h, body: JSON.stringify({ daily_usd: 1e9 }) })
const ask = { agent_id: 'payer', action: 'payments.transfer', resource: 'account:DE12', context: { amount_usd: 0.01, vendor: 'Müller GmbH', invoice: 'INV-2026-001', lines: [{ sku: 'a', qty: 2 }, { sku: 'b', qty: 1 }], note: 'monthly' } }
const entry = { action: 'payments.transfer', agent_id: 'payer', resource: 'account:DE12', trace_id: 'trace-1', metadata: ask.context, outcome: 'done' }
const seconds = Number(process.env.S ?? 3)
for (let i = 0; i < Number(process.env.N ?? 2); i++) {
  const e = await load(echo, { path: '/echo', body: ask, connections: 64, seconds })
  const a = await load(remit, { path: '/v1/authorize', body: ask, connections: 64, seconds })
  const l = await load(remit, { path: '/v1/ledger', body: entry, connections: 64, seconds })
  const f = (r: typeof e) => `${Math.round(r.perSecond)}/s ${Math.round(r.perCpuSecond)}/cpu-s p50 ${r.p50Ms} p99 ${r.p99Ms} ratio ${(r.perCpuSecond / e.perCpuSecond).toFixed(3)}`
  console.log('echo', f(e)); console.log('auth', f(a)); console.log('ledg', f(l))
}
await echo.stop(); await remit.stop()
