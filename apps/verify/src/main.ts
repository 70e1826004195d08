#!/usr/bin/env node
import { dirname } from 'node:path'
import { EXIT, run } from './run.ts'

// `pnpm remit-verify` runs in the checkout, but paths are relative to the folder of the user.
const {
  INIT_CWD: called,
  npm_lifecycle_event: script,
  npm_package_json: manifest = '',
} = process.env
if (called && script === 'remit-verify' && dirname(manifest) === process.cwd())
  process.chdir(called)

// The reader of the output may close it early, as `head` does: nobody has the result.
for (const stream of [process.stdout, process.stderr])
  stream.once('error', () => process.exit(EXIT.couldNotRun))
process.exitCode = await run(process.argv.slice(2), process)
