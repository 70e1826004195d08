import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const EVALUATION = {
  subject: { type: 'identity', id: '$token.sub' },
  action: { name: "$params.arguments.usd > 100.0 ? 'large_payment' : 'payment'" },
  resource: { type: 'account', id: '$params.arguments.account' },
  context: { agent: '$token.?client_id' },
}
const declaring = (mapping: unknown) => ({
  name: 'pay',
  description: 'Pays',
  inputSchema: { type: 'object', 'x-authzen-mapping': mapping },
})
const PAY = declaring({ evaluation: EVALUATION })
const OTHER = declaring({ evaluation: { ...EVALUATION, action: { name: 'read' } } })
const PLAIN = { name: 'pay', description: 'Pays', inputSchema: { type: 'object' } }

describe.each(someDialects())('the mapping that a tool declares, on %s,', (dialect) => {
  let first: Api
  let api: Api
  beforeAll(async () => {
    first = await createApi({ dialect })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
  })

  const report = async (tool: object, trust: 'pinned' | 'first-use' = 'pinned') => {
    const body = { upstream: 'bank', trust, tools: [tool] as never }
    return (await api.ok('reportMcpTools', { body })).data[0]!
  }
  type Mapping = 'default' | 'declared'
  const admission = async (tool: object, mapping?: Mapping) => {
    const { id, digest } = await report(tool)
    return { params: { id }, body: { digest, ...(mapping && { mapping }) } }
  }
  const admit = async (tool: object, mapping?: Mapping) =>
    api.ok('admitMcpTool', await admission(tool, mapping))
  const refusal = async (tool: object, mapping?: Mapping) =>
    (await api.refusal('admitMcpTool', await admission(tool, mapping))).errors?.[0]

  it('is part of the digest, shown, and does not count by itself', async () => {
    expect(await report(PAY, 'first-use')).toMatchObject({ state: 'admitted', mapping: 'default' })
    const { data } = await api.ok('listMcpTools', {})
    expect(data[0]).toMatchObject({ declared_mapping: { evaluation: EVALUATION } })
    expect(await admit(PAY)).toMatchObject({ state: 'admitted', mapping: 'default' })
    const { digest } = await report(OTHER)
    expect(digest).not.toBe(data[0]?.digest)
  })

  it('counts once it is pinned, which the entry of the admission says', async () => {
    expect(await admit(PAY, 'declared')).toMatchObject({ state: 'admitted', mapping: 'declared' })
    expect(await report(PAY)).toMatchObject({ state: 'admitted', mapping: 'declared' })
    const { data } = await api.ok('listEntries', { query: { kind: 'mcp.tool_admitted' } })
    expect(data[0]?.data).toMatchObject({ tool: { name: 'pay', mapping: 'declared' } })
  })

  it('withdraws the tool by a change, with the difference; only the pinned one counts', async () => {
    await admit(PAY, 'declared')

    expect(await report(OTHER)).toMatchObject({ state: 'changed', mapping: 'default' })
    const { data } = await api.ok('listMcpTools', {})
    expect(data[0]?.changes.map(({ member }) => member)).toEqual([
      'inputSchema',
      'x-authzen-mapping',
    ])
    expect(await report(PAY)).toMatchObject({ state: 'admitted', mapping: 'declared' })
  })

  it('is not left unsaid by the admission after one that pinned it', async () => {
    await admit(PAY, 'declared')

    expect(await refusal(PLAIN)).toMatchObject({ path: 'mapping' })
    expect(await admit(PLAIN, 'default')).toMatchObject({ mapping: 'default' })
    expect(await admit(PAY)).toMatchObject({ mapping: 'default' })
  })

  it.each([
    ['that is not there', PLAIN, 'declares no mapping'],
    ['that is no object', declaring('all'), 'must have "evaluation"'],
    ['of several evaluations', declaring({ evaluations: {} }), 'must have "evaluation"'],
    [
      'of another subject',
      declaring({ evaluation: { ...EVALUATION, subject: { id: 'mallory' } } }),
      'evaluation.subject.id: must be "$token.sub"',
    ],
    [
      'with a text that is no expression',
      declaring({ evaluation: { ...EVALUATION, context: { deep: [{ of: '$params.' }] } } }),
      'evaluation.context.deep.0.of: $params. is no expression',
    ],
  ])('cannot be pinned, %s', async (_, tool, message) => {
    expect(await refusal(tool, 'declared')).toMatchObject({
      path: 'mapping',
      message: expect.stringContaining(message) as string,
    })
    expect((await api.ok('listMcpTools', {})).data[0]?.state).toBe('seen')
  })
})
