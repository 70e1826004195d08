import { setTimeout } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import type { RootOperationNode } from 'kysely'
import { expect, it } from 'vitest'
import { createTestRemit } from '@remit/testing'
import { planPage } from './list.ts'

it('entries of an agent are found by indexes of its id, also where SQLite has no statistics', async () => {
  const remit = await createTestRemit({ dialect: 'sqlite' })
  const nodes: RootOperationNode[] = []
  const db = remit.db.withPlugin({
    transformQuery: ({ node }) => {
      nodes.push(node)
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  })
  const query = { agent_id: 'a', order: 'desc', limit: 50 } as const
  await planPage(db, 'org_1', { from: 0, to: 1_000_000 }, query)

  const plans: string[] = []
  for (const node of nodes.splice(0)) {
    const { sql, parameters } = db.getExecutor().compileQuery(node, { queryId: '' })
    const { rows } = await db.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
    )
    plans.push(...rows.map(({ detail }) => detail.replace(/ \(.*/, '')))
  }
  await remit.close()
  expect(plans).toEqual(
    ['of_agent', 'appended_by', 'gap_by'].map(
      (index) => `SEARCH ledger_entry USING INDEX ledger_entry_${index}`,
    ),
  )
})

it('a search in payloads needs few queries, also of a database whose answers take long', async () => {
  const remit = await createTestRemit({ dialect: 'sqlite' })
  let queries = 0
  const db = remit.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      queries++
      await setTimeout(10)
      return result
    },
  })
  await planPage(db, 'org_1', { from: 0, to: 2_000 }, { trace_id: 't', order: 'asc', limit: 50 })
  await remit.close()

  expect(queries).toBeLessThan(30)
})
