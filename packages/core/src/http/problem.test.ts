import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fail } from '../base/errors.ts'
import { invalidInput, FOR_FIELD_ERRORS } from '../base/fields.ts'
import { asFailure, problemBody, problemResponse } from './problem.ts'

describe('problemResponse', () => {
  it('renders a failure with its extras', async () => {
    const failure = fail('plan_required', 'too small', {
      headers: { 'Retry-After': '1' },
      extensions: { required_plan: 'team' },
    })

    const response = problemResponse(failure, 'req-1')

    expect(response.status).toBe(403)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toEqual({
      type: 'urn:remit:problem:plan_required',
      title: 'The plan of the organization does not include this endpoint',
      status: 403,
      detail: 'too small',
      code: 'plan_required',
      request_id: 'req-1',
      required_plan: 'team',
    })
  })

  it('tells nothing of an error that is none of ours', async () => {
    const secret = new Error('password=hunter2 at /srv/app.ts:7')

    const text = await problemResponse(secret, 'r').text()

    expect(text).toContain('"internal_error"')
    expect(text).not.toMatch(/hunter2|app\.ts/)
  })

  it.each([null, undefined, 'text', 7, { code: 'x' }])('makes a 500 of %j', (thrown) => {
    expect(asFailure(thrown)).toMatchObject({ code: 'internal_error', status: 500 })
  })

  it('makes a 503 of a database that cannot be reached', () => {
    expect(asFailure(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toMatchObject({
      code: 'database_unavailable',
    })
  })
})

describe('invalidInput', () => {
  it('names every fault, and the first one in its sentence', () => {
    const { error } = z
      .strictObject({ a: z.string(), b: z.string() })
      .safeParse({ c: 1 }, FOR_FIELD_ERRORS)

    const failure = invalidInput(error!)

    expect(failure.extras.errors?.map(({ path }) => path)).toEqual(['a', 'b', 'c'])
    expect(failure.message).toBe('a: is required: a string')
  })

  const bodyFor = (value: object) => {
    const { error } = z.strictObject({}).safeParse(value, FOR_FIELD_ERRORS)
    return problemBody(invalidInput(error!), 'r')
  }
  const unknown = (count: number, name = 'field') =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, 1]))

  it('names fifty faults, and says how many more there are', () => {
    expect(bodyFor(unknown(50)).errors).toHaveLength(50)
    expect(bodyFor(unknown(50))).not.toHaveProperty('errors_omitted')

    const { errors, errors_omitted } = bodyFor(unknown(20_000))
    expect(errors).toHaveLength(50)
    expect(errors_omitted).toBe(19_950)
  })

  it('is short whatever the names of the fields are', () => {
    const problem = bodyFor(unknown(100, '😀'.repeat(10_000)))

    expect(JSON.stringify(problem).length).toBeLessThan(20_000)
    expect(problem.detail).toHaveLength(2_001)
    expect(problem.errors?.[0]?.path).toMatch(/^(😀){128}…$/u)
    expect(bodyFor({ [`a${'😀'.repeat(128)}`]: 1 }).errors?.[0]?.path.isWellFormed()).toBe(true)
  })
})
