import { inputRequired, McpServer } from '@modelcontextprotocol/server'

const inputSchema = { type: 'object' as const }
const requestedSchema = {
  type: 'object' as const,
  properties: { color: { type: 'string' as const } },
  required: ['color'],
}

/** A server of 2026-07-28 whose tools ask their client. */
export function askingServer(): McpServer {
  const mcp = new McpServer(
    { name: 'asking', version: '1' },
    {
      instructions: 'Ask for colors.',
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    },
  )
  const { server } = mcp
  server.setRequestHandler('tools/list', () => ({
    tools: ['paint', 'steps', 'numbers'].map((name) => ({
      name,
      description: `Does ${name}`,
      inputSchema,
    })),
  }))
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('tools/call', async ({ params: { name } }, { mcpReq }) => {
    if (name === 'steps') {
      const { ['_meta']: { progressToken = 0 } = {} } = mcpReq
      const method = 'notifications/progress' as const
      await mcpReq.notify({ method, params: { progressToken, progress: 1 } })
    }
    if (name === 'numbers') return { content: [], structuredContent: [1, 2] }
    if (name !== 'paint') return { content: [{ type: 'text', text: 'done' }] }
    const { color } = (mcpReq.inputResponses ?? {}) as {
      color?: { content?: { color?: string } }
    }
    if (!color)
      return inputRequired({
        inputRequests: { color: inputRequired.elicit({ message: 'Which?', requestedSchema }) },
        requestState: 'painting',
      })
    const text = `${color.content?.color} ${String(mcpReq.requestState?.() ?? '')}`
    return { content: [{ type: 'text', text }] }
  })
  return mcp
}
