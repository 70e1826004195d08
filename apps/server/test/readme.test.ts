import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readmeBlocks, readmeRequests } from './support/readme.ts'
import { hasModules } from '../src/boot/modules.ts'
import { RunningProcess } from './support/process.ts'

const root = resolve(import.meta.dirname, '../../..')

describe('the README', () => {
  it('needs no more for any of its commands than for the first', async () => {
    const lines = (await readmeBlocks(root)).flat().filter((line) => !line.startsWith('curl '))

    const [first, ...others] = lines
    expect(first).toMatch(/^npx -y -p node@24 -p pnpm@12 pnpm /)
    expect(others.length).toBeGreaterThan(1)
    for (const line of others) expect(line).toMatch(/^pnpm /)
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(
      'put `npx -y -p node@24 -p pnpm@12` before `pnpm`',
    )
  })

  it('leads to every page, through their index', () => {
    const text = readFileSync(join(root, 'README.md'), 'utf8')
    const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
    const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => /^(?:sdk\/)?[\w-]+\.md$/.test(name) && name !== 'README.md',
    )

    expect(text).toContain('(docs/README.md)')
    expect(pages.length).toBeGreaterThan(40)
    expect(pages.filter((page) => !index.includes(`(${page})`))).toEqual([])
  })
})

describe.skipIf(!hasModules())('the README, where decisions are installed,', () => {
  it('shows requests that do what it says of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'remit-readme-'))
    const env = { REMIT_EVALUATION: '1', REMIT_BOOTSTRAP_ORG: 'demo', REMIT_PORT: '0' }
    const server = new RunningProcess('main', [], env, folder)
    const [, url = ''] = await server.says(/Remit listens on (\S+)/)
    const [key] = await server.says(/\brmk_[0-9A-Za-z]{65}\b/)
    await server.says(
      /Open by default:\n\n {2}default_effect is allow: .+\n {2}unknown_agents is allow: /,
    )

    const answers: unknown[] = []
    for (const line of await readmeRequests(root, url)) {
      const shell = { env: { PATH: process.env['PATH'], REMIT_KEY: key } }
      const { stdout } = await promisify(execFile)('bash', ['-c', line], shell)
      answers.push(JSON.parse(stdout))
    }

    expect(answers).toMatchObject([
      { agent_id: 'payer', daily_usd: 100 },
      { decision: 'allow' },
      { decision: 'deny', reason: 'spend_limit_daily' },
      {
        data: [
          { decision: 'deny' },
          { kind: 'spend.threshold' },
          { decision: 'allow' },
          { kind: 'spend_limit.set' },
        ],
      },
    ])
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})
