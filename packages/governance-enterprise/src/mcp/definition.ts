import { createHash } from 'node:crypto'
import type { McpTool, McpToolDefinition } from '@remit/contract'
import { declaredMapping } from '@remit/contract/coaz'
import { canonicalJson } from '@remit/contract/json'

/** Members that a model or a client acts upon. */
const PINNED = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] as const

const MAX_SHOWN = 2_000

/** Types and dialects of JSON Schema: words of no author, which the guard took for a part of the sentence before. */
const SCHEMA_WORD =
  /^(?:array|boolean|integer|null|number|object|string|https?:\/\/json-schema\.org\/(?:draft-0\d|draft\/20\d\d-\d\d)\/schema#?)$/

/** SHA-256 of the members of a definition that are pinned. Pure. */
export const digestOf = (definition: McpToolDefinition): string =>
  createHash('sha256')
    .update(canonicalJson(pinned(definition)))
    .digest('hex')

function pinned(definition: McpToolDefinition): Record<string, unknown> {
  const present = PINNED.filter((member) => definition[member] !== undefined)
  return Object.fromEntries(present.map((member) => [member, definition[member]]))
}

/** The differences of two definitions, member by member, and the mapping on its own. Pure. */
export function changesBetween(
  before: McpToolDefinition,
  after: McpToolDefinition,
): McpTool['changes'] {
  const change = (member: string, from: unknown, to: unknown) => {
    const [old, now] = [textOf(from), textOf(to)]
    return old === now ? [] : [{ member, before: shortened(old), after: shortened(now) }]
  }
  return [
    ...PINNED.flatMap((member) => change(member, before[member], after[member])),
    ...change('x-authzen-mapping', declaredMapping(before), declaredMapping(after)),
  ]
}

const textOf = (value: unknown): string | null =>
  value === undefined ? null : canonicalJson(value)

const shortened = (text: string | null): string | null =>
  text !== null && text.length > MAX_SHOWN
    ? `${text.slice(0, MAX_SHOWN).toWellFormed()}… (${text.length} characters)`
    : text

/** All texts of a definition that a model reads, such as descriptions of parameters. Pure. */
export function textsOf(definition: McpToolDefinition): string {
  const texts: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      if (!SCHEMA_WORD.test(value)) texts.push(value)
    } else if (Array.isArray(value)) value.forEach(visit)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit)
  }
  visit(pinned(definition))
  return texts.join('\n')
}
