import { describe, expect, it } from 'vitest'
import { play, readVectors } from './vectors.ts'

describe('vectors.json', () => {
  it.each(readVectors().map((vector) => [vector.name, vector] as const))(
    '%s',
    async (_, vector) => {
      const { sent, verdict } = await play(vector)

      expect(sent).toEqual(vector.exchanges.map(({ request }) => request))
      expect(verdict).toEqual(vector.verdict)
    },
  )
})
