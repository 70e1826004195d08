#!/usr/bin/env -S node --min-semi-space-size=32 --v8-pool-size=1
import { processIo } from './cli/files.ts'
import { run } from './cli/program.ts'

process.exit(await run(process.argv.slice(2), processIo()))
