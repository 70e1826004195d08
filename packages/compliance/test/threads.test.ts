import { openDatabase } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { createTestRemit, someDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'
import { reportQueryOf } from '../src/facts/index.ts'
import { readSnapshot } from '../src/worker/snapshot.ts'
import { LocalRunner, ThreadRunner } from '../src/worker/runner.ts'
import type { Task } from '../src/jobs/jobs.ts'

const trust = { vkeys: [], anchors: [], unread: [] }
const ignore = () => undefined

describe.each(someDialects())('a thread that reads %s', (dialect) => {
  let remit: TestRemit
  let orgId: string

  beforeAll(async () => {
    remit = await createTestRemit({ dialect, modules: [compliance] })
    orgId = (await remit.organization()).id
  })
  afterAll(() => remit.close())

  const verify = (): Task => ({ kind: 'verify', orgId, trust, options: {} })

  test('finds the same as the event loop', async () => {
    const thread = new ThreadRunner(remit.url)
    const to = Date.now()
    const question = reportQueryOf({ orgId, from: to - 86_400_000, to })
    const tasks: Task[] = [verify(), { kind: 'report', orgId, trust, question }]
    for (const task of tasks) {
      const [there, here] = [
        await thread.run(task, ignore),
        await new LocalRunner(remit.db).run(task, ignore),
      ]
      expect(withoutTimes(there)).toEqual(withoutTimes(here))
    }
    await thread.end(new Error('done'))
  })

  test('reports the reason, and continues with the next job', async () => {
    const thread = new ThreadRunner(remit.url)
    const beyond: Task = { kind: 'verify', orgId, trust, options: { fromSeq: 1_000 } }
    const refused = thread.run(beyond, ignore)

    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', status: 400 })
    expect(await thread.run(verify(), ignore)).toMatchObject({ ledger: { status: 'ok' } })
    await thread.end(new Error('done'))
  })

  test('fails its job with a clear error when it dies, and accepts no more', async () => {
    const thread = new ThreadRunner(remit.url)
    const dying = thread.run(verify(), ignore)
    await Promise.all([
      expect(dying).rejects.toThrow(/^The ledger worker thread ended: killed$/),
      thread.end(new Error('killed')),
    ])

    expect(thread.isAlive).toBe(false)
  })

  test('sees one moment of the database', async () => {
    const counts = await readSnapshot(remit.url, async (db) => {
      const count = async () => (await db.selectFrom('organization').select('id').execute()).length
      const before = await count()
      await remit.organization()
      return [before, await count()]
    })
    const { length } = await remit.db.selectFrom('organization').select('id').execute()

    expect(counts[1]).toBe(counts[0])
    expect(length).toBe(counts[0]! + 1)
  })

  test('cannot write', async () => {
    const writing = readSnapshot(remit.url, (db) =>
      db.updateTable('organization').set({ name: 'x' }).execute(),
    )

    await expect(writing).rejects.toThrow(/read.?only/i)
  })
})

test('a database that is not there is an error of the job', async () => {
  const db = openDatabase<CoreTables>('sqlite::memory:')
  const thread = new ThreadRunner('postgres://nobody@127.0.0.1:1/none')
  const task: Task = { kind: 'verify', orgId: 'org_1', trust, options: {} }

  await expect(thread.run(task, ignore)).rejects.toThrow(/ECONNREFUSED/)
  await thread.end(new Error('done'))
  await db.destroy()
})

function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) => (name === 'durationMs' ? 0 : inner)),
  )
}
