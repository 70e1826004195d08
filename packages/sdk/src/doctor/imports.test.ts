import { describe, expect, it } from 'vitest'
import { importsOf } from './project.ts'

describe('the imports of a source', () => {
  it('are those of values, in every form', () => {
    const text = `
import one from 'one'
import { a, b } from "two/sub"
import {
  c,
} from 'three'
import 'four'
export * from 'five'
const six = require('six')
  const seven = await import('seven')
import eight, { type D } from 'eight'
`
    expect(importsOf(text).toSorted()).toEqual(
      ['one', 'two/sub', 'three', 'four', 'five', 'six', 'seven', 'eight'].toSorted(),
    )
  })

  it('are not those of types and comments', () => {
    const text = `
import type { A } from 'one'
export type { B } from 'two'
// import three from 'three'
/* import four from 'four' */
 * import five from 'five'
 // const six = await import('six')
const text = "import seven from 'seven'"
`
    expect(importsOf(text)).toEqual([])
  })
})
