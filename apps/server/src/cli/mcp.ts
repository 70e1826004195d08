import { McpToolMapping, McpToolState } from '@remit/contract'
import type { McpTool } from '@remit/contract'
import type { Client } from '@remit/contract/client'
import type { Command } from 'commander'
import { choice, subcommand } from './options.ts'
import { CliError, EXIT } from './errors.ts'
import { remoteOption, remotely } from './session.ts'
import type { RemoteOptions, CommandRun } from './session.ts'
import { printableLine, facts, table } from './table.ts'

interface ListOptions extends RemoteOptions {
  readonly upstream?: string
  readonly state?: McpToolState
}

interface AdmitOptions extends RemoteOptions {
  readonly mapping?: McpToolMapping
}

/** Administration of the tools that the MCP gateway reports. */
export function mcpCommands(program: Command, session: CommandRun): void {
  const mcp = program.command('mcp').description('Govern MCP servers')
  const tools = mcp.command('tools').description('Admit and withdraw tools of MCP servers')

  remoteOption(subcommand(tools, 'list', 'List the tools that gateways have reported'))
    .option('--upstream <name>', 'Only the tools of this MCP server')
    .addOption(choice('--state <state>', 'Only the tools in this state', McpToolState.options))
    .action(({ upstream, state, ...remote }: ListOptions) =>
      remotely(session, remote, async (client) => {
        const where = { ...(upstream !== undefined && { upstream }), ...(state && { state }) }
        const found: McpTool[] = []
        for await (const tool of toolsOf(client, where)) found.push(tool)
        session.print({ tools: found }, toolTable(found))
      }),
    )

  remoteOption(
    subcommand(tools, 'show <id>', 'Show a tool, its findings and its difference'),
  ).action((id: string, remote: RemoteOptions) =>
    remotely(session, remote, async (client) => {
      const tool = await toolWith(client, id)
      session.print({ tool }, toolText(tool))
    }),
  )

  remoteOption(subcommand(tools, 'admit <id> <digest>', 'Admit the definition with this digest'))
    .addOption(choice('--mapping <mapping>', 'Mapping of the calls', McpToolMapping.options))
    .action((id: string, digest: string, { mapping, ...remote }: AdmitOptions) =>
      remotely(session, remote, async (client) => {
        const body = { digest, ...(mapping && { mapping }) }
        const tool = await client.admitMcpTool({ params: { id }, body })
        const pinned = tool.mapping === 'declared' ? ', with the mapping that it declares' : ''
        session.print({ tool }, `${tool.upstream} ${tool.name} is admitted${pinned}.\n`)
      }),
    )

  remoteOption(subcommand(tools, 'withdraw <id>', 'Withdraw a tool')).action(
    (id: string, remote: RemoteOptions) =>
      remotely(session, remote, async (client) => {
        const tool = await client.withdrawMcpTool({ params: { id } })
        session.print({ tool }, `${tool.upstream} ${tool.name} is withdrawn.\n`)
      }),
  )
}

/** Most tools per page of the API. */
const LIMIT = 100

interface Where {
  readonly upstream?: string
  readonly state?: McpToolState
}

async function* toolsOf(client: Client, where: Where): AsyncGenerator<McpTool> {
  let cursor: string | null = null
  do {
    const query = { ...where, limit: LIMIT, ...(cursor !== null && { cursor }) }
    const page = await client.listMcpTools({ query })
    yield* page.data
    cursor = page.next_cursor
  } while (cursor !== null)
}

async function toolWith(client: Client, id: string): Promise<McpTool> {
  for await (const tool of toolsOf(client, {})) if (tool.id === id) return tool
  throw new CliError(`The tool ${id} does not exist; see remit mcp tools list`, EXIT.failed)
}

const toolTable = (tools: readonly McpTool[]): string =>
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
function toolText(tool: McpTool): string {
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
