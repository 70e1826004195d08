/**
 * One server of the benchmark in its own process: `echo`, the baseline, or `remit`, the product.
 * The parent asks for its CPU time and memory over IPC.
 */
import { createPrivateKey, createSecretKey, randomBytes } from 'node:crypto'
import { Hono } from 'hono'
import { pino } from 'pino'
import { randomIds, systemClock } from '@remit/core/base'
import { openDatabase } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { createOrganization } from '@remit/core/orgs'
import { createSecretBox, SECRETS_KEY_BYTES } from '@remit/core/secrets'
import { createRemit } from '@remit/core/server'
import { nearNodes } from '../../apps/server/src/boot/database.ts'
import { listen } from '../../apps/server/src/boot/listen.ts'
import { referencePages } from '../../apps/server/src/boot/reference-pages.ts'
import { loadModules } from '../../apps/server/src/boot/modules.ts'
import type { BenchOrganization, FromServer, ServerSpec, ToServer } from './messages.ts'

const spec = JSON.parse(process.argv[2] ?? '{}') as ServerSpec
const send = (message: FromServer) => process.send?.(message)

/** The baseline of this stack: parse JSON and send it back. */
function echo(): Hono {
  return new Hono().post('/echo', async (c) => c.json(await c.req.json()))
}

interface Started {
  readonly app: Hono
  readonly organization: BenchOrganization
  readonly addOrganization: () => Promise<BenchOrganization>
}

async function remit(): Promise<Started> {
  const open = (url: string) => openDatabase<CoreTables>(url, { hasSessions: true })
  const url = spec.databaseUrl ?? ''
  const db = open(url)
  const log = pino({ level: 'silent' })
  const signer = createLedgerSigner(createPrivateKey(spec.signingKey ?? ''))
  const server = await createRemit({
    db,
    ...(url.startsWith('postgres') && { ledgerDb: open(url) }),
    databaseUrl: url,
    ...(spec.toNodes && { nodes: nearNodes(db, url, open, log) }),
    modules: await loadModules(),
    signer,
    secrets: createSecretBox([createSecretKey(randomBytes(SECRETS_KEY_BYTES))]),
    clock: systemClock,
    ids: randomIds,
    log,
    settings: { edition: 'enterprise', spendDeadlineMs: 250 },
    version: 'bench',
    planCeiling: 'enterprise',
    evaluation: true,
    rateLimit: spec.rateLimit ?? 0,
    pages: referencePages(),
  })
  let made = 0
  const addOrganization = async () => {
    const { key, organization } = await createOrganization(
      { db, clock: systemClock, ids: randomIds, signer, host: 'bench', version: 'bench', log },
      `bench ${Date.now()} ${process.pid} ${made++}`,
      'enterprise',
    )
    return { key: key.secret, orgId: organization.id }
  }
  return {
    app: server.app,
    organization: spec.organization ?? (await addOrganization()),
    addOrganization,
  }
}

const none: BenchOrganization = { key: '', orgId: '' }
const { app, organization, addOrganization } =
  spec.kind === 'echo'
    ? { app: echo(), organization: none, addOrganization: () => Promise.resolve(none) }
    : await remit()
const { url } = await listen(app, { host: '127.0.0.1', port: 0 })
send({ kind: 'ready', port: Number(new URL(url).port), organization })

// An aborted benchmark leaves no server behind.
process.on('disconnect', () => process.exit(0))
process.on('message', (message: ToServer) => {
  if (message === 'usage') {
    const seconds = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1e6
    send({
      kind: 'usage',
      cpuSeconds: seconds(process.cpuUsage()),
      mainCpuSeconds: seconds(process.threadCpuUsage()),
      rssBytes: process.memoryUsage().rss,
    })
  } else if (message === 'memory') {
    globalThis.gc?.()
    send({ kind: 'memory', heapBytes: process.memoryUsage().heapUsed })
  } else if (message === 'organization') {
    void addOrganization().then((added) => send({ kind: 'organization', organization: added }))
  } else {
    process.exit(0)
  }
})
