import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { bundledProgram, inFullRun, programEnv } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { RunningProcess } from './support/process.ts'

const isRun = inFullRun('the tutorial') && hasModules()

const root = resolve(import.meta.dirname, '../../..')
const text = readFileSync(join(root, 'docs/tutorial.md'), 'utf8')

/** The shell blocks after the first, which starts the server. */
const [, ...blocks] = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)

/** The commands of the page, run from the checkout instead of through npx. */
const fromCheckout = (block: string): string =>
  block
    .replaceAll(/npx -y -p node@24 -p pnpm@12 pnpm (?:--silent )?remit /g, 'node $CLI ')
    .replaceAll(/npx -y -p node@24 node (?=examples|apps)/g, 'node $ROOT/')

describe.skipIf(!isRun)('the tutorial', () => {
  let folder: string
  let server: RunningProcess
  const env = programEnv({ ROOT: root, CLI: bundledProgram('cli') })
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'remit-tutorial-'))
    const settings = { REMIT_EVALUATION: '1', REMIT_BOOTSTRAP_ORG: 'demo', REMIT_PORT: '0' }
    server = new RunningProcess('main', [], settings, folder)
    env['REMIT_URL'] = (await server.says(/Remit listens on (\S+)/))[1] ?? ''
    env['REMIT_KEY'] = (await server.says(/\brmk_[0-9A-Za-z]{65}\b/))[0]
  })
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const shell = async (block: string): Promise<string> => {
    const options = { env, cwd: folder }
    return (await promisify(execFile)('bash', ['-ec', fromCheckout(block)], options)).stdout
  }
  const next = (): string => blocks.shift() ?? ''
  const json = async <T>(): Promise<T> => JSON.parse(await shell(next())) as T

  it('leads from a registered agent to a payment that was approved and can be proven', async () => {
    expect(next()).toContain('export REMIT_KEY=')
    expect(await json()).toMatchObject({ agent_id: 'invoice-bot', status: 'active' })
    env['AGENT_KEY'] = (await json<{ secret: string }>()).secret
    expect(next()).toContain('export AGENT_KEY=')
    expect(await json()).toMatchObject({ daily_usd: 5000 })
    expect(await json()).toMatchObject({ id: 'large-payments' })
    env['ALICE_KEY'] = (await json<{ secret: string }>()).secret
    expect(next()).toContain('export ALICE_KEY=')

    const agent = spawn('bash', ['-c', fromCheckout(next())], { env, cwd: folder })
    const ended = once(agent, 'close')
    let said = ''
    agent.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    agent.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    while (!said.includes('Waiting for approval')) {
      const exited = ended.then(() => Promise.reject(new Error(`the agent ended: ${said}`)))
      await Promise.race([once(agent.stdout, 'data'), exited])
    }

    const pending = await json<{ data: { id: string; shown: string }[] }>()
    expect(pending.data[0]?.shown).toContain('2400')
    const vote = next().replace('apr_…', pending.data[0]?.id ?? '')
    expect(JSON.parse(await shell(vote))).toMatchObject({ status: 'approved' })
    expect(await ended, said).toEqual([0, null])
    expect(said).toContain('Paid invoice 4711: 2400 USD (approved)')

    const denied = shell(next())
    await expect(denied).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Not paid: spend_limit_daily\./),
    })

    const ledger = await json<{ data: { kind: string }[] }>()
    const kinds = ledger.data.map(({ kind }) => kind)
    expect(kinds).toEqual(
      expect.arrayContaining(['approval.decided', 'approval.consumed', 'entry.appended']),
    )

    await shell(next())
    expect(await shell(next())).toContain('LEDGER OK')
    await expect(shell(next())).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^LEDGER TAMPERED\n/),
    })

    const stranger = next()
    expect(JSON.parse(await shell(stranger))).toMatchObject({
      reason: 'default_allow',
      agent: { registered: false },
    })
    expect(await json()).toMatchObject({ id: 'invoice-bot-pays', effect: 'allow' })
    expect(await json()).toMatchObject({ settings: { default_effect: 'deny' } })
    expect(JSON.parse(await shell(stranger))).toMatchObject({ reason: 'agent_denied' })
    expect(await shell(next())).toBe('Paid invoice 4713: 200 USD (policy_allow)\n')
    expect(blocks).toEqual([])
  })
})
