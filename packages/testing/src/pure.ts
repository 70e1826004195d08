import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { demanded, listening } from './on-demand.ts'

export { cpuMsOf, createClock } from './clock.ts'
export type { TestClock } from './clock.ts'
export { KEY_SERVICE_ENV, startKeyService } from './key-service.ts'
export type { FakeKeyService } from './key-service.ts'

export { inFullRun, isCompleteRun, isFullRun, pairs, runs, sampled } from './runs.ts'
export { scratchFolder } from './scratch.ts'

/** A key and its own certificate for `localhost` and `hooks.example.com`; nothing but tests trusts it. */
export const TLS_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzV+HmxnY1h8wzBhZ
9MwGORmU2A0KJzbSI6Mb04ci6FChRANCAATw5fmWjX5EQYSrVEZt78IB0NXevR6H
AiOpQZPCA8/nW1Ine4UryBkoG4JL+O2pUB7fvmEJyscch552HeJjQT2R
-----END PRIVATE KEY-----`

export const TLS_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBrDCCAVKgAwIBAgIUafxehpUHkVunKmMBqdSsmyCtCpAwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLUmVtaXQgdGVzdHMwIBcNMjYxMTIwMTM0NzAxWhgPMjEyNjEw
MjcxMzQ3MDFaMBYxFDASBgNVBAMMC1JlbWl0IHRlc3RzMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE8OX5lo1+REGEq1RGbe/CAdDV3r0ehwIjqUGTwgPP51tSJ3uF
K8gZKBuCS/jtqVAe375hCcrHHIeedh3iY0E9kaN8MHowHQYDVR0OBBYEFAzHmnq/
B9G0yHPdHpzDnlSAuXN5MB8GA1UdIwQYMBaAFAzHmnq/B9G0yHPdHpzDnlSAuXN5
MA8GA1UdEwEB/wQFMAMBAf8wJwYDVR0RBCAwHoIJbG9jYWxob3N0ghFob29rcy5l
eGFtcGxlLmNvbTAKBggqhkjOPQQDAgNIADBFAiB8jKOe4xCc+755xmKD8jZHy3eM
FP+xjRM1rPKX6AsEzwIhAI8H/7wjuvu1p3+ib+WKvQA6RXBnwLXOxwOkd1yEcEHV
-----END CERTIFICATE-----`

/**
 * Path of an installed Chromium; null if there is none. `REMIT_TEST_CHROMIUM` comes first, then the one
 * without windows, which needs two thirds of the computing time.
 */
export const CHROMIUM: string | null =
  [
    process.env.REMIT_TEST_CHROMIUM ?? '',
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((path) => existsSync(path)) ?? null

/** Arguments with which Node runs a program from its sources; the same as those of `pnpm start`. */
export const SOURCE_FLAGS: readonly string[] = [
  '--min-semi-space-size=32',
  '--v8-pool-size=1',
  '--conditions=@remit/source',
]

/**
 * The environment of a program that a test starts: no setting of this process, but the folder of
 * compiled modules. Without the folder, each process compiles a thousand modules anew.
 */
export const programEnv = (
  more: Readonly<Record<string, string>> = {},
): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  ...more,
})

/**
 * Path of a program or thread in the bundle of the sources, which a test run makes when a test needs one; its names are
 * in `apps/server/test/support`. A process loads it in a fourth of the time of the modules.
 */
export const bundledProgram = (name: string): string => {
  folder ??= demanded('REMIT_TEST_PROGRAMS')
  return join(folder, `${name}.js`)
}

let folder: string | undefined

/** One address that leads to the server that is the primary now, as a proxy or a service does. */
export interface MovingAddress {
  readonly url: string
  /** Leads elsewhere and closes what led to the server before. */
  moveTo(target: string): void
  close(): Promise<void>
}

/** Starts a TCP proxy on a free port of the loopback address. */
export async function startMovingAddress(target: string): Promise<MovingAddress> {
  let port = Number(new URL(target).port)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  const url = new URL(target)
  url.port = String(await listening(server))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.toString(),
    moveTo(next) {
      port = Number(new URL(next).port)
      cut()
    },
    async close() {
      const closed = new Promise((resolve) => server.once('close', resolve))
      server.close()
      cut()
      await closed
    },
  }
}
