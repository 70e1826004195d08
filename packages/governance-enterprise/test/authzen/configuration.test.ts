import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterEach, describe, expect, it } from 'vitest'
import governance from '../../src/index.ts'
import { answerOf, refusalOf } from '../support/api.ts'

const PATH = '/.well-known/authzen-configuration'

let remit: TestRemit
afterEach(() => remit.close())

const start = async (baseUrl?: string) => {
  const settings = baseUrl === undefined ? {} : { baseUrl }
  remit = await createTestRemit({ modules: [governance], settings })
}
const describing = (pdp: string) => ({
  policy_decision_point: pdp,
  access_evaluation_endpoint: `${pdp}/access/v1/evaluation`,
  access_evaluations_endpoint: `${pdp}/access/v1/evaluations`,
})

describe(`GET ${PATH}`, () => {
  it('names the endpoints there are, at the configured address', async () => {
    await start('https://pdp.example.com/')

    const response = await remit.call('GET', PATH)

    expect(await answerOf('authzenConfiguration', response)).toEqual(
      describing('https://pdp.example.com'),
    )
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('asks for no key, and looks at none', async () => {
    await start()
    const { key } = await remit.organization('free')

    for (const options of [{}, { key }, { key: 'none' }, { headers: { authorization: 'x' } }]) {
      expect((await remit.call('GET', PATH, options)).status).toBe(200)
    }
  })

  it('names endpoints that are there', async () => {
    await start()
    const { key } = await remit.organization()
    const metadata = await answerOf('authzenConfiguration', await remit.call('GET', PATH))

    for (const url of [metadata.access_evaluation_endpoint, metadata.access_evaluations_endpoint]) {
      const body = {
        subject: { type: 'agent', id: 'a' },
        action: { name: 'b' },
        resource: { type: 'c', id: 'd' },
      }
      const { pathname } = new URL(url)
      expect((await remit.call('POST', pathname, { key, body })).status).toBe(200)
    }
  })

  it('is the requested address on loopback, without a configured one', async () => {
    await start()

    const response = await remit.app.request(`http://localhost:8080${PATH}`)

    expect(await answerOf('authzenConfiguration', response)).toEqual(
      describing('http://localhost:8080'),
    )
  })

  it('echoes no other Host where no address is configured', async () => {
    await start()

    for (const origin of ['http://evil.example', 'https://pdp.example.com', 'http://10.0.0.7']) {
      const problem = await refusalOf(await remit.app.request(`${origin}${PATH}`))
      expect(problem).toMatchObject({
        code: 'not_found',
        detail: expect.stringContaining('REMIT_BASE_URL'),
      })
    }
  })

  it('is not there under an address without https', async () => {
    await start('http://pdp.example.com')

    const problem = await refusalOf(await remit.call('GET', PATH))

    expect(problem).toMatchObject({ code: 'not_found', detail: expect.stringContaining('https') })
  })

  it('is not there in the community edition, and neither are the others', async () => {
    remit = await createTestRemit()
    const { key } = await remit.organization()

    for (const [method, path] of [
      ['GET', PATH],
      ['POST', '/access/v1/evaluation'],
      ['POST', '/access/v1/evaluations'],
    ] as const) {
      for (const options of [{}, { key }]) {
        expect((await refusalOf(await remit.call(method, path, options))).code).toBe('not_found')
      }
    }
  })
})
