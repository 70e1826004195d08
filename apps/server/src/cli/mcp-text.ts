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

/** A tool with everything that an admission depends on, and the command that admits it. */
export function toolText(tool: McpTool): string {
  const { id, upstream, name, state, digest, findings, changes, definition } = tool
  const lines = [
    facts({ id, server: upstream, tool: name, state, digest }),
    findings.length === 0
      ? 'The guard finds nothing.\n'
      : listed('findings of the guard', findings),
    ...changes.map(({ member, before, after }) =>
      listed(`change of ${member}`, [`- ${before ?? '(none)'}`, `+ ${after ?? '(none)'}`]),
    ),
    listed('definition', JSON.stringify(definition, null, 2).split('\n')),
  ]
  const admit = `\nTo admit it: remit mcp tools admit ${id} ${digest}\n`
  return `${lines.join('\n')}${state === 'admitted' ? '' : admit}`
}

const listed = (title: string, lines: readonly string[]): string =>
  `${title}:\n${lines.map((line) => `  ${printableLine(line)}\n`).join('')}`
