import { buildConsole } from './boot/console-build.ts'
import { processIo } from './cli/files.ts'
import { run } from './cli/program.ts'

const BUILD = '--build-console'

const args = process.argv.slice(2)
const io = processIo()
if (args.includes(BUILD))
  io.serving = () => void buildConsole((line) => void io.stderr.write(`remit: ${line}\n`))
process.exit(await run(['serve', ...args.filter((arg) => arg !== BUILD)], io))
