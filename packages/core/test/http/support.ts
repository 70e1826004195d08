import { endpoints, PROBLEMS } from '@remit/contract'
import type { Endpoint, Problem } from '@remit/contract'
import { expect } from 'vitest'
import { fail } from '../../src/base/errors.ts'
import { implement } from '../../src/http/endpoint.ts'
import { defineModule } from '../../src/module/module.ts'

const ABOVE_OPEN = Object.fromEntries(
  Object.entries(endpoints).filter(([, endpoint]) => endpoint.plan !== 'open'),
)

/**
 * Mounts everything of the contract that core does not bring, so that what stands in front of the
 * handlers can be tested in the open edition. Who gets through is answered 409 `decision_settled`.
 */
export const standIn = defineModule({
  name: 'stand_in',
  setup: () => ({
    routes: implement(
      ABOVE_OPEN,
      Object.fromEntries(
        Object.keys(ABOVE_OPEN).map((name) => [
          name,
          () => Promise.reject(fail('decision_settled')),
        ]),
      ),
    ),
  }),
})

/** Every endpoint with its name. */
export const ALL: readonly (readonly [name: string, endpoint: Endpoint])[] =
  Object.entries(endpoints)

/** A path of the endpoint whose parameters are valid. */
export const pathOf = ({ path }: Endpoint): string => path.replace(/\{\w+\}/g, '1')

/**
 * The problem document of a refusal (RFC 9457), checked against the table of codes. OAuth clients get
 * its members in their own media type.
 */
export async function problemOf(response: Response, endpoint?: Endpoint): Promise<Problem> {
  const type = endpoint?.form ? 'application/json' : 'application/problem+json'
  expect(response.headers.get('content-type')).toBe(type)
  expect(response.headers.get('cache-control')).toBe('no-store')
  const problem = (await response.json()) as Problem
  expect(problem.request_id).toBe(response.headers.get('x-request-id'))
  expect([response.status, problem.status]).toEqual(Array(2).fill(PROBLEMS[problem.code][0]))
  expect(problem.type).toBe(`urn:remit:problem:${problem.code}`)
  return problem
}
