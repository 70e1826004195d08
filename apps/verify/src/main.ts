#!/usr/bin/env node
import { EXIT, run } from './run.ts'

// The reader of the output may close it early, as `head` does: nobody has the result.
for (const stream of [process.stdout, process.stderr])
  stream.once('error', () => process.exit(EXIT.couldNotRun))
process.exitCode = await run(process.argv.slice(2), process)
