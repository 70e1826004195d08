import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Lets a server listen on a free port of the loopback address, and returns the port. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A resource of a test run, made once, when the first test process asks for it. */
export interface OnDemand<T> {
  /** The resource; null if no process has asked for it. */
  readonly made: () => Promise<T> | null
  /** Makes the resource anew for the next process that asks. */
  readonly forget: () => void
  readonly close: () => void
}

/**
 * Makes a resource in the process of Vitest when a test process calls `demanded` with the same name.
 * A run of tests that need nothing starts nothing.
 */
export async function onDemand<T>(
  name: string,
  make: () => Promise<T>,
  textOf: (made: T) => string,
): Promise<OnDemand<T>> {
  let made: Promise<T> | null = null
  const server = createServer((_, response) => void answer(response))
  const answer = async (response: ServerResponse): Promise<void> => {
    made ??= make()
    try {
      response.end(textOf(await made))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  }
  process.env[name] = `http://127.0.0.1:${await listening(server.unref())}`
  return {
    made: () => made,
    forget: () => {
      made = null
    },
    close: () => {
      server.close()
    },
  }
}

const ASK = `
const response = await fetch(process.argv[1])
const text = await response.text()
if (!response.ok) throw new Error(text)
process.stdout.write(text)`

/**
 * Returns the text of the resource that Vitest's process makes under this name. It waits without the event loop, so that
 * fake timers of a test do not stop it and a module can be loaded from there.
 */
export function demanded(name: string): string {
  const url = process.env[name]
  if (url === undefined) throw new Error(`${name} is not set; vitest sets it in its global setup`)
  return execFileSync(process.execPath, ['--input-type=module', '--eval', ASK, url], {
    encoding: 'utf8',
    env: {},
  })
}
