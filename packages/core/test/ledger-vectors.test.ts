import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { verifyExport } from '../src/ledger/export.ts'
import { ledgerVectors, rotatedChain, vectorChain, VECTORS } from './ledger-vectors.ts'
import { exportVectors } from './ledger/export-vectors.ts'

describe('the published vectors of the ledger format', () => {
  test('are what this code makes, byte for byte', async () => {
    const made = await ledgerVectors()

    for (const [name, value] of Object.entries(made)) {
      const published = readFileSync(new URL(name, VECTORS), 'utf8')

      expect(published).toBe(`${JSON.stringify(value, null, 2)}\n`)
    }
  })

  test.each(exportVectors(vectorChain(), rotatedChain()))(
    'export: $name',
    async ({ vkey, checkpoints, lines, status, anchored_by, first_invalid }) => {
      const report = await verifyExport(lines, { ...(vkey === null ? {} : { vkey }), checkpoints })

      expect(report).toMatchObject({ status, anchored_by, first_invalid })
    },
  )
})
