import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { judgeBody, SECRET, startJudging } from '../support/judging.ts'
import type { Judging } from '../support/judging.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    reasoning: { type: 'string' },
    choice: { type: 'string', enum: ['pass', 'fail'] },
  },
  required: ['reasoning', 'choice'],
  additionalProperties: false,
}

const only = <T>(items: readonly T[]): T => {
  expect(items).toHaveLength(1)
  return items[0]!
}

describe('the request to an OpenAI-compatible judge', () => {
  let judging: Judging
  beforeAll(async () => {
    judging = await startJudging()
  })
  beforeEach(() => judging.server.forget())
  afterAll(() => judging.close())

  it('has a strict schema and a limit, and no further members', async () => {
    await judging.judge('good', { cache: 'off' })

    const { path, headers, body, system, user } = only(judging.server.calls)
    expect(path).toBe('/v1/chat/completions')
    expect(headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'content-type': 'application/json',
    })
    expect(headers).not.toHaveProperty('x-api-key')
    expect(body).toEqual({
      model: 'good',
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'verdict', strict: true, schema: SCHEMA },
      },
      max_completion_tokens: 1024,
    })
    const { required, properties } = SCHEMA
    expect([required[0], Object.keys(properties)[0]]).toEqual(['reasoning', 'reasoning'])
  })

  it('has temperature, effort and limit as they were given', async () => {
    const params = { temperature: 0, effort: 'low', max_output_tokens: 64, reasoning: false }

    await judging.judge('good', { ...params, cache: 'off' })

    expect(only(judging.server.calls).body).toMatchObject({
      temperature: 0,
      reasoning_effort: 'low',
      max_completion_tokens: 64,
      response_format: {
        json_schema: { schema: { properties: { choice: SCHEMA.properties.choice } } },
      },
    })
  })

  it('equals the request of the OpenAI library, with an equal result', async () => {
    await judging.judge('good', { cache: 'off' })
    const ours = only(judging.server.calls)
    judging.server.forget()
    const client = new OpenAI({ apiKey: SECRET, baseURL: `${judging.server.url}/v1` })

    const completion = await client.chat.completions.create(
      ours.body as unknown as ChatCompletionCreateParamsNonStreaming,
    )

    const theirs = only(judging.server.calls)
    expect(theirs.body).toEqual(ours.body)
    expect(theirs.path).toBe(ours.path)
    expect(theirs.headers.authorization).toBe(ours.headers.authorization)
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: '{"reasoning":"Because.","choice":"pass"}' },
    })
    expect(completion.usage).toMatchObject({ prompt_tokens: 1000, completion_tokens: 100 })
  })

  it('speaks the failures that the library of OpenAI knows', async () => {
    const client = new OpenAI({
      apiKey: SECRET,
      baseURL: `${judging.server.url}/v1`,
      maxRetries: 1,
    })
    const ask = (model: string) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'x' }] })

    await expect(ask('unauth')).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    await expect(ask('always429')).rejects.toBeInstanceOf(OpenAI.RateLimitError)
    await expect(ask('always500')).rejects.toBeInstanceOf(OpenAI.InternalServerError)
    await expect(ask('always400')).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(ask('reset')).rejects.toBeInstanceOf(OpenAI.APIConnectionError)
    // The reason why an answer is checked again: the library lets a label through that is none.
    const offMenu = await ask('offmenu')
    expect(offMenu.choices[0]?.message.content).toContain('"Z"')
  })

  it('names the limit as the server knows it', async () => {
    const older = await startJudging({ more: { max_tokens_field: 'max_tokens' } })

    await older.judge('good')

    const { body } = only(older.server.calls)
    expect(body).toMatchObject({ max_tokens: 1024 })
    expect(body).not.toHaveProperty('max_completion_tokens')
    await older.close()
  })

  it('has no key where the operator has none', async () => {
    const local = await startJudging({ more: { key_env: undefined } })

    await local.judge('good')

    expect(only(local.server.calls).headers).not.toHaveProperty('authorization')
    await local.close()
  })
})

