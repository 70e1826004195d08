/**
 * `countingServer` on stdio: each call writes a line to the file in `CALLS`. `CHANGED` is a file that, once it
 * exists, gives `pay` another description.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { countingServer } from './counting.ts'

const { CALLS = '', CHANGED = '', SECRET = '' } = process.env

serveStdio(() =>
  countingServer({
    called: (name) => appendFileSync(CALLS, `${name}\n`),
    isChanged: () => existsSync(CHANGED),
    env: () => ({ ...process.env, SECRET }),
  }),
)
