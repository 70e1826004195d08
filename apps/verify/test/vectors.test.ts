import { describe, expect, test } from 'vitest'
import { both, bytesOf, comparable } from './support/agree.ts'
import { vectors } from './support/vectors.ts'

describe('the published vectors', () => {
  test.each(vectors)('$name', async ({ lines, vkey, checkpoints, ...expected }) => {
    const { own, core } = await both({ bytes: bytesOf(lines), vkey, checkpoints })

    expect(own.status).toBe(expected.status)
    expect(own.anchored_by).toBe(expected.anchored_by)
    expect(own.first_invalid).toEqual(expected.first_invalid)
    expect(comparable(own)).toEqual(comparable(core))
    expect(own.not_checked.length).toBeGreaterThan(0)
  })
})
