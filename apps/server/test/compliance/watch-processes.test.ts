import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Database } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { openPatiently } from '@remit/testing'
import { bundledProgram, inFullRun, programEnv, SOURCE_FLAGS } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { cliJson, createOrg } from '../support/cli.ts'
import { createInstallation } from '../support/installation.ts'
import type { Installation } from '../support/installation.ts'

const isRun = inFullRun('two watching servers') && hasModules()

const PROGRAM = bundledProgram('watching-server')

interface Lease {
  readonly name: string
  readonly holder: string
  readonly expires_at: number
}

describe.skipIf(!isRun)('two servers of one installation', () => {
  let installation: Installation
  let env: Record<string, string>
  let orgs: string[]
  let servers: ChildProcess[]
  let db: Database<CoreTables>

  beforeAll(async () => {
    installation = await createInstallation('postgres')
    db = openPatiently(installation.env['REMIT_DATABASE_URL']!)
    env = {
      ...installation.env,
      REMIT_LOG_LEVEL: 'error',
      REMIT_CHECKPOINT_DIR: join(installation.folder, 'checkpoints'),
    }
    orgs = [(await createOrg(env)).organization.id, (await createOrg(env, 'other')).organization.id]
    servers = await Promise.all([start(), start()])
  })
  afterAll(async () => {
    for (const server of servers) server.kill('SIGKILL')
    await db.destroy()
    await installation.remove()
  })

  const start = async (): Promise<ChildProcess> => {
    const server = spawn(process.execPath, [...SOURCE_FLAGS, PROGRAM], {
      env: programEnv(env),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(server.stdout, 'data')
    return server
  }
  const read = async <T>(table: string, orgId?: string): Promise<T[]> => {
    const rows = db.selectFrom(table as never).selectAll()
    return (await (
      orgId === undefined ? rows : rows.where('org_id' as never, '=', orgId as never)
    ).execute()) as T[]
  }
  const heartbeats = async (orgId: string) =>
    (await read<{ kind: string; recorded_at: string }>('ledger_entry', orgId))
      .filter(({ kind }) => kind === 'ledger.heartbeat')
      .map(({ recorded_at }) => recorded_at.slice(0, 10))
  const watchLease = async () =>
    (await read<Lease>('process_lease')).find(({ name }) => name === 'ledger-watch')
  const holder = async () => (await watchLease())?.holder
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await setTimeout(50)
  }
  /** Waits until the holder of the lease has looked a few times more: each look renews it. */
  const looks = async (count: number) => {
    const renewals = new Set<number>()
    await until(async () => {
      const lease = await watchLease()
      if (lease) renewals.add(lease.expires_at)
      return renewals.size > count
    })
  }
  /** As if it were the day after: the watch has done nothing yet today. */
  const forget = () =>
    db
      .updateTable('ledger_watch' as never)
      .set({ heartbeat_at: '2020-01-01' } as never)
      .execute()

  test('write one heartbeat a day to each ledger, and keep its checkpoint outside', async () => {
    const kept = () =>
      orgs.every((id) => existsSync(join(env['REMIT_CHECKPOINT_DIR']!, `${id}.txt`)))
    await until(() => Promise.resolve(kept()))
    await looks(5)
    const days = await Promise.all(orgs.map(heartbeats))
    const note = readFileSync(join(env['REMIT_CHECKPOINT_DIR']!, `${orgs[0]}.txt`), 'utf8')

    expect(days.map(({ length }) => length)).toEqual([1, 1])
    expect(note.match(/^— /gm)).toHaveLength(1)
    expect(await cliJson(['compliance', 'verify', '--org', orgs[0]!], env)).toMatchObject({
      valid: true,
      anchored_by: 'external',
    })
  })

  test('the one that holds the lease keeps it while it lives; when it is killed, the other takes over', async () => {
    const first = await holder()
    await looks(5)
    expect(await holder()).toBe(first)

    // It shows when one of them is gone.
    servers[0]!.kill('SIGKILL')
    await once(servers[0]!, 'exit')
    await forget()
    await until(async () => (await heartbeats(orgs[1]!)).length === 2)
    expect((await Promise.all(orgs.map(heartbeats))).map(({ length }) => length)).toEqual([2, 2])

    servers[0] = await start()
    servers[1]!.kill('SIGTERM')
    await once(servers[1]!, 'exit')
    await forget()
    await until(async () => (await heartbeats(orgs[1]!)).length === 3)
    await looks(3)
    expect((await Promise.all(orgs.map(heartbeats))).map(({ length }) => length)).toEqual([3, 3])
  })
})
