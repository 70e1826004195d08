import type { McpTool } from '@remit/contract'
import { printableLine } from './printable.ts'
import { facts, table } from './table.ts'

/** Tools as a table for a terminal. */
export const toolTable = (tools: readonly McpTool[]): string =>
  table(
    ['ID', 'SERVER', 'TOOL', 'STATE', 'FINDINGS', 'CHANGED'],
    tools.map(({ id, upstream, name, state, findings, changed_at }) => [
      id,
      upstream,
      name,
      state,
      String(findings.length),
      changed_at,
    ]),
  )

/** A tool with everything that an admission depends on, and the commands that admit it. */
export function toolText(tool: McpTool): string {
  const { id, upstream, name, state, digest, mapping, findings, changes, definition } = tool
  const declared = tool.declared_mapping
  const lines = [
    facts({ id, server: upstream, tool: name, state, digest, mapping }),
    findings.length === 0
      ? 'The guard finds nothing.\n'
      : listed('findings of the guard', findings),
    ...changes.map(({ member, before, after }) =>
      listed(`change of ${member}`, [`- ${before ?? '(none)'}`, `+ ${after ?? '(none)'}`]),
    ),
    ...(declared === null ? [] : [listed('declared mapping', linesOf(declared))]),
    listed('definition', linesOf(definition)),
  ]
  const command = `remit mcp tools admit ${id} ${digest}`
  const admit = state === 'admitted' ? '' : `\nTo admit it: ${command} --mapping default\n`
  const pin = `\nTo admit it with the mapping that it declares: ${command} --mapping declared\n`
  const canPin = declared !== null && !(state === 'admitted' && mapping === 'declared')
  return `${lines.join('\n')}${admit}${canPin ? pin : ''}`
}

const linesOf = (value: object): string[] => JSON.stringify(value, null, 2).split('\n')

const listed = (title: string, lines: readonly string[]): string =>
  `${title}:\n${lines.map((line) => `  ${printableLine(line)}\n`).join('')}`
