#!/usr/bin/env node
import process from 'node:process'
import { run } from './cli/run.ts'

process.exitCode = await run(process.argv.slice(2), process)
// A client that stays connected keeps stdin open.
process.stdin.destroy()
