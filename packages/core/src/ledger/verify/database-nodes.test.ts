import { hash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createTestRemit } from '@remit/testing'
import { NodeCheck } from './database-rows.ts'
import { DatabaseFindings } from './database-report.ts'
import { createChainVerifier } from './chain.ts'

const LEVEL = 1
const hashOf = (idx: number) => hash('sha256', `node ${idx}`, 'hex')

test('nodes are compared a lot at a time, and what is left at the end', async () => {
  const remit = await createTestRemit()
  onTestFinished(() => remit.close())
  const { id: orgId } = await remit.organization()
  const nodes = Array.from({ length: 600 }, (_, idx) => ({ level: LEVEL, idx, hash: hashOf(idx) }))
  // One is wrong in each of the two lots, and one that is left is missing.
  const stored = nodes
    .filter(({ idx }) => idx !== 599)
    .map((node) => ({ ...node, hash: [7, 300].includes(node.idx) ? hashOf(-1) : node.hash }))
  await remit.db
    .insertInto('ledger_node')
    .values(stored.map((node) => ({ org_id: orgId, ...node })))
    .execute()
  const findings = new DatabaseFindings()
  const check = new NodeCheck(remit.db, orgId, 0, findings)
  const checkedAfter: number[] = []

  for (const node of nodes) {
    check.add(LEVEL, node.hash)
    await check.compare({ all: false })
    if (node.idx % 100 === 99) checkedAfter.push(findings.nodesChecked)
  }
  await check.compare({ all: true })

  expect(checkedAfter).toEqual([0, 0, 256, 256, 256, 512])
  expect(findings).toMatchObject({ nodesChecked: 600, nodesMismatched: 3 })
  const nothing = createChainVerifier({ org_id: orgId }).finish({ stopped: true })
  const { errors } = findings.join(nothing)
  expect(errors).toEqual([
    { seq: 8 * 256 - 1, code: 'node_mismatch', detail: 'level 1, index 7' },
    { seq: 301 * 256 - 1, code: 'node_mismatch', detail: 'level 1, index 300' },
    { seq: 600 * 256 - 1, code: 'node_missing', detail: 'level 1, index 599' },
  ])
})
