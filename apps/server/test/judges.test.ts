import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generateKey } from '@remit/core/keys'
import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { remit, request, startServer } from './support/process.ts'

const isRun = inFullRun('judges of a server') && hasModules()

const SECRET = 'sk-judge-secret'
const BODY = {
  scorer: 'llm_as_judge',
  params: { criteria: 'The answer is right.' },
  results: [{ input: '2 + 2', output: '4' }],
}

let installation: Installation
let file: string
let model: Server
const seen: string[] = []
const { secret: key } = generateKey()

beforeAll(async () => {
  installation = await createInstallation()
  file = join(installation.folder, 'judges.json')
  model = createServer((incoming, response) => {
    seen.push(incoming.headers.authorization ?? '')
    const content = '{"reasoning":"Because.","choice":"pass"}'
    const choices = [{ finish_reason: 'stop', message: { content } }]
    incoming.resume().on('end', () => response.end(JSON.stringify({ choices })))
  })
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', () => resolve()))
})
afterAll(async () => {
  model.close()
  await installation.remove()
})

const env = (more: Record<string, string> = {}) => ({
  ...installation.env,
  REMIT_BOOTSTRAP_ORG: 'acme',
  REMIT_BOOTSTRAP_KEY: key,
  REMIT_LOG_LEVEL: 'trace',
  REMIT_JUDGES_FILE: file,
  JUDGE_KEY: SECRET,
  ...more,
})
const write = (judge: object) => {
  const { port } = model.address() as AddressInfo
  const base_url = `http://127.0.0.1:${port}/v1`
  const main = {
    provider: 'openai_compatible',
    base_url,
    key_env: 'JUDGE_KEY',
    model: 'm',
    ...judge,
  }
  writeFileSync(file, JSON.stringify({ judges: { main } }))
}

test('in the community edition there is no judge, whatever is configured', async () => {
  write({})
  const { url, server } = await startServer(
    env({ REMIT_EVALUATION: '', REMIT_EDITION: 'community' }),
  )
  const answer = await request(`${url}/v1/scorers`, key, 'POST', BODY)
  const problem = (await answer.json()) as { code: string; available: string[] }
  await server.stop()

  expect([answer.status, problem.code]).toEqual([404, 'scorer_not_found'])
  expect(problem.available).toContain('exact_match')
  expect(problem.available).not.toContain('llm_as_judge')
  expect(seen).toEqual([])
})

describe.skipIf(!isRun)('with the module', () => {
  test('the judge of the file is asked, with the key of the environment, which shows nowhere', async () => {
    write({})
    const { url, server } = await startServer(env())
    const answer = await request(`${url}/v1/scorers`, key, 'POST', BODY)
    const { scores } = (await answer.json()) as { scores: { score: number }[] }
    const { code, stdout, stderr } = await server.stop()

    expect([answer.status, scores[0]?.score, code]).toEqual([200, 1, 0])
    expect(seen).toEqual([`Bearer ${SECRET}`])
    expect(stdout + stderr).not.toContain(SECRET)
  })

  test('without a file the scorer says that there is no judge', async () => {
    const { url, server } = await startServer(env({ REMIT_JUDGES_FILE: '' }))
    const answer = await request(`${url}/v1/scorers`, key, 'POST', BODY)
    const problem = (await answer.json()) as { detail: string }
    await server.stop()

    expect(answer.status).toBe(400)
    expect(problem.detail).toBe(
      'params.judge: this server has no judges; configure them in REMIT_JUDGES_FILE',
    )
  })

  test.each([
    [{ model: '' }, {}, /^REMIT_JUDGES_FILE: judges\.main\.model: .+\n$/],
    [
      { key_env: 'NO_KEY' },
      {},
      /^REMIT_JUDGES_FILE: judges\.main\.key_env: the variable NO_KEY is not set\n$/,
    ],
    [
      {},
      { REMIT_JUDGES_FILE: '/nowhere' },
      /^REMIT_JUDGES_FILE: \/nowhere cannot be read: no such file or directory\n$/,
    ],
  ])('a fault in %j %j stops the start with 78, and names the field', async (judge, more, line) => {
    write(judge)

    const { code, stderr } = await remit(['serve'], env({ ...more, REMIT_LOG_LEVEL: 'silent' }))

    expect(code).toBe(78)
    expect(stderr.replace(/^.*?REMIT/, 'REMIT')).toMatch(line)
    expect(stderr).not.toContain(SECRET)
  })

  test('other commands need neither the file nor the keys', async () => {
    write({ key_env: 'NO_KEY' })

    const { code } = await remit(['org', 'list'], env({ REMIT_JUDGES_FILE: '/nowhere' }))

    expect(code).toBe(0)
  })
})
