import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { HighlightStyle, StreamLanguage } from '@codemirror/language'
import type { StringStream } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { RULE_VARIABLES, TRUST_VARIABLES } from './variables.ts'

const COLORED = new Set([...RULE_VARIABLES, ...TRUST_VARIABLES])

/** Functions of CEL and its `strings` extension. */
const FUNCTIONS = [
  'all',
  'contains',
  'double',
  'duration',
  'endsWith',
  'exists',
  'exists_one',
  'filter',
  'getDayOfWeek',
  'getHours',
  'has',
  'int',
  'join',
  'lowerAscii',
  'map',
  'matches',
  'replace',
  'size',
  'split',
  'startsWith',
  'string',
  'substring',
  'timestamp',
  'trim',
  'upperAscii',
]
const CONSTANTS = new Set(['true', 'false', 'null', 'in'])

function token(stream: StringStream): string | null {
  if (stream.eatSpace()) return null
  if (stream.match(/^\/\/.*/)) return 'comment'
  if (stream.match(/^[rRbB]{0,2}(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/)) return 'string'
  if (stream.match(/^(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)u?/)) return 'number'
  const word = stream.match(/^[A-Za-z_]\w*/)
  if (Array.isArray(word)) {
    const [name = ''] = word
    if (CONSTANTS.has(name)) return 'keyword'
    if (COLORED.has(name)) return 'variableName.special'
    return stream.peek() === '(' ? 'function' : 'propertyName'
  }
  stream.next()
  return 'operator'
}

/** Colors only: the server alone says which conditions are right. */
export const cel = StreamLanguage.define<null>({
  name: 'cel',
  token,
  tokenTable: { function: tags.function(tags.variableName) },
})

export const celColors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--info)' },
  { tag: tags.string, color: 'var(--allow)' },
  { tag: tags.number, color: 'var(--wait)' },
  { tag: tags.comment, color: 'var(--muted)' },
  { tag: tags.function(tags.variableName), color: 'var(--info)' },
  { tag: tags.special(tags.variableName), color: 'var(--accent)', fontWeight: '600' },
])

/** Completes variables and functions, and after `context.` the names that requests had lately. */
export const completeCel =
  (variables: readonly string[], contextNames: () => readonly string[]) =>
  (context: CompletionContext): CompletionResult | null => {
    const member = context.matchBefore(/context\.\w*/)
    if (member)
      return {
        from: member.from + 'context.'.length,
        options: contextNames().map((label) => ({ label, type: 'property' })),
      }
    const word = context.matchBefore(/\w+/)
    if (!word && !context.explicit) return null
    return {
      from: word?.from ?? context.pos,
      options: [
        ...variables.map((label) => ({ label, type: 'variable' })),
        ...FUNCTIONS.map((label) => ({ label, type: 'function' })),
      ],
    }
  }
