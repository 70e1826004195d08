import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { verifyExport } from '../src/ledger/verify/export.ts'
import { ledgerVectors, rotatedChain, vectorChain, VECTORS } from './ledger-vectors.ts'
import { exportVectors } from './ledger/export-vectors.ts'

describe('the published vectors of the ledger format', () => {
  test('are what this code makes', async () => {
    const made = Object.entries(await ledgerVectors())

    const published = made.map(([name]) => readFileSync(new URL(name, VECTORS), 'utf8'))

    expect(published.map((text): unknown => JSON.parse(text))).toEqual(
      made.map(([, value]): unknown => JSON.parse(JSON.stringify(value))),
    )
    expect(made).toHaveLength(5)
  })

  test.each(exportVectors(vectorChain(), rotatedChain()))(
    'export: $name',
    async ({ vkey, checkpoints, lines, status, anchored_by, first_invalid }) => {
      const report = await verifyExport(lines, { ...(vkey === null ? {} : { vkey }), checkpoints })

      expect(report).toMatchObject({ status, anchored_by, first_invalid })
    },
  )
})
