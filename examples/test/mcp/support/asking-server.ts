/** `askingServer` on stdio, for clients of 2026-07-28 alone. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { askingServer } from './asking.ts'

serveStdio(askingServer, { legacy: 'reject' })
