import type { Endpoint, ProblemCode } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit, sampled } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { ALL, pathOf, problemOf, standIn } from './support.ts'

/** Faults of a request, in the documented order of refusals. */
const ORDER = ['path', 'method', 'key', 'plan', 'role', 'media', 'size', 'json', 'shape'] as const
type Fault = (typeof ORDER)[number]

const CODE: Readonly<Record<Fault, ProblemCode>> = {
  path: 'not_found',
  method: 'method_not_allowed',
  key: 'unauthorized',
  plan: 'plan_required',
  role: 'role_required',
  media: 'unsupported_media_type',
  size: 'body_too_large',
  json: 'invalid_json',
  shape: 'invalid_request',
}

/** The faults that a request to the endpoint can have at all. */
function possible(endpoint: Endpoint): Fault[] {
  return ORDER.filter((fault) => {
    if (endpoint.public) return fault === 'path' || fault === 'method'
    if (fault === 'plan') return endpoint.plan !== 'open'
    if (fault === 'role') return roleWithout(endpoint) !== undefined
    if (['media', 'size', 'json', 'shape'].includes(fault)) return endpoint.body !== undefined
    return true
  })
}

const roleWithout = ({ roles, anyPrincipal }: Endpoint) =>
  (['read', 'ingest', 'approver'] as const).find((role) => !anyPrincipal && !roles.includes(role))

const cases = ALL.flatMap(([name, endpoint]) => {
  const faults = possible(endpoint)
  const rest = faults.map((_, first) => faults.slice(first))
  const pairs = faults.flatMap((a, i) => faults.slice(i + 1).map((b) => [a, b]))
  return [...rest, ...pairs].map((wrong) => ({ name, endpoint, wrong, first: wrong[0] as Fault }))
})

describe('the order of refusal', () => {
  let remit: TestRemit
  const keys = new Map<string, string>()
  beforeAll(async () => {
    remit = await createTestRemit({ modules: [standIn] })
    for (const plan of ['free', 'enterprise'] as const) {
      const org = await remit.organization(plan)
      keys.set(`${plan} admin`, org.key)
      for (const role of ['read', 'ingest', 'approver'] as const) {
        keys.set(`${plan} ${role}`, await remit.key(org.id, role))
      }
    }
  })
  afterAll(() => remit.close())

  const send = (endpoint: Endpoint, wrong: readonly string[]) => {
    const plan = wrong.includes('plan') ? 'free' : 'enterprise'
    const role = wrong.includes('role') ? roleWithout(endpoint) : 'admin'
    const body = bodyWith(endpoint, wrong)
    return remit.app.request(`${pathOf(endpoint)}${wrong.includes('path') ? '/-/nowhere' : ''}`, {
      method: wrong.includes('method') ? 'PROPPATCH' : endpoint.method,
      headers: {
        ...(wrong.includes('key')
          ? endpoint.keyless && { authorization: 'Bearer rmk_wrong' }
          : { authorization: `Bearer ${keys.get(`${plan} ${role}`)}` }),
        'content-type': wrong.includes('media') ? 'text/plain' : 'application/json',
      },
      ...(body !== null && { body }),
    })
  }

  it.each(sampled(cases))(
    '$name with wrong $wrong says $first',
    async ({ endpoint, wrong, first }) => {
      const response = await send(endpoint, wrong)

      const isRouted = first !== 'path'
      const problem = await problemOf(response, isRouted ? endpoint : undefined)
      const isLenient = first === 'media' && endpoint.lenient
      expect(problem.code).toBe(isLenient ? 'invalid_request' : CODE[first])
      expect(problem['required_plan']).toBe(first === 'plan' ? endpoint.plan : undefined)
      expect(response.headers.has('allow')).toBe(first === 'method')
      expect(response.headers.has('www-authenticate')).toBe(first === 'key')
    },
  )
})

function bodyWith(endpoint: Endpoint, wrong: readonly string[]): string | null {
  if (!endpoint.body) return null
  if (wrong.includes('size')) return '{'.padEnd((endpoint.maxBodyBytes ?? 1024 * 1024) + 1, ' ')
  if (wrong.includes('json')) return '{"unknown_field":1'
  return wrong.includes('shape') ? '{"unknown_field":1}' : '{}'
}
