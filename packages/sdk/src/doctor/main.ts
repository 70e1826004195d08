#!/usr/bin/env node
import process from 'node:process'
import { run } from './run.ts'

// A framework may leave timers and sockets behind.
process.exit(await run(process.argv.slice(2), process))
