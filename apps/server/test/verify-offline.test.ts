import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bundledProgram, inFullRun, someDialects, SOURCE_FLAGS } from '@remit/testing'
import { hasModules } from '../src/boot/modules.ts'
import { createOrg } from './support/cli.ts'
import { createInstallation, withoutGuards } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { termsOf } from './support/markdown.ts'
import { request, startServer } from './support/process.ts'
import type { RunningProcess } from './support/process.ts'
import { sql } from 'kysely'

const isRun = inFullRun('verifying without a server') && hasModules()

const root = resolve(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/verify-offline.md'), 'utf8')
const [handOver = '', check = '', csv = ''] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, block]) => block,
)

/** Exit code and output of a shell. */
interface Shell {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

describe.skipIf(!isRun).each(someDialects())('docs/verify-offline.md on %s', (dialect) => {
  let installation: Installation
  let server: RunningProcess
  let env: Record<string, string>
  let org = ''

  const sh = (script: string, more: Record<string, string> = {}): Promise<Shell> =>
    promisify(execFile)('bash', ['--norc', '-eo', 'pipefail', '-c', script], {
      cwd: installation.folder,
      env: { ...env, ...more },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: Shell) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
    )

  /** The programs by the names that the page calls them. */
  function programs(): string {
    const folder = join(installation.folder, 'bin')
    mkdirSync(folder)
    const write = (name: string, command: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\nexec "${process.execPath}" ${command} "$@"\n`)
      chmodSync(join(folder, name), 0o755)
    }
    write('remit', `${SOURCE_FLAGS.join(' ')} "${bundledProgram('cli')}"`)
    write('remit-verify', `"${root}/apps/verify/src/main.ts"`)
    return folder
  }

  beforeAll(async () => {
    installation = await createInstallation(dialect)
    const { organization, key } = await createOrg(installation.env, 'demo')
    org = organization.id
    const started = await startServer(installation.env)
    server = started.server
    const { url } = started
    for (const amount_usd of [1, 2, 3]) {
      const context = { amount_usd }
      const body = { agent_id: 'payer', action: 'payments.transfer', context }
      await request(`${url}/v1/authorize`, key.secret, 'POST', body)
    }
    const from = new Date(Date.now() - 3_600_000).toISOString()
    const body = { framework: 'soc2', from, to: new Date().toISOString() }
    const made = await request(`${url}/v1/compliance/reports`, key.secret, 'POST', body)
    const { id } = (await made.json()) as { id: string }
    await vi.waitFor(async () => {
      const found = await request(`${url}/v1/compliance/reports/${id}`, key.secret)
      const { status } = (await found.json()) as { status: string }
      if (status !== 'ready') throw new Error(`the report is ${status}`)
    }, 120_000)
    env = {
      ...installation.env,
      PATH: `${programs()}:${process.env['PATH']}`,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      REMIT_URL: url,
      REMIT_KEY: key.secret,
      REPORT: id,
    }
  }, 300_000)
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  it('says how to get the pieces, and how to check them', async () => {
    const handed = await sh(handOver)
    const [, VKEY = ''] = /verifier key: (\S+)/.exec(handed.stderr) ?? []
    const checked = await sh(check, { VKEY })

    expect(handed.code).toBe(0)
    expect(checked).toMatchObject({ code: 0, stderr: '' })
    const [, shown = ''] = /Read the result\n\n```\n([\s\S]*?)^```$/m.exec(page) ?? []
    const lines = shown.trim().split('\n')
    expect(lines.length).toBeGreaterThan(3)
    for (const line of lines) expect(checked.stdout).toContain(`${line}\n`)
  })

  it('says how to compare the CSV', async () => {
    const { stdout } = await sh(csv)
    const [summed = '', stated = ''] = stdout.trim().split('\n')

    expect(stated).toContain(summed.slice(0, 64))
    expect(summed).toMatch(/^[0-9a-f]{64} /)
  })

  it('a change in the database shows in the next export', async () => {
    await installation.database((db) =>
      withoutGuards(db, (open) =>
        sql`update ledger_entry set payload = replace(payload, '"payer"', '"player"') where org_id = ${org} and kind = 'authorization.decided'`.execute(
          open,
        ),
      ),
    )
    const { code, stdout } = await sh(
      `rm ledger.ndjson report.json\n${handOver}\nremit-verify ledger.ndjson --report report.json`,
    )

    expect(code).toBe(1)
    expect(stdout).toContain('LEDGER TAMPERED')
    expect(stdout).toContain('commitment_mismatch')
  })
})

describe('docs/verify-offline.md', () => {
  const program = (name: string) => readFileSync(join(root, 'apps/verify/src', name), 'utf8')

  it('lists every option, and no others', () => {
    const options = [...program('run.ts').matchAll(/^ {2}(--[a-z-]+( [A-Z]+)?)/gm)].map(
      ([, option]) => option,
    )

    expect(termsOf(page).filter((cell) => cell.startsWith('--'))).toEqual(options)
    expect(options.length).toBeGreaterThan(5)
  })

  it('explains every error of a report, and no others', () => {
    const [, union = ''] =
      /readonly code:\n([^]*?)\n {2}readonly detail/.exec(program('report.ts')) ?? []
    const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code)

    expect(
      termsOf(page)
        .filter((cell) => /^[a-z]+_[a-z]+$/.test(cell))
        .toSorted(),
    ).toEqual(codes.map(String).toSorted())
  })

  it('explains every exit code, and no others', () => {
    const [, table = ''] = /const EXIT = \{([^}]*)\}/.exec(program('run.ts')) ?? []
    const codes = [...table.matchAll(/\d+/g)].map(([code]) => code)

    expect(termsOf(page).filter((cell) => /^\d$/.test(cell))).toEqual(codes)
  })
})
