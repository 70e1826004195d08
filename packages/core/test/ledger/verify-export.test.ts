import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyExport } from '../../src/ledger/verify/export.ts'
import { rotatedChain, vectorChain } from '../ledger-vectors.ts'
import { exportVectors } from './export-vectors.ts'
import type { ExportVector } from './export-vectors.ts'

type Case = Pick<ExportVector, 'lines' | 'vkey' | 'checkpoints'>

interface Verdict {
  readonly status: string
  readonly anchored_by: string
  readonly seq: number | null
  readonly code: string | null
}

const here = import.meta.dirname
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) process.stderr.write('skipped: the verifier in Python needs python3\n')

const BATCH = `
import json, sys
sys.path.insert(0, sys.argv[1])
from verify_export import verify
cases = json.load(sys.stdin)
print(json.dumps([verify(c["lines"], [c["vkey"]] if c["vkey"] else [], c["checkpoints"]) for c in cases]))
`

function inPython(cases: readonly Case[]): Verdict[] {
  const { stdout, stderr } = spawnSync('python3', ['-B', '-c', BATCH, here], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Verdict[]
}

const inTypeScript = ({ lines, vkey, checkpoints }: Case) =>
  verifyExport(lines, { checkpoints, ...(vkey === null ? {} : { vkey }) })

describe.skipIf(!hasPython)('a verifier that was written from the format page alone', () => {
  const vectors = exportVectors(vectorChain(), rotatedChain())
  let verdicts: Verdict[]

  beforeAll(() => {
    verdicts = inPython(vectors)
  })

  test.each(vectors.map((vector, index) => ({ ...vector, index })))(
    'agrees on: $name',
    async ({ index, status, ...vector }) => {
      const verdict = verdicts[index]!

      const report = await inTypeScript(vector)

      // It stops at the first error, before it knows what would have held the chain.
      const sound = verdict.seq === null
      const errors = report.errors.map(({ seq, code }) => `${seq} ${code}`)
      expect(verdict.status).toBe(status)
      expect(sound).toBe(errors.length === 0)
      expect([...errors, 'null null']).toContain(`${verdict.seq} ${verdict.code}`)
      expect(sound ? verdict.anchored_by : report.anchored_by).toBe(report.anchored_by)
    },
  )

  test('finds any change of a character that the server finds', async () => {
    const { lines, vkey, checkpoints } = vectors[0]!
    const changes = fc.sample(
      fc.tuple(fc.nat(lines.length - 1), fc.nat(), fc.string({ unit: 'grapheme', maxLength: 1 })),
      { numRuns: 300, seed: 7 },
    )
    const cases = changes.map(([index, at, to]) => {
      const line = lines[index]!
      const changed = line.slice(0, at % line.length) + to + line.slice((at % line.length) + 1)
      return { lines: lines.with(index, changed.toWellFormed()), vkey, checkpoints }
    })

    const reports = await Promise.all(cases.map(inTypeScript))
    const found = inPython(cases)

    const unsound = found.map(({ status }) => status !== 'ok')
    expect(unsound).toEqual(reports.map(({ status }) => status !== 'ok'))
    expect(unsound.filter(Boolean).length).toBeGreaterThan(290)
  })

  describe('run on a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-export-'))
    afterAll(() => rmSync(folder, { recursive: true }))

    const run = (name: string, { lines, vkey, checkpoints }: Case) => {
      const file = join(folder, name)
      writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
      const notes = checkpoints.map((note, index) => {
        const path = join(folder, `${name}.${index}`)
        writeFileSync(path, note)
        return path
      })
      const script = join(here, 'verify_export.py')
      return spawnSync('python3', ['-B', script, file, vkey ?? '-', ...notes], { encoding: 'utf8' })
    }

    const named = (name: string) => vectors.find((vector) => vector.name === name)!

    test('ends with 0 for a sound export only, and prints its verdict', () => {
      const good = run('sound', named('sound, a checkpoint kept outside'))
      const bad = run('tampered', named('payload changed'))

      expect([good.status, bad.status]).toEqual([0, 1])
      expect(JSON.parse(good.stdout)).toMatchObject({ status: 'ok', anchored_by: 'external' })
      expect(JSON.parse(bad.stdout)).toMatchObject({ seq: 1, code: 'commitment_mismatch' })
    })
  })
})
