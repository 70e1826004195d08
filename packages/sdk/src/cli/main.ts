#!/usr/bin/env node
import process from 'node:process'

const args = process.argv.slice(2)

/** A hook must start fast, and loads nothing of the doctor. */
async function main(): Promise<number> {
  if (args[0] !== 'hook') return (await import('../doctor/run.ts')).run(args, process)
  const end = new AbortController()
  // The host ends its hooks when it is stopped, or takes them for too slow.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end.abort())
  const { runHook } = await import('../hook/run.ts')
  return runHook(args, process, end.signal)
}

// A framework may leave timers and sockets behind.
process.exit(await main())
