#!/usr/bin/env node
import process from 'node:process'
import { run } from './cli/run.ts'

const stopped = () =>
  new Promise<void>((resolve) => {
    // A second signal ends the process at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
const { env, stdin, stdout, stderr } = process
process.exitCode = await run(process.argv.slice(2), { env, stdin, stdout, stderr, stopped })
// A client that stays connected keeps stdin open.
process.stdin.destroy()
