import { describe, expect, it } from 'vitest'
import { resourceText } from './decide.ts'

describe('resourceText', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['doc:7', 'doc:7'],
    [{ type: 'doc', id: '7' }, 'doc:7'],
    [{ type: 'doc', id: '7', properties: { owner: 'ada' } }, 'doc:7'],
    [{ type: 'urn', id: 'a:b' }, 'urn:a:b'],
  ])('%j is %j', (resource, text) => {
    expect(resourceText(resource)).toBe(text)
  })
})
