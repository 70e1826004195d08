import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fail } from '../errors.ts'
import { asFailure, invalidInput, problemResponse } from './problem.ts'

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
      title: 'The plan of the organization does not include this',
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
  const errorsOf = (schema: z.ZodType, value: unknown) => {
    const { error } = schema.safeParse(value)
    return error && invalidInput(error).extras.errors
  }

  it.each([
    ['a missing field', z.object({ a: z.string() }), {}, 'a', 'is required: string'],
    ['another type', z.object({ a: z.string() }), { a: 5 }, 'a', 'must be string, not number'],
    [
      'a field inside another',
      z.object({ a: z.object({ b: z.array(z.number()) }) }),
      { a: { b: [1, '2'] } },
      'a.b.1',
      'must be number, not string',
    ],
    [
      'another value',
      z.object({ a: z.enum(['x', 'y']) }),
      { a: 'z' },
      'a',
      'must be one of "x"|"y"',
    ],
    [
      'a rule of ours',
      z.object({ a: z.string().refine(() => false, 'must be nice') }),
      { a: 'b' },
      'a',
      'must be nice',
    ],
    [
      'an unknown field',
      z.strictObject({ a: z.object({}) }),
      { a: {}, b: 1 },
      'b',
      'is not a known field',
    ],
  ])('says where and what: %s', (_, schema, value, path, message) => {
    expect(errorsOf(schema, value)).toEqual([{ path, message }])
  })

  it('speaks of the branch of a union that was meant', () => {
    const schema = z.object({
      who: z.union([z.string(), z.strictObject({ type: z.string(), id: z.string() })]),
    })

    expect(errorsOf(schema, { who: { type: 'user' } })).toEqual([
      { path: 'who.id', message: 'is required: string' },
    ])
  })

  it('names every fault, and the first one in its sentence', () => {
    const { error } = z.strictObject({ a: z.string(), b: z.string() }).safeParse({ c: 1 })

    const failure = invalidInput(error!)

    expect(failure.extras.errors?.map(({ path }) => path)).toEqual(['a', 'b', 'c'])
    expect(failure.message).toBe('a: is required: string')
  })
})
