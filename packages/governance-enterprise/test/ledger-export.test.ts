import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { openNote, rootOf } from './support/tlog.ts'

interface Line {
  readonly type: string
  readonly seq: number
  readonly hash: string
  readonly note: string
  readonly vkey: string
  readonly from_seq: number
}

const linesOf = (text: string): Line[] => {
  expect(text.endsWith('\n')).toBe(true)
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

describe.each(someDialects())('GET /v1/ledger/export on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    await Promise.all(
      Array.from({ length: 1_200 }, () => api.ok('appendEntry', { body: { action: 'x.y' } })),
    )
  })
  afterAll(() => api.remit.close())

  describe('200', () => {
    it('streams the header, every entry in order and the checkpoint over them', async () => {
      const [header, ...lines] = linesOf(await api.ok('exportEntries'))
      const [checkpoint, entries] = [lines.at(-1), lines.slice(0, -1)]

      expect(header).toMatchObject({ type: 'header', org_id: api.org.id, from_seq: 0 })
      expect(entries.map((line) => line.seq)).toEqual(
        Array.from({ length: 1_203 }, (_, seq) => seq),
      )
      const { size, root } = openNote(checkpoint?.note ?? '', header?.vkey ?? '')
      expect(size).toBe(1_203)
      expect(root).toBe(rootOf(entries.map((line) => line.hash)))
    })

    it('resumes after a sequence number without a gap or a repeat', async () => {
      const whole = linesOf(await api.ok('exportEntries')).filter((line) => line.type === 'entry')

      const rest = linesOf(await api.ok('exportEntries', { query: { after_seq: 699 } }))

      expect(rest[0]).toMatchObject({ type: 'header', from_seq: 700 })
      expect(rest.filter((line) => line.type === 'entry')).toEqual(whole.slice(700))
      expect(rest.at(-1)?.type).toBe('checkpoint')
    })

    it('is only header and checkpoint when there is nothing more', async () => {
      const text = await api.ok('exportEntries', { query: { after_seq: 1_202 } })

      expect(linesOf(text).map((line) => line.type)).toEqual(['header', 'checkpoint'])
    })

    it('ends at the checkpoint of its beginning, whatever is appended meanwhile', async () => {
      const other = api.as(await api.remit.organization())
      const response = await other.call('exportEntries')
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = (await reader?.read())?.value ?? ''
      await other.ok('appendEntry', { body: { action: 'x.y' } })

      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        text += part.value

      const lines = linesOf(text)
      expect(lines.filter((line) => line.type === 'entry')).toHaveLength(3)
      expect(openNote(lines.at(-1)?.note ?? '', lines[0]?.vkey ?? '').size).toBe(3)
    })
  })

  it('400 for an after_seq that is no sequence number', async () => {
    const problem = await api.refusal('exportEntries', { query: { after_seq: '-1' } })

    expect(problem.errors?.map((error) => error.path)).toEqual(['after_seq'])
  })

  it('401 without a key', async () => {
    expect((await api.refusal('exportEntries', { key: '' })).code).toBe('unauthorized')
  })
})
