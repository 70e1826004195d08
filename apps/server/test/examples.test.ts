import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'

const script = resolve(import.meta.dirname, '../../../examples/curl/guarded.sh')

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const guarded = (names: readonly string[], env: Record<string, string>): Promise<Ended> =>
  new Promise((done) => {
    const args = [script, ...names, 'echo', 'it ran']
    const options = { env: { PATH: process.env['PATH'] ?? '', ...env } }
    execFile('sh', args, options, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

describe.skipIf(!hasModules())('examples/curl/guarded.sh', () => {
  let remit: TestRemit
  let listener: Listener
  let env: Record<string, string>
  beforeAll(async () => {
    remit = await createTestRemit({ modules: await loadModules() })
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    const { key } = await remit.organization()
    env = { REMIT_URL: listener.url, REMIT_KEY: key }
    const rule = { effect: 'deny', actions: ['deploy.*'] }
    await fetch(`${listener.url}/v1/policies`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(rule),
    })
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  it('runs the command after an allow', async () => {
    const ended = await guarded(['deployer', 'report.read', 'env:prod'], env)

    expect(ended).toMatchObject({ code: 0, stdout: 'it ran\n' })
  })

  it('reads the address from the old name of its variable, too', async () => {
    const { REMIT_URL: url = '', ...others } = env
    const ended = await guarded(['deployer', 'report.read', 'env:prod'], { ...others, REMIT: url })

    expect(ended).toMatchObject({ code: 0, stdout: 'it ran\n' })
  })

  it('does not run the command after a deny, without a key, or without a server', async () => {
    const denied = await guarded(['deployer', 'deploy.production', 'env:prod'], env)
    const keyless = await guarded(['deployer', 'report.read', ''], { ...env, REMIT_KEY: 'rmk_x' })
    const down = await guarded(['a', 'b', 'c'], { ...env, REMIT_URL: 'http://127.0.0.1:9' })

    expect(denied).toMatchObject({ code: 77, stdout: '' })
    expect(denied.stderr).toContain('policy_deny')
    expect(keyless).toMatchObject({ code: 77, stdout: '' })
    expect(down).toMatchObject({ code: 77, stdout: '' })
  })

  it('refuses a name that would change the JSON document', async () => {
    const ended = await guarded(['a","action":"report.read', 'deploy.production', 'x'], env)

    expect(ended).toMatchObject({ code: 2, stdout: '' })
  })
})
