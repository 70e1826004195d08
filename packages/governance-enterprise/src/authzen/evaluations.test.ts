import { setImmediate } from 'node:timers/promises'
import type { AccessDecision, AccessEvaluation, AccessEvaluations } from '@remit/contract'
import { fail } from '@remit/core/base'
import { describe, expect, it } from 'vitest'
import { evaluateAll } from './evaluations.ts'

const subject = { type: 'user', id: 'alice' }
const action = { name: 'read' }
const resource = (id: string) => ({ resource: { type: 'record', id } })
const permit: AccessDecision = { decision: true, context: {} }
const deny: AccessDecision = { decision: false, context: {} }

const atOnce = () => undefined

/** Runs evaluations whose answer is that of their resource, and notes what was asked. */
async function run(
  body: AccessEvaluations,
  answers: Readonly<Record<string, AccessDecision | Error>> = {},
) {
  const asked: AccessEvaluation[] = []
  const outcome = evaluateAll(
    body,
    (evaluation) => {
      asked.push(evaluation)
      const answer = answers[evaluation.resource.id] ?? permit
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
    atOnce,
  )
  return { decisions: await outcome, asked }
}

const ids = ({ asked }: { asked: readonly AccessEvaluation[] }) =>
  asked.map((one) => one.resource.id)

describe('defaults', () => {
  it('complete an evaluation', async () => {
    const context = { time: 'now' }
    const { asked } = await run({
      subject,
      action,
      context,
      evaluations: [resource('1'), { ...resource('2'), action: { name: 'write' } }],
    })

    expect(asked).toEqual([
      { subject, action, context, ...resource('1') },
      { subject, action: { name: 'write' }, context, ...resource('2') },
    ])
  })

  it('are replaced as a whole: nothing of a default is mixed into an entity or a context', async () => {
    const { asked } = await run({
      subject: { ...subject, properties: { role: 'admin' } },
      action,
      resource: { type: 'record', id: '1', properties: { status: 'active' } },
      context: { a: 1, b: 2 },
      evaluations: [
        {
          subject: { type: 'user', id: 'bob' },
          resource: { type: 'record', id: '2', properties: {} },
          context: { b: 3 },
        },
      ],
    })

    expect(asked).toEqual([
      {
        subject: { type: 'user', id: 'bob' },
        action,
        resource: { type: 'record', id: '2', properties: {} },
        context: { b: 3 },
      },
    ])
  })

  it.each([
    ['no context', {}, { agent: 'bot', time: 1 }],
    ['an empty one', { context: {} }, { agent: 'bot' }],
    ['one without an agent', { context: { time: 2 } }, { agent: 'bot', time: 2 }],
    ['one whose agent is null', { context: { agent: null } }, { agent: 'bot' }],
    ['one with another agent', { context: { agent: 'own' } }, { agent: 'own' }],
  ])('but for the agent of the context, where an evaluation has %s', async (_, own, context) => {
    const { asked } = await run({
      subject,
      action,
      ...resource('1'),
      context: { agent: 'bot', time: 1 },
      evaluations: [own],
    })

    expect(asked[0]?.context).toEqual(context)
  })

  it('but for a required member that the entity leaves out', async () => {
    const { asked } = await run({
      subject,
      action: { name: 'delete', properties: { soft: true } },
      resource: { type: 'record' },
      evaluations: [{ resource: { id: '1' }, action: { properties: { soft: false } } }],
    })

    expect(asked[0]).toMatchObject({
      action: { name: 'delete', properties: { soft: false } },
      resource: { type: 'record', id: '1' },
    })
  })
})

describe('the semantics', () => {
  const evaluations = ['1', '2', '3'].map(resource)
  const mixed = { '1': permit, '2': deny, '3': permit }
  const body = (evaluations_semantic?: 'deny_on_first_deny' | 'permit_on_first_permit') => ({
    subject,
    action,
    evaluations,
    ...(evaluations_semantic && { options: { evaluations_semantic } }),
  })

  it('execute_all by default', async () => {
    const all = await run(body(), mixed)

    expect(all.decisions).toEqual([permit, deny, permit])
  })

  it('asks all at once for execute_all, so that they can share a transaction', async () => {
    let waiting = 0
    let most = 0
    const evaluate = async () => {
      most = Math.max(most, ++waiting)
      await Promise.resolve()
      waiting--
      return permit
    }
    await evaluateAll(body(), evaluate, atOnce)

    expect(most).toBe(3)
  })

  it('starts 16 evaluations in a turn, and waits at 256 without an answer', async () => {
    const turns: (() => void)[] = []
    const answered = Promise.withResolvers<AccessDecision>()
    const started: string[] = []
    const places = Array.from({ length: 300 }, (_, i) => String(i))
    const all = evaluateAll(
      { subject, action, evaluations: places.map(resource) },
      ({ resource: { id } }) => {
        started.push(id)
        return answered.promise
      },
      () => new Promise((resolve) => turns.push(resolve)),
    )
    /** Gives every turn that is asked for; returns how many evaluations had started after each. */
    const give = async () => {
      const seen: number[] = []
      await setImmediate()
      for (let next = turns.shift(); next; next = turns.shift()) {
        next()
        await setImmediate()
        seen.push(started.length)
      }
      return seen
    }

    expect(started).toEqual([])
    expect(await give()).toEqual(Array.from({ length: 16 }, (_, i) => 16 * (i + 1)))
    answered.resolve(permit)
    expect(await give()).toEqual([272, 288, 300])
    expect(started).toEqual(places)
    await expect(all).resolves.toHaveLength(300)
  })

  it('deny_on_first_deny ends with the first denial, and evaluates nothing after it', async () => {
    const ended = await run(body('deny_on_first_deny'), mixed)

    expect(ended.decisions).toEqual([permit, deny])
    expect(ids(ended)).toEqual(['1', '2'])
  })

  it('deny_on_first_deny takes a failure for a denial', async () => {
    const ended = await run(body('deny_on_first_deny'), { '1': fail('invalid_request', 'no') })

    expect(ended.decisions).toEqual([
      { decision: false, context: { error: { status: 400, message: 'no' } } },
    ])
  })

  it('permit_on_first_permit ends with the first permit, not with a failure', async () => {
    const answers = { '1': fail('invalid_request', 'no'), '2': permit }
    const ended = await run(body('permit_on_first_permit'), answers)

    expect(ended.decisions.map(({ decision }) => decision)).toEqual([false, true])
    expect(ids(ended)).toEqual(['1', '2'])
  })
})

describe('a failure', () => {
  it.each([
    ['no resource', {}, 'resource: is required'],
    ['no object', 7, 'must be an object'],
    ['null', null, 'must be an object'],
    ['text for a resource', { resource: 'x' }, 'resource: must be an object'],
    ['a pattern', resource('*'), 'resource.id: must be 1 to 256'],
  ])('of one evaluation appears at its position: %s', async (_, item, message) => {
    const { decisions } = await run({ subject, action, evaluations: [item, resource('2')] })

    expect(decisions).toEqual([
      { decision: false, context: { error: { status: 400, message: expect.any(String) } } },
      permit,
    ])
    expect(decisions[0]?.context?.error?.message).toContain(message)
  })

  it('to be the agent of one evaluation appears at its position', async () => {
    const { decisions } = await run(
      { subject, action, evaluations: [resource('1'), resource('2')] },
      { '2': fail('agent_mismatch') },
    )

    expect(decisions[0]).toEqual(permit)
    expect(decisions[1]?.context?.error?.status).toBe(403)
  })

  it('of the server in some of them appears at their positions', async () => {
    const { decisions } = await run(
      { subject, action, evaluations: [resource('1'), resource('2')] },
      { '2': fail('overloaded') },
    )

    expect(decisions[0]).toEqual(permit)
    expect(decisions[1]?.context?.error?.status).toBe(503)
  })

  it.each([
    [
      'the server can do nothing',
      { '1': fail('overloaded'), '2': fail('ledger_unavailable') },
      503,
    ],
    ['the caller is not let in any more', { '1': permit, '2': fail('unauthorized') }, 401],
    ['its Idempotency-Key is taken', { '1': permit, '2': fail('idempotency_mismatch') }, 409],
  ])('is that of the whole request where %s', async (_, answers, status) => {
    const body = { subject, action, evaluations: [resource('1'), resource('2')] }

    await expect(run(body, answers)).rejects.toMatchObject({ status })
  })

  it('that is unexpected fails the request', async () => {
    const body = { subject, action, evaluations: [resource('1'), resource('2')] }

    await expect(run(body, { '2': new TypeError('x') })).rejects.toThrow(TypeError)
  })
})