describe('the request to Anthropic', () => {
  let judging: Judging
  beforeAll(async () => {
    judging = await startJudging({ provider: 'anthropic' })
  })
  beforeEach(() => judging.server.forget())
  afterAll(() => judging.close())

  it('has a schema, a separate system text, and no further members', async () => {
    const answer = await judging.judge('good', { cache: 'off' })

    const { path, headers, body, system, user } = only(judging.server.calls)
    expect(path).toBe('/v1/messages')
    expect(headers).toMatchObject({ 'x-api-key': SECRET, 'anthropic-version': '2026-10-21' })
    expect(headers).not.toHaveProperty('authorization')
    expect(body).toEqual({
      model: 'good',
      max_tokens: 1024,
      system,
      messages: [{ role: 'user', content: user }],
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
    })
    expect(answer.aggregate.metadata['usage']).toMatchObject({
      input_tokens: 1000,
      cached_tokens: 200,
      output_tokens: 100,
    })
  })

  it('has the effort as it was given', async () => {
    await judging.judge('good', { effort: 'high', cache: 'off' })

    expect(only(judging.server.calls).body).toMatchObject({
      output_config: { effort: 'high', format: { type: 'json_schema' } },
    })
  })

  it.each([
    ['temperature', 0],
    ['effort', 'none'],
  ])('is never a %s of %s, which its API does not have', async (name, value) => {
    const body = judgeBody('good', { [name]: value }, [{ output: '4' }])

    const problem = await judging.api.refusal('runScorer', { body })

    expect(problem).toMatchObject({ code: 'invalid_params', errors: [{ path: `params.${name}` }] })
    expect(judging.server.calls).toEqual([])
  })

  it('equals the request of the Anthropic library, with an equal result', async () => {
    await judging.judge('good', { cache: 'off' })
    const ours = only(judging.server.calls)
    judging.server.forget()
    const client = new Anthropic({ apiKey: SECRET, baseURL: judging.server.url })

    const message = await client.messages.create(
      ours.body as unknown as Anthropic.MessageCreateParamsNonStreaming,
    )

    const theirs = only(judging.server.calls)
    expect(theirs.body).toEqual(ours.body)
    expect(theirs.path).toBe(ours.path)
    expect(theirs.headers['anthropic-version']).toBe(ours.headers['anthropic-version'])
    // The API takes the key in either header.
    expect(theirs.headers.authorization).toBe(`Bearer ${SECRET}`)
    expect(message).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: '{"reasoning":"Because.","choice":"pass"}' }],
    })
  })

  it('speaks the failures that the library of Anthropic knows', async () => {
    const client = new Anthropic({ apiKey: SECRET, baseURL: judging.server.url, maxRetries: 1 })
    const ask = (model: string) =>
      client.messages.create({ model, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })

    await expect(ask('unauth')).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
    await expect(ask('always429')).rejects.toBeInstanceOf(Anthropic.RateLimitError)
    await expect(ask('always500')).rejects.toBeInstanceOf(Anthropic.InternalServerError)
    await expect(ask('reset')).rejects.toBeInstanceOf(Anthropic.APIConnectionError)
    expect((await ask('truncated')).stop_reason).toBe('max_tokens')
    expect((await ask('refusal')).stop_reason).toBe('refusal')
  })
})

describe.each(['openai_compatible', 'anthropic'] as const)(
  'a server of %s without every way to ask for JSON',
  (provider) => {
    let judging: Judging
    beforeEach(async () => {
      judging = await startJudging({ provider })
      return () => judging.close()
    })
    const forms = (model: string) =>
      judging.server
        .callsOf(model)
        .map(({ body }) =>
          'tools' in body
            ? 'tool'
            : JSON.stringify(body).includes('json_schema')
              ? 'schema'
              : 'words',
        )

    it('is called with a tool after it refused a schema, and never with a schema again', async () => {
      const answers = [
        await judging.judge('no_json_schema', { cache: 'off' }),
        await judging.judge('no_json_schema', { cache: 'off' }),
      ]

      expect(answers.map(({ scores }) => scores[0]?.score)).toEqual([1, 1])
      expect(forms('no_json_schema')).toEqual(['schema', 'tool', 'tool'])
    })

    it('is called with the prompt alone when it accepts neither', async () => {
      const { scores } = await judging.judge('words_only')

      expect(scores[0]).toMatchObject({ score: 1, metadata: { samples: [{ attempt: 3 }] } })
      expect(forms('words_only')).toEqual(['schema', 'tool', 'words'])
    })

    it('is called with the configured form only', async () => {
      const fixed = await startJudging({ provider, more: { structured_output: 'json_schema' } })

      const { scores } = await fixed.judge('no_json_schema')

      expect(scores[0]?.error?.code).toBe('judge_unavailable')
      expect(fixed.server.calls).toHaveLength(1)
      await fixed.close()
    })

    it('has no cached form after a request that every form refused', async () => {
      await judging.judge('always400', { cache: 'off' })
      await judging.judge('always400', { cache: 'off' })

      expect(forms('always400')).toEqual(['schema', 'tool', 'words', 'schema', 'tool', 'words'])
    })
  },
)
